"""Generalized linear models: targets whose mean is e^(xᵀw + b + o), with scikit-learn's face.

    minimise  (1/2Σs) Σᵢ sᵢ d(yᵢ, e^(xᵢᵀw + b + oᵢ)) + alpha·r‖w‖₁ + ½ alpha·(1 − r)‖w‖²

with d the unit deviance of a power p (`kernels.log_link`) and r = l1_ratio, 0 in scikit-learn. The
offset o, the logarithm of an exposure, is a weight and a target of their own, since

    d(y, e^(z + o)) = e^((2 − p)o) d(ye^(−o), e^z)

which is a `LinearProblem` with l1 and l2 divided by the mean of those weights. Predictions are e^z,
per unit of exposure. With the identity link z itself is the mean, p = 0, and an offset is taken off
the targets. Where alpha = 0 and there are many minimizers, w is the smallest (`smallest`).
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context
from sklearn.metrics import d2_tweedie_score
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_array, check_is_fitted

from thalweg.core.errors import InputError
from thalweg.estimators.callbacks import Attributes
from thalweg.estimators.certified import AUTO, chosen_method
from thalweg.estimators.held_columns import HELD, HeldColumnsMixin
from thalweg.estimators.inferring import InferringMixin, refuse_penalty
from thalweg.estimators.scores import checked_scores
from thalweg.estimators.smallest_fit import SmallestMixin
from thalweg.inference.family import Family, of_power
from thalweg.methods.method import Method
from thalweg.objectives.labels import check_means
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.tweedie import Tweedie

NEAREST = {"newton-cholesky": "newton"}
LOSSES = {0.0: "squared", 1.0: "poisson", 2.0: "gamma"}  # by their power; between 1 and 2 "tweedie"
FARTHEST = 100.0  # of an offset: e^o and its powers are far from overflow


class GeneralizedLinearRegressor(
    InferringMixin, SmallestMixin, HeldColumnsMixin, RegressorMixin, BaseEstimator
):
    """What the three share: all but the power of the deviance."""

    coef_: np.ndarray
    intercept_: Any
    any_solver: ClassVar[str] = "lbfgs"
    random_state = None  # which scikit-learn's have not: draws are those of seed 0

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "solver": [StrOptions({"lbfgs", *NEAREST})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        **HELD,
        "method": [str, Method],
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "lbfgs",
        max_iter: int = 100,
        tol: float = 1e-6,
        warm_start: bool = False,
        verbose: int = 0,
        l1_ratio: float = 0.0,
        bounds: Any = None,
        penalty_weight: Any = None,
        method: str | Method = AUTO,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.l1_ratio = l1_ratio
        self.bounds = bounds
        self.penalty_weight = penalty_weight
        self.method = method

    def _power(self) -> float:
        """p."""
        raise NotImplementedError

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None
    ) -> GeneralizedLinearRegressor:
        """Fit to X, float[n, p], and y, float[n], samples weighted and scores offset if wished."""
        power = self._power()
        method = chosen_method(self.method, self.solver, self.any_solver, NEAREST)
        X, y = self._validated(X, y, [np.float64, np.float32], y_numeric=True)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        problem = self._problem(X, y.astype(np.float64), weights, offset, power)
        features = X.shape[1]

        def fitted(variables: list[np.ndarray]) -> Attributes:
            w = variables[0]
            b: Any = w[features] if self.fit_intercept else 0.0
            return {"coef_": w[:features].astype(X.dtype), "intercept_": b}

        start = problem.start.astype(np.float64)
        if self.warm_start and hasattr(self, "coef_"):
            start[:features] = self.coef_
            start[features:] = self.intercept_
        told = self._told(X, y, sample_weight, [start], problem.dim, fitted)
        self._keep([self._run(problem, method, told)], fitted)
        self.n_iter_ = self.runs_[0].iterations
        told.end()
        return self

    def _problem(
        self, X: Any, y: np.ndarray, weights: np.ndarray | None, offset: Any, power: float
    ) -> LinearProblem:
        """The objective, where an offset has become part of weights and targets."""
        strength = self.alpha
        loss = LOSSES.get(power, "tweedie")
        seen = np.ones(len(y)) if weights is None else weights
        if power:
            check_means(y, seen, loss)
        if offset is not None:
            o = _checked_offset(offset, len(y))
            if power:
                scale = np.exp((2.0 - power) * o)
                total = float(seen.sum())
                weights, y = seen * scale, y * np.exp(-o)
                if total > 0.0:
                    strength *= total / float(weights.sum())
            else:
                y = y - o
        return LinearProblem(
            X,
            y,
            Tweedie(power) if loss == "tweedie" else loss,
            l1=strength * self.l1_ratio,
            l2=strength * (1.0 - self.l1_ratio),
            penalty=self._by_column(),
            fit_intercept=self.fit_intercept,
            sample_weight=weights,
        )

    def _likelihood(self) -> Family:
        self._refuse_held()
        if self.alpha > 0.0:
            refuse_penalty("alpha", self.alpha, "0")
        return of_power(self._power())

    def _offset(self, offset: Any, n: int) -> np.ndarray:
        return np.zeros(n) if offset is None else _checked_offset(offset, n)

    def predict(self, X: Any) -> np.ndarray:
        """The mean of y for each row of X, float[n]; with a log link per unit of exposure."""
        check_is_fitted(self)
        scores = checked_scores(self, X, ("csr", "csc", "coo"))
        return np.exp(scores) if self._power() else scores

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """D², the share of the deviance that is explained: 1 at best, 0 for the mean of y."""
        power, predicted = self._power(), self.predict(X)
        return float(d2_tweedie_score(y, predicted, sample_weight=sample_weight, power=power))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        try:
            tags.target_tags.positive_only = self._power() > 0.0
        except InputError:  # tags are asked for before a power is refused
            tags.target_tags.positive_only = False
        return tags


def _checked_offset(offset: Any, n: int) -> np.ndarray:
    """What is added to the scores, float64[n]."""
    o = check_array(offset, dtype=np.float64, ensure_2d=False, input_name="offset")
    if o.shape != (n,):
        raise InputError(f"offset must have {n} entries, as X has rows, got shape {o.shape}")
    farthest = float(np.abs(o).max())
    if farthest > FARTHEST:
        raise InputError(
            f"offset must be a logarithm between −{FARTHEST:g} and {FARTHEST:g}, got one of size "
            f"{farthest:g}: give np.log(exposure)"
        )
    return o
