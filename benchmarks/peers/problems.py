"""The sixteen problems, and the objective of any in float64 outside of every tool.

    F(w, b) = (1/Σs) Σᵢ sᵢ ℓ(xᵢᵀw + b, yᵢ) + (l2/2)‖w‖² + l1‖w‖₁

ℓ is squared ½(z − y)², logistic, multinomial, squared hinge ½max(0, 1 − yz)² or Huber's. The
sixteen have neither intercept b nor weights s; their l2 is given in units of 1/n, l1 as a share of
λ_max = ‖∇ of the loss at 0‖∞, above which w = 0 is optimal. The elastic net has l2 = l1, which is
l1_ratio = ½ in scikit-learn's words. How good a w is: (F(w) − F*) / (F(0) − F*), where F(0) is that
of w = 0 and the best b.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from peers.data import load, signs


@dataclass(frozen=True)
class Spec:
    """A problem before its data is read."""

    name: str
    data: str
    loss: str
    l2_times_n: float = 0.0
    l1_share: float = 0.0  # of λ_max
    l2_per_l1: float = 0.0


SPECS = (
    Spec("logistic-a9a", "a9a", "logistic", l2_times_n=1.0),
    Spec("logistic-a9a-weak", "a9a", "logistic", l2_times_n=0.01),
    Spec("logistic-a9a-l1", "a9a", "logistic", l1_share=0.01),
    Spec("logistic-covtype", "covtype", "logistic", l2_times_n=1.0),
    Spec("logistic-covtype-weak", "covtype", "logistic", l2_times_n=0.01),
    Spec("logistic-covtype-l1", "covtype", "logistic", l1_share=0.01),
    Spec("logistic-imdb", "imdb", "logistic", l2_times_n=1.0),
    Spec("logistic-imdb-weak", "imdb", "logistic", l2_times_n=0.01),
    Spec("logistic-imdb-l1", "imdb", "logistic", l1_share=0.01),
    Spec("logistic-mnist-odd", "mnist", "logistic", l2_times_n=1.0),
    Spec("multinomial-mnist", "mnist", "multinomial", l2_times_n=1.0),
    Spec("multinomial-20news", "20news", "multinomial", l2_times_n=1.0),
    Spec("ridge-beijing", "beijing-air", "squared", l2_times_n=1.0),
    Spec("lasso-beijing", "beijing-air", "squared", l1_share=0.01),
    Spec("lasso-arcene", "arcene", "squared", l1_share=0.1),
    Spec("elastic-net-ALLAML", "ALLAML", "squared", l1_share=0.1, l2_per_l1=1.0),
)


class Raw(NamedTuple):
    """Features before they were standardized: X = (`X` − `places`)/`scales`."""

    X: Any  # float64[n, p] or float32[n, p], or CSR
    places: np.ndarray  # float64[p]; 0 where X stays sparse, or there is no intercept
    scales: np.ndarray  # float64[p]


@dataclass(frozen=True, eq=False)
class Problem:
    """One problem with its data. A point is float[p] or [p, K]; with intercepts, they come last."""

    name: str
    X: Any  # float64[n, p] or float32[n, p], in either order, or CSR
    y: np.ndarray  # ±1, targets, or 0 … K−1
    loss: str
    l1: float
    l2: float
    fit_intercept: bool = False
    sample_weight: np.ndarray | None = None  # s, float64[n]
    delta: float = 1.0  # of Huber's loss
    raw: Raw | None = None  # where features are standardized: what a tool is given that does it

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.X.shape[0])

    @property
    def p(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def outputs(self) -> int:
        """Scores of a row."""
        return len(np.unique(self.y)) if self.loss == "multinomial" else 1

    @property
    def is_sparse(self) -> bool:
        """Whether X is CSR."""
        return not isinstance(self.X, np.ndarray)

    @property
    def weight(self) -> float:
        """Σs."""
        return self.n if self.sample_weight is None else float(np.sum(self.sample_weight))

    @cached_property
    def shares(self) -> np.ndarray:
        """s/Σs."""
        s = np.ones(self.n) if self.sample_weight is None else self.sample_weight
        return s / np.sum(s)

    @cached_property
    def exact(self) -> Any:
        """X in float64, standardized in float64 too."""
        if self.raw is None:
            return self.X.astype(np.float64, copy=False)
        return standardized(*self.raw)

    @property
    def in_double(self) -> Problem:
        """The same with X in float64."""
        return replace(self, X=self.exact)

    def value(self, w: np.ndarray) -> float:
        """F(w)."""
        w = np.asarray(w, dtype=np.float64).reshape(self.p + self.fit_intercept, -1)
        W, b = w[: self.p], w[self.p] if self.fit_intercept else 0.0
        loss = float(self.shares @ self.losses(self.exact @ W + b))
        return loss + 0.5 * self.l2 * float(np.sum(W**2)) + self.l1 * float(np.sum(np.abs(W)))

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """ℓ of every sample, given its scores, float64[n, K]."""
        if self.loss == "multinomial":
            own = scores[np.arange(self.n), self.y.astype(np.intp)]
            return logsumexp(scores, axis=1) - own
        z = scores[:, 0]
        if self.loss == "logistic":
            return np.logaddexp(0.0, -self.y * z)
        if self.loss == "squared-hinge":
            return 0.5 * np.maximum(0.0, 1.0 - self.y * z) ** 2
        far = np.abs(z - self.y)
        if self.loss == "huber":
            near = np.minimum(far, self.delta)
            return near * (far - 0.5 * near)
        return 0.5 * far**2

    @cached_property
    def at_zero(self) -> float:
        """F of w = 0 and the best intercept."""
        w = np.zeros((self.p + self.fit_intercept, self.outputs))
        if self.fit_intercept:
            w[self.p] = self.constant()
        return self.value(w)

    def constant(self) -> Any:
        """The intercept that is best where w = 0."""
        y, c = self.y, self.shares
        if self.loss == "multinomial":
            return np.log(np.bincount(y.astype(np.intp), c))
        mean = c @ y
        if self.loss == "logistic":
            return np.log1p(mean) - np.log1p(-mean)
        if self.loss == "huber" and np.ptp(y) > 0:
            slope = lambda b: c @ np.clip(b - y, -self.delta, self.delta)  # noqa: E731
            return brentq(slope, np.min(y), np.max(y), xtol=1e-14 * np.ptp(y))
        return mean  # of squares, and of the squared hinge, where c₊(1 − b) = c₋(1 + b)

    def slice(self, rows: int = 300) -> Problem:
        """About so many rows spread over the data, every class among them, to warm code on."""
        take = np.arange(0, self.n, max(1, self.n // rows))
        if self.loss not in ("squared", "huber"):
            _, first, label = np.unique(self.y, return_index=True, return_inverse=True)
            last = self.n - 1 - np.unique(label[::-1], return_index=True)[1]
            take = np.union1d(take, np.concatenate([first, last]))
        s = self.sample_weight
        return replace(
            self,
            X=self.X[take],
            y=self.y[take],
            sample_weight=None if s is None else s[take],
            raw=self.raw and self.raw._replace(X=self.raw.X[take]),
        )

    def __str__(self) -> str:
        storage = f"sparse, {self.X.nnz:,} entries" if self.is_sparse else "dense"
        penalties = ", ".join(
            f"{name} = {value:.3g}" for name, value in (("l1", self.l1), ("l2", self.l2)) if value
        )
        return f"{self.name}: {self.n:,} × {self.p:,} {storage}, {penalties}"


def standardized(X: Any, places: np.ndarray, scales: np.ndarray) -> Any:
    """(X − places)/scales in float64; CSR is only divided."""
    if isinstance(X, np.ndarray):
        return (X.astype(np.float64) - places) / scales
    scaled = X.astype(np.float64)
    scaled.data /= scales[scaled.indices]
    return scaled


def largest_l1(X: Any, y: np.ndarray, loss: str) -> float:
    """λ_max: the smallest l1 at which w = 0 is optimal, for two classes or targets."""
    slope = 0.5 if loss == "logistic" else 1.0
    return slope * float(np.abs(X.T @ y).max()) / X.shape[0]


def build(spec: Spec) -> Problem:
    """Read the data of a problem and set its penalties."""
    X, y = load(spec.data)
    if spec.data == "mnist" and spec.loss == "logistic":
        y = signs(y % 2 == 1)
    l1 = spec.l1_share * largest_l1(X, y, spec.loss) if spec.l1_share else 0.0
    l2 = spec.l2_times_n / X.shape[0] + spec.l2_per_l1 * l1
    return Problem(spec.name, X, y, spec.loss, l1, l2)
