"""Robust regression with a learned scale, with scikit-learn's face.

    minimise  Σᵢ sᵢ(σ + H((xᵢᵀw + b − yᵢ)/σ)σ) + alpha‖w‖²,   H(t) = t² to ε, then 2ε|t| − ε²
    maximise  Σs·(−Σᵢ cᵢθᵢyᵢ − Σs‖Σᵢ cᵢθᵢxᵢ‖²/(4·alpha))   |θᵢ| ≤ 2ε, Σcθ = 0, Σcθ² ≤ 4, c = s/Σs

jointly convex in (w, b, σ); divided by Σs here (`certificates.scale_gap`, where the dual is
derived). Where alpha = 0 there is no gap, and Newton's decrement at the learned scale in its place.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _check_sample_weight

from thalweg.estimators.callbacks import Attributes
from thalweg.estimators.certified import AUTO, CertifiedMixin, check_squares
from thalweg.estimators.counted import counted
from thalweg.estimators.learned_scale import LearnedScale
from thalweg.estimators.scores import checked_scores
from thalweg.methods.method import Method
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.tube import Tube


class HuberRegressor(CertifiedMixin, RegressorMixin, BaseEstimator):
    """Regression that outliers do not sway: `sklearn.linear_model.HuberRegressor`, certified.

    Parameters
    ----------
    epsilon : float, default=1.35
        The residual, in units of the scale, beyond which a sample is an outlier; 1 at least.
    max_iter : int, default=100
        Iterations at most, over all scales.
    alpha : float, default=0.0001
        Strength of the l2 penalty; 0 is for none.
    warm_start : bool, default=False
        Whether to start from the last fit.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    tol : float, default=1e-6
        Thalweg's tolerance, not scikit-learn's: the fit ends when its duality gap, a proven bound
        on the distance to the optimum in w, b and scale together, is at most tol times the
        objective of the best constant. Without a penalty Newton's decrement takes its place.
    method : str or Method, default="auto"
        A method of `thalweg.minimize`, by name or as an object, for the fits at given scales.

    Attributes
    ----------
    coef_, intercept_, scale_, outliers_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    method_, plan_, certificate_, history_, runs_
        The method, its plan, the proof, the scales one after the other, and the last of the runs.

    >>> import numpy as np, thalweg as tw
    >>> X, y = np.arange(6.0)[:, None], [0.1, 0.9, 2.1, 2.9, 4.1, 50.0]
    >>> model = tw.HuberRegressor().fit(X, y)
    >>> model.coef_.round(1).tolist(), model.outliers_.tolist()[-2:], model.certificate_.holds
    ([1.0], [False, True], True)
    """

    coef_: np.ndarray
    intercept_: Any
    random_state = None  # which scikit-learn's has not: draws are those of seed 0

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "epsilon": [Interval(Real, 1.0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "fit_intercept": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "method": [str, Method],
    }

    def __init__(
        self,
        *,
        epsilon: float = 1.35,
        max_iter: int = 100,
        alpha: float = 0.0001,
        warm_start: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        method: str | Method = AUTO,
    ) -> None:
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.alpha = alpha
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.method = method

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HuberRegressor:
        """Fit to X, float[n, p], and y, float[n], samples weighted if wished."""
        X, y = self._validated(X, y, [np.float64, np.float32], y_numeric=True)
        features, rows, targets, weights = X.shape[1], X, y.astype(np.float64), np.ones(len(y))
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
            rows, targets, weights = counted(X, targets, weights)
        base = LinearProblem(
            rows, targets, "huber", fit_intercept=self.fit_intercept, sample_weight=weights
        )
        check_squares(base)

        def make(loss: str | Tube, delta: float, l2: float) -> LinearProblem:
            return base.with_loss(loss, delta).replaced(l2=l2)

        fit = LearnedScale(make, self.epsilon, self.alpha / float(weights.sum()))

        def fitted(variables: list[np.ndarray]) -> Attributes:
            w = variables[0]
            b: Any = w[features] if self.fit_intercept else 0.0
            far = np.abs(y - safe_sparse_dot(X, w[:features]) - b)
            return {
                "coef_": w[:features].copy(),
                "intercept_": b,
                "scale_": fit.sigma,
                "outliers_": far > fit.sigma * self.epsilon,
            }

        start, sigma = None, None
        if self.warm_start and hasattr(self, "coef_"):
            start, sigma = np.zeros(base.dim), float(self.scale_)
            start[:features], start[features:] = self.coef_, self.intercept_
        told = self._told(X, y, sample_weight, [start], base.dim, fitted)
        listener = told.run(0)
        most = self._most_iterations
        run = fit.run(start, sigma, self.method, tol=self.tol, max_iter=most, callback=listener)
        if listener is not None:
            listener.end(run.w)
        if not (run.converged or (listener is not None and listener.has_stopped)):
            warnings.warn(run.reason, ConvergenceWarning, stacklevel=2)
        self._keep([run], fitted)
        self.n_iter_ = run.iterations
        told.end()
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Xw + b, float[n]."""
        return checked_scores(self, X, ("csr",))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
