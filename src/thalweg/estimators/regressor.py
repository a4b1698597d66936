"""Penalised least squares with one target or several, each a problem of its own.

    minimise  (1/2Σs) Σᵢ sᵢ (xᵢᵀw + b − yᵢ)² + (l2/2)‖w‖² + l1‖w‖₁

with l1 and l2 as `Ridge`, `ElasticNet` and `Lasso` read their alpha.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import _check_sample_weight

from thalweg.estimators.callbacks import Attributes, Told
from thalweg.estimators.held_columns import HeldColumnsMixin
from thalweg.estimators.inferring import InferringMixin, refuse_penalty
from thalweg.estimators.scores import checked_scores
from thalweg.inference.family import SQUARED, Family
from thalweg.methods.method import Method
from thalweg.objectives.linear import LinearProblem


class TargetsMixin(HeldColumnsMixin):
    """Least squares for targets one by one, and scikit-learn's shapes of the result."""

    fit_intercept: bool

    def _fit_targets(
        self,
        X: Any,
        y: np.ndarray,
        sample_weight: np.ndarray | None,
        penalties: list[tuple[float, float]],
        method: str | Method,
        starts: list[np.ndarray | None],
    ) -> Told:
        """Fit each target with its (l1, l2); sets `runs_`, `coef_` and `intercept_`.

        What it returns is to be ended when the other attributes are there.
        """
        fitted = self._attributes(X, y)
        told = self._told(X, y, sample_weight, starts, X.shape[1] + self.fit_intercept, fitted)
        columns = y.reshape(len(y), -1).astype(np.float64, copy=False)
        problem = LinearProblem(
            X,
            columns[:, 0],
            l1=penalties[0][0],
            l2=penalties[0][1],
            penalty=self._by_column(),
            fit_intercept=self.fit_intercept,
            sample_weight=sample_weight,
        )
        self._keep(self._run_targets(problem, columns, penalties, method, told), fitted)
        self._look(problem, len(y) if sample_weight is None else float(sample_weight.sum()))
        return told

    def _attributes(self, X: Any, y: np.ndarray) -> Callable[[list[np.ndarray]], Attributes]:
        """What makes `coef_` and `intercept_` of the variables of each target."""
        features = X.shape[1]

        def fitted(variables: list[np.ndarray]) -> Attributes:
            W = np.stack(variables)
            coefficients, intercepts = W[:, :features].astype(X.dtype), W[:, features:]
            intercept: Any = 0.0
            if self.fit_intercept:
                intercept = intercepts[0, 0] if y.ndim == 1 else intercepts[:, 0].copy()
            kept = coefficients if len(W) > 1 else coefficients[0]
            return {"coef_": np.ascontiguousarray(kept), "intercept_": intercept}

        return fitted

    def _look(self, problem: LinearProblem, total: float) -> None:
        """Set what an estimator tells of its data, whose weights are `total` in all."""


class LinearRegressor(
    InferringMixin, TargetsMixin, MultiOutputMixin, RegressorMixin, BaseEstimator
):
    """What the regressors share besides."""

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, Any]:
        """X, y as it came but in numbers, and the weights as float64[n] or None."""
        X, y = self._validated(X, y, [np.float64, np.float32], multi_output=True, y_numeric=True)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        return X, y, sample_weight

    def _likelihood(self) -> Family:
        """That of normal errors, where no penalty is in the way."""
        self._refuse_held()
        held: Any = getattr(self, "alpha_", getattr(self, "alpha", 0.0))
        if np.any(np.asarray(held) > 0.0):
            refuse_penalty("alpha", held, "0")
        return SQUARED

    def predict(self, X: Any) -> np.ndarray:
        """XW + b, float[n]; float[n, targets] where there are several."""
        return checked_scores(self, X, ("csr", "csc", "coo"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
