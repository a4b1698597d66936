"""Quantile regression, with scikit-learn's face: the pinball loss, and an l1 penalty.

    minimise  (1/Σs) Σᵢ sᵢ max(q·rᵢ, (q − 1)·rᵢ) + alpha‖w‖₁        r = y − Xw − b
    maximise  Σᵢ cᵢθᵢyᵢ    for 1 − q ≥ −θᵢ ≥ −q, ‖Σ cᵢθᵢxᵢ‖∞ ≤ alpha, Σ cᵢθᵢ = 0, c = s/Σs

A linear program, whose dual is the second line, in the sign of θ that slopes have in r. Here it has
as many variables as samples and features: no identity matrices are made of them. Where alpha = 0
the dual asks for Σ cᵢθᵢxᵢ = 0, and what rounding leaves of that is charged to the coefficients
(`certificates.unheld`).
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight

from thalweg.core.errors import InputError
from thalweg.estimators.callbacks import Attributes
from thalweg.estimators.certified import AUTO, CertifiedMixin, refuse
from thalweg.estimators.counted import counted
from thalweg.estimators.scores import checked_scores
from thalweg.methods.column_generation import ColumnGeneration
from thalweg.methods.interior_point import InteriorPoint
from thalweg.methods.method import Method
from thalweg.methods.registry import resolve
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.tube import Tube

SOLVERS = ("highs", "highs-ds", "highs-ipm")
GONE = ("interior-point", "revised simplex")
MANY = 300  # features, beyond which most of them are left out on the way


class QuantileRegressor(CertifiedMixin, RegressorMixin, BaseEstimator):
    """A quantile of y, linear in x: `sklearn.linear_model.QuantileRegressor`, certified.

    Where many coefficients are optimal, as they may be of a linear program, scikit-learn's simplex
    ends in a corner of them, and this in their middle.

    Parameters
    ----------
    quantile : float, default=0.5
        The quantile that is predicted, between 0 and 1.
    alpha : float, default=1.0
        Strength of the l1 penalty; 0 is for none.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    solver : {"highs", "highs-ds", "highs-ipm"}, default="highs"
        Makes no difference: they name ways to the same optimum.
    solver_options : None, default=None
        Others are refused: they are those of solvers that do not run here.
    tol : float, default=1e-6
        Thalweg's tolerance, not scikit-learn's, which has none: the fit ends when its duality gap,
        a proven bound on the distance to the optimum, is at most tol times the mean loss of the
        best constant. It mostly ends in a corner, where the gap is rounding.
    max_iter : int, default=1000
        Iterations of the method at most; it takes about twenty.
    method : str or Method, default="auto"
        "auto" stands for the interior point; with many features for column generation around it.

    Attributes
    ----------
    coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    method_, plan_, certificate_, history_, runs_
        The method, no plan, the proof, the trace and the run itself.

    >>> import numpy as np, thalweg as tw
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [1.0, 3.0, 5.0, 100.0]
    >>> model = tw.QuantileRegressor(alpha=0).fit(X, y)
    >>> model.predict([[4.0]]).round(4).tolist(), model.certificate_.holds
    ([9.0], True)
    """

    coef_: np.ndarray
    intercept_: Any
    random_state = None  # which scikit-learn's has not, and nothing here draws

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "quantile": [Interval(Real, 0, 1, closed="neither")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "solver": [StrOptions({*SOLVERS, *GONE})],
        "solver_options": [dict, None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "method": [str, Method],
    }

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "highs",
        solver_options: dict[str, Any] | None = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        method: str | Method = AUTO,
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options
        self.tol = tol
        self.max_iter = max_iter
        self.method = method

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> QuantileRegressor:
        """Fit to X, float[n, p], and y, float[n], samples weighted if wished."""
        if self.solver in GONE:
            raise InputError(
                f"Solver {self.solver} is not anymore available in SciPy >= 1.11.0, nor here: "
                "use solver='highs'"
            )
        if self.solver_options:
            refuse("solver_options", self.solver_options, "no solver of SciPy runs; leave it out")
        X, y = self._validated(X, y, [np.float64, np.float32], y_numeric=True)
        features, weights, rows, targets = X.shape[1], None, X, y.astype(np.float64)
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
            rows, targets, weights = counted(X, targets, weights)
        problem = LinearProblem(
            rows,
            targets,
            Tube(1.0 - self.quantile, self.quantile),
            l1=self.alpha,
            fit_intercept=self.fit_intercept,
            sample_weight=weights,
        )

        def fitted(variables: list[np.ndarray]) -> Attributes:
            w = variables[0]
            b: Any = w[features] if self.fit_intercept else 0.0
            return {"coef_": w[:features].copy(), "intercept_": b}

        told = self._told(X, y, sample_weight, [None], problem.dim, fitted)
        self._keep([self._run(problem, self._chosen(problem), told)], fitted)
        self.n_iter_ = self.runs_[0].iterations
        told.end()
        return self

    def _chosen(self, problem: LinearProblem) -> Method:
        """The method that `method` asks for."""
        if self.method == AUTO:
            is_wide = problem.p > MANY and problem.l1 > 0.0
            return ColumnGeneration.usual() if is_wide else InteriorPoint.usual()
        own = {kind.name: kind.usual() for kind in (InteriorPoint, ColumnGeneration)}
        return own[self.method] if self.method in own else resolve(self.method)

    def _kept_as(self, problem: LinearProblem) -> np.dtype:
        """Doubles, as scikit-learn's are."""
        return np.dtype(np.float64)

    def predict(self, X: Any) -> np.ndarray:
        """Xw + b, float[n]."""
        return checked_scores(self, X, ("csr", "csc", "coo"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
