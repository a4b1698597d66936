"""`summary` and `bootstrap` of the estimators: how sure their coefficients are.

A summary holds at the optimum of a likelihood: of the squared and the logistic loss, of several
classes, and of deviances, without a penalty. Coefficients under a penalty are drawn to zero, by
as much as nobody knows, and standard errors say nothing of that; nor do they where there are no
more rows than coefficients, or where columns depend on each other. Those are refused, and a
bootstrap is what is left.

Whether it is the optimum is looked at again: no coefficient may be further from it than a hundredth
of its standard error (`inference.sandwich`).
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from thalweg.core.checks import check_choice, check_count, check_number
from thalweg.core.errors import InputError
from thalweg.inference.bootstrap import resampled
from thalweg.inference.estimate import Seen, centre_of, of_classes, of_one
from thalweg.inference.family import Family
from thalweg.inference.prediction import Fitted
from thalweg.inference.sandwich import ARRIVED, CLUSTERED, KINDS, LEVERAGED
from thalweg.inference.summary import BOOTSTRAP, Summary, names_of

LEVEL = 0.95
SAMPLES = 200
FEWEST = 20  # samples of a bootstrap: fewer have no quantiles


class InferringMixin:
    """What an estimator tells of its coefficients beyond their values."""

    coef_: Any
    intercept_: Any
    fit_intercept: bool

    def _likelihood(self) -> Family | None:
        """Of what the fit is the maximum; None of several classes. Raises where of nothing."""
        raise InputError(
            f"summary needs a likelihood, which the loss of {type(self).__name__} is not of: "
            "use .bootstrap(X, y)"
        )

    def summary(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        covariance: str = "classical",
        groups: Any = None,
        level: float = LEVEL,
        offset: Any = None,
    ) -> Summary:
        """Coefficients, standard errors, tests and intervals, of the data of the fit.

        `covariance`: "classical", "HC0" to "HC3", or "clustered" by `groups`, a label for each row.
        `offset` as in the fit. Equal to statsmodels' figures, with its weights (`var_weights`).
        """
        check_is_fitted(self)
        family = self._likelihood()
        check_choice("covariance", covariance, KINDS)
        level = check_number("level", level, above=0.0, below=1.0)
        if covariance in LEVERAGED and not (family and family.has_exact_spread):
            raise InputError(
                f"covariance={covariance!r} needs a squared loss, whose rows have leverages: "
                "use 'HC1'"
            )
        if (groups is None) == (covariance == CLUSTERED):
            raise InputError(
                "groups must be given with covariance='clustered', and with no other: "
                f"got covariance={covariance!r}"
            )
        seen = self._seen(X, y, sample_weight, offset, groups)
        beta = self._beta()
        if len(seen.weights) <= beta.size:
            raise InputError(
                f"summary needs more rows than coefficients, got {len(seen.weights)} rows and "
                f"{beta.size} coefficients: use .bootstrap(X, y)"
            )
        centre = centre_of(seen) if self.fit_intercept else np.zeros(seen.X.shape[1])
        model = None
        if family is None:
            found = [of_classes(seen, beta, centre, self.fit_intercept, covariance)]
            scales = None
        else:
            each = [
                of_one(seen, k, beta[:, k], family, centre, self.fit_intercept, covariance)
                for k in range(beta.shape[1])
            ]
            found, phi = [part for part, _ in each], np.array([scale for _, scale in each])
            scales = phi if family.is_scaled else None
            if len(found) == 1:
                model = Fitted(family, beta[:, 0], centre, found[0].about, float(phi[0]))
        for part in found:
            _check_arrived(part.off)
        is_exact = family is not None and family.has_exact_spread and covariance == "classical"
        covariances = [part.covariance for part in found]
        return Summary(
            title=type(self).__name__,
            names=self._names(),
            equations=self._equations(),
            coefficients=beta,
            covariance=covariances[0] if family is None else np.stack(covariances),
            kind=covariance,
            level=level,
            freedom=float(len(seen.weights) - len(beta)) if is_exact else math.inf,
            rows=len(seen.weights),
            dispersion=scales,
            clusters=None if seen.groups is None else int(seen.groups.max()) + 1,
            model=model,
        )

    def bootstrap(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        samples: int = SAMPLES,
        level: float = LEVEL,
        seed: int = 0,
        **options: Any,
    ) -> Summary:
        """Spread and intervals of the coefficients over refits to rows drawn again.

        Of any loss and penalty: of what the fit estimates, which a penalty draws to zero. `options`
        go to `fit`.
        """
        check_is_fitted(self)
        samples = check_count("samples", samples, at_least=FEWEST)
        level = check_number("level", level, above=0.0, below=1.0)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)

        classes = getattr(self, "classes_", None)

        def fit(counted: np.ndarray) -> np.ndarray:
            if classes is not None and len(np.unique(np.asarray(y)[counted > 0.0])) < len(classes):
                raise InputError(
                    "y must hold every class in each draw of its rows, got one that is too rare: "
                    "leave that class out"
                )
            again: Any = clone(self)
            again.fit(X, y, sample_weight=counted, **options)
            return again._beta()

        drawn = resampled(fit, weights, samples, seed)
        beta = self._beta()
        shares = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
        flat = drawn.transpose(0, 2, 1)
        about = flat - flat.mean(axis=0)
        return Summary(
            title=f"{type(self).__name__}, {samples} draws of its rows",
            names=self._names(),
            equations=self._equations(),
            coefficients=beta,
            covariance=np.einsum("bkj,bki->kji", about, about) / (samples - 1),
            kind=BOOTSTRAP,
            level=level,
            freedom=math.inf,
            rows=int(np.count_nonzero(weights)),
            quantiles=np.quantile(drawn, shares, axis=0),
        )

    def _beta(self) -> np.ndarray:
        """Coefficients and intercept of each target, float64[q, K]; of classes beside the first."""
        W: Any = self.coef_
        W = W.toarray() if scipy.sparse.issparse(W) else np.asarray(W)
        beta = np.atleast_2d(W.astype(np.float64)).T
        if self.fit_intercept:
            b = np.broadcast_to(np.asarray(self.intercept_, dtype=np.float64), beta.shape[1])
            beta = np.vstack([beta, b])
        if self._is_relative:
            return beta[:, 1:] - beta[:, :1]
        return beta

    @property
    def _is_relative(self) -> bool:
        """Whether classes are told beside the first: what all share, no probability shows."""
        return len(getattr(self, "classes_", ())) > 2 and self._has_shared_scores

    @property
    def _has_shared_scores(self) -> bool:
        """Whether the classes are one model, and not one against the rest each."""
        return False

    def _names(self) -> tuple[str, ...]:
        given = getattr(self, "feature_names_in_", None)
        count = np.atleast_2d(self.coef_).shape[1]
        return names_of(given, count, bool(self.fit_intercept))

    def _equations(self) -> tuple[str, ...]:
        """What each column of `_beta` is of."""
        count = self._beta().shape[1]
        if count == 1:
            return ("",)
        classes = getattr(self, "classes_", None)
        if classes is None:
            return tuple(f"target {k}" for k in range(count))
        return tuple(str(each) for each in (classes[1:] if self._is_relative else classes))

    def _seen(self, X: Any, y: Any, sample_weight: Any, offset: Any, groups: Any) -> Seen:
        """The data, checked as in a fit; rows without weight left out."""
        is_classifier = hasattr(self, "classes_")
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False,
            multi_output=not is_classifier, y_numeric=not is_classifier,
        )  # fmt: skip
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if is_classifier:
            y = self._codes(y)
        else:
            y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        offset = self._offset(offset, len(y))
        numbered = None if groups is None else _numbered(groups, len(y))
        held = weights > 0.0
        if not held.all():
            X, y, weights, offset = X[held], y[held], weights[held], offset[held]
            numbered = None if numbered is None else _numbered(numbered[held], len(y))
        return Seen(X, y, weights, offset, numbered)

    def _offset(self, offset: Any, n: int) -> np.ndarray:
        """What is added to the scores, float64[n]; of most estimators nothing can be."""
        if offset is not None:
            raise InputError(
                f"offset must be None, {type(self).__name__} is fitted without one: leave it out"
            )
        return np.zeros(n)

    def _codes(self, y: np.ndarray) -> np.ndarray:
        """The number of each label among `classes_`."""
        classes: np.ndarray = self.classes_  # type: ignore[attr-defined]
        if not np.isin(y, classes).all():
            raise InputError(
                f"y must hold the classes of the fit, got {np.setdiff1d(y, classes)[0]} besides: "
                "give the data of the fit"
            )
        return np.searchsorted(classes, y)


def _numbered(groups: Any, n: int) -> np.ndarray:
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise InputError(f"groups must have {n} labels, as X has rows, got shape {labels.shape}")
    kinds, codes = np.unique(labels, return_inverse=True)
    if len(kinds) < 2:
        raise InputError(
            f"groups must be two clusters or more, got one, {kinds[0]!r}: use covariance='HC1'"
        )
    return codes


def refuse_penalty(name: str, value: Any, without: str) -> NoReturn:
    """Raise for a summary of coefficients that a penalty holds."""
    raise InputError(
        f"summary needs a fit without a penalty, got {name}={value!r}: coefficients are drawn to "
        f"zero, which no standard error tells; fit with {name}={without}, or use .bootstrap(X, y)"
    )


def _check_arrived(off: float) -> None:
    if not off <= ARRIVED:
        raise InputError(
            f"summary needs a fit at its optimum, got one that is up to {off:.2g} standard errors "
            "away, or other data than those of the fit: give those, and fit with tol=1e-12"
        )
