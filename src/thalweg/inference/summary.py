"""A table of coefficients and how sure they are: estimate, standard error, test of 0, interval.

    t = β/e      p = 2·P(|T| > |t|)      β ± e·T⁻¹((1 + level)/2)

T is Student's with n − q degrees where errors are normal and the covariance is classical, and
normal elsewhere, which holds for many rows. Of a bootstrap e is the spread of the refitted
coefficients and the interval theirs, from quantile to quantile; there is no test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats

from thalweg.core.errors import InputError
from thalweg.core.grid import aligned, html_grid
from thalweg.core.text import escaped, shown
from thalweg.inference.prediction import Fitted, predicted

HEADS = ("", "coefficient", "std. error", "statistic", "p", "from", "to")
BOOTSTRAP = "bootstrap"
TEX = {
    **{mark: "\\" + mark for mark in "&%_#${}"},
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Summary:
    """Coefficients with what is known of them, of several targets one after the other."""

    title: str
    names: tuple[str, ...]  # of the features, and "intercept"
    equations: tuple[str, ...]  # what each column of coefficients is of; ("",) where there is one
    coefficients: np.ndarray  # β, float64[q, K]
    covariance: np.ndarray  # float64[K, q, q], or of all together [qK, qK] of several classes
    kind: str  # of the covariance, or "bootstrap"
    level: float
    freedom: float  # n − q, or ∞ where T is normal
    rows: int
    dispersion: np.ndarray | None = None  # φ, float64[K], where it is estimated
    quantiles: np.ndarray | None = None  # from and to, float64[2, q, K], of a bootstrap
    clusters: int | None = None
    model: Fitted | None = None  # of one score

    @property
    def standard_errors(self) -> np.ndarray:
        """e, float64[q, K]."""
        q, K = self.coefficients.shape
        if self.covariance.ndim == 3:
            return np.sqrt(np.einsum("kjj->jk", self.covariance))
        return np.sqrt(np.diag(self.covariance)).reshape(K, q).T

    @property
    def statistics(self) -> np.ndarray:
        """t, float64[q, K]; NaN of a bootstrap."""
        if self.kind == BOOTSTRAP:
            return np.full(self.coefficients.shape, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.coefficients / self.standard_errors

    @property
    def p_values(self) -> np.ndarray:
        """p, float64[q, K]."""
        return 2.0 * self._T.sf(np.abs(self.statistics))

    @property
    def intervals(self) -> np.ndarray:
        """From and to, float64[2, q, K]."""
        if self.quantiles is not None:
            return self.quantiles
        width = self.reach * self.standard_errors
        return np.stack([self.coefficients - width, self.coefficients + width])

    @property
    def reach(self) -> float:
        """T⁻¹((1 + level)/2): the standard errors that an interval goes to either side."""
        return float(self._T.ppf((1.0 + self.level) / 2.0))

    @property
    def _T(self) -> Any:
        return scipy.stats.norm if math.isinf(self.freedom) else scipy.stats.t(self.freedom)

    def predict(self, X: Any, *, observations: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """The mean of the targets of rows X, float[n, p], and its interval, float64[2, n].

        Of one target, and of means that rise with their score. With `observations` the interval is
        that of single targets, whose errors are normal: of squared losses alone.
        """
        if self.model is None:
            raise InputError(
                f"predict needs a summary of one target and its covariance, got {self.title}, "
                f"{self.kind}: give each target a model of its own, and covariance='classical'"
            )
        return predicted(self.model, X, self.reach, observations=observations)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, a row for each coefficient."""
        keys = ("coefficient", "standard_error", "statistic", "p_value", "lower", "upper")
        rows = []
        for name, equation, numbers in self._rows():
            of = {"equation": equation} if equation else {}
            rows.append({"name": name, **of, **dict(zip(keys, numbers, strict=True))})
        return {
            "title": self.title, "covariance": self.kind, "level": self.level, "rows": self.rows,
            "degrees_of_freedom": self.freedom, "clusters": self.clusters,
            "dispersion": None if self.dispersion is None else self.dispersion.tolist(),
            "coefficients": rows,
        }  # fmt: skip

    def to_latex(self) -> str:
        r"""A `tabular` for a paper, by booktabs' rules."""
        heads, *cells = (" & ".join(map(_tex, row)) + r" \\" for row in self._cells())
        columns = "l" + "r" * heads.count(" & ")
        begin, end = rf"\begin{{tabular}}{{{columns}}}", r"\end{tabular}"
        return "\n".join([begin, r"\toprule", heads, r"\midrule", *cells, r"\bottomrule", end])

    def _rows(self) -> list[tuple[str, str, tuple[float, ...]]]:
        """Name, equation and numbers of each coefficient."""
        lower, upper = self.intervals
        columns = (
            self.coefficients, self.standard_errors, self.statistics, self.p_values, lower, upper,
        )  # fmt: skip
        return [
            (name, equation, tuple(float(each[j, k]) for each in columns))
            for k, equation in enumerate(self.equations)
            for j, name in enumerate(self.names)
        ]

    def _cells(self) -> list[tuple[str, ...]]:
        """The table, its heads first; no test where there is none."""
        keep = [0, 1, 2, 5, 6] if self.kind == BOOTSTRAP else list(range(7))
        found = [HEADS]
        for name, equation, numbers in self._rows():
            label = f"{equation}: {name}" if equation else name
            value, error, statistic, p, lower, upper = numbers
            found.append(
                (label, _told(value), _told(error), f"{statistic:.2f}", _chance(p), _told(lower),
                 _told(upper))
            )  # fmt: skip
        return [tuple(row[j] for j in keep) for row in found]

    def _below(self) -> str:
        """How the numbers were made."""
        made = {BOOTSTRAP: "rows drawn again", "clustered": f"{self.clusters} clusters"}
        how = f"{self.kind} covariance" if self.kind != BOOTSTRAP else BOOTSTRAP
        if self.kind in made:
            how += f" of {made[self.kind]}"
        T = "" if self.kind == BOOTSTRAP else ", normal" if math.isinf(self.freedom) else (
            f", Student's t with {self.freedom:g} degrees of freedom"
        )  # fmt: skip
        phi = ""
        if self.dispersion is not None:
            phi = "; dispersion " + ", ".join(f"{each:.4g}" for each in self.dispersion)
        return f"{100 * self.level:g} % intervals: {how}{T}; {self.rows} rows{phi}"

    def __str__(self) -> str:
        lines = [self.title, "", *aligned([(*row, "") for row in self._cells()]), "", self._below()]
        return "\n".join(map(shown, lines))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return (
            f"<p><b>{escaped(self.title)}</b></p>{html_grid(self._cells())}"
            f"<p>{escaped(self._below())}</p>"
        )


def names_of(given: Sequence[str] | None, count: int, has_intercept: bool) -> tuple[str, ...]:
    """The names of the rows of a summary."""
    own = [f"x{j}" for j in range(count)] if given is None else [str(each) for each in given]
    return (*own, "intercept") if has_intercept else tuple(own)


def _told(value: float) -> str:
    return f"{value:.5g}"


def _chance(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}"


def _tex(cell: str) -> str:
    return "".join(TEX.get(each, each) for each in cell)
