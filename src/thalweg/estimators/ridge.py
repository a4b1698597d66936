"""Ridge regression, with scikit-learn's face.

    minimise  Σᵢ sᵢ (xᵢᵀw + b − yᵢ)² + alpha‖w‖²

which is a `LinearProblem` with the squared loss, divided by 2Σs: l2 = alpha/Σs. Where alpha = 0 and
there are many minimizers, w is the smallest, the limit of alpha → 0, by any method (`smallest`); of
dependent columns among more than 500, with more rows than columns, by cholesky alone.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from thalweg.core.errors import InputError
from thalweg.estimators.certified import AUTO, chosen_method, refuse
from thalweg.estimators.held_columns import HELD
from thalweg.estimators.regressor import LinearRegressor
from thalweg.estimators.smallest_fit import SmallestMixin
from thalweg.methods.method import Method

NEAREST = {
    "svd": "cholesky",
    "cholesky": "cholesky",
    "lsqr": "newton-cg",
    "sparse_cg": "newton-cg",
    "sag": "sag",
    "saga": "saga",
}


def method_of_ridge(estimator: Any) -> str | Method:
    """The method that solver, method and positive of a ridge regression ask for."""
    solver, positive = estimator.solver, estimator.positive
    if positive and solver not in (AUTO, "lbfgs"):
        raise InputError(
            f"solver must be 'auto' or 'lbfgs' with positive=True, got {solver!r}, which does not "
            "support positive fitting: leave it out"
        )
    if not positive and solver == "lbfgs":
        refuse("solver", "lbfgs", "it is for positive=True; use method='lbfgs' for L-BFGS")
    return chosen_method(estimator.method, AUTO if positive else solver, AUTO, NEAREST)


class Ridge(SmallestMixin, LinearRegressor):
    """Linear least squares with an l2 penalty: `sklearn.linear_model.Ridge`, certified.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1.0
        Strength of the penalty; several targets may have one each. With 0, coefficients that the
        data leave open are the smallest.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    copy_X : bool, default=True
        Has no effect: X is never written to.
    max_iter : int, default=None
        Iterations at most; None is 10,000.
    tol : float, default=1e-6
        Thalweg's tolerance, not scikit-learn's: the fit ends when its duality gap, a proven bound
        on the distance to the optimum in units of the objective (per unit of sample weight, and
        halved), is at most tol times the objective of the best constant prediction.
    solver : str, default="auto"
        scikit-learn's names, each standing for the nearest method: "svd" and "cholesky" for
        cholesky, "lsqr" and "sparse_cg" for newton-cg, "sag", "saga"; "auto" leaves it to `method`.
        "lbfgs" is for positive=True alone, as there, and leaves the choice to `method` too.
    positive : bool, default=False
        Whether coefficients are to be at least 0, with solver "auto" or "lbfgs". Of the dual the
        penalty is then Σⱼ max(0, −vⱼ)²/(2·l2), v = Σ cᵢθᵢxᵢ, and with alpha = 0 it asks vⱼ ≥ 0.
    random_state : int, RandomState instance or None, default=None
        Seed of methods that draw; None is 0.
    bounds : pair (low, high), default=None
        Of coefficients: numbers, arrays with one number a column, or None on an open side.
    penalty_weight : array-like of shape (n_features,), default=None
        What the penalty of a column is multiplied by; 0 leaves it out of the penalty, and
        1/|w| of an earlier fit makes the adaptive lasso.
    method : str or Method, default="auto"
        A method of `thalweg.minimize`, by name or as an object.

    Attributes
    ----------
    coef_, intercept_, n_features_in_, feature_names_in_
        As in scikit-learn.
    n_iter_ : int array of shape (n_targets,)
    solver_ : str
        The solver that was asked for; for "auto" the name of the method that ran.
    method_, plan_, certificate_, history_, runs_
        The method, its plan, the proof, the trace and the run itself; lists for several targets.

    >>> import numpy as np, thalweg as tw
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> model = tw.Ridge(alpha=2.0).fit(X, [0.0, 1.0, 2.0])
    >>> model.coef_.round(6).tolist(), model.certificate_.holds
    ([0.5], True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "fit_intercept": ["boolean"],
        "copy_X": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "solver": [StrOptions({AUTO, "lbfgs", *NEAREST})],
        "positive": ["boolean"],
        "random_state": ["random_state"],
        **HELD,
        "method": [str, Method],
    }

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-6,
        solver: str = AUTO,
        positive: bool = False,
        random_state: Any = None,
        bounds: Any = None,
        penalty_weight: Any = None,
        method: str | Method = AUTO,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.bounds = bounds
        self.penalty_weight = penalty_weight
        self.method = method

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Ridge:
        """Fit to X, float[n, p], and y, float[n] or [n, targets], samples weighted if wished."""
        method = method_of_ridge(self)
        X, y, weights = self._checked(X, y, sample_weight)
        targets = 1 if y.ndim == 1 else y.shape[1]
        total = float(len(y) if weights is None else weights.sum())
        penalties = [(0.0, alpha / total) for alpha in self._alphas(targets)]
        told = self._fit_targets(X, y, weights, penalties, method, [None] * targets)
        self.n_iter_ = np.array([run.iterations for run in self.runs_], dtype=np.int32)
        self.solver_ = self.runs_[0].method if self.solver == AUTO else self.solver
        told.end()
        return self

    def _alphas(self, targets: int) -> list[float]:
        alphas = np.asarray(self.alpha, dtype=np.float64).ravel()
        if len(alphas) not in (1, targets):
            raise InputError(
                f"alpha must be one number or one for each of {targets} targets, got {len(alphas)}"
            )
        if not np.all(alphas >= 0):
            raise InputError(
                f"alpha must not be negative, got {self.alpha!r}: use 0 for no penalty"
            )
        return np.broadcast_to(alphas, targets).tolist()
