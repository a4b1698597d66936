"""The elastic net, with scikit-learn's face.

    minimise  (1/2Σs) Σᵢ sᵢ (xᵢᵀw + b − yᵢ)² + alpha·r‖w‖₁ + ½ alpha·(1 − r)‖w‖²,   r = l1_ratio

which is a `LinearProblem` with the squared loss, l1 = alpha·r and l2 = alpha·(1 − r), with both
times a weight πⱼ and between bounds for each column, where those are given.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn import get_config
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from thalweg.estimators.certified import AUTO, refuse
from thalweg.estimators.held_columns import HELD
from thalweg.estimators.regressor import LinearRegressor
from thalweg.methods.method import Method


class ElasticNet(LinearRegressor):
    """Linear least squares with l1 and l2 penalties: `sklearn.linear_model.ElasticNet`, certified.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalties; 0 is ordinary least squares.
    l1_ratio : float, default=0.5
        Share of the l1 penalty, 0 to 1.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    precompute : bool, default=False
        Has no effect: methods decide what they compute once. A Gram matrix is refused.
    max_iter : int, default=1000
        Iterations of the method at most; None is 10,000.
    copy_X : bool, default=True
        Has no effect: X is never written to.
    tol : float, default=1e-6
        Thalweg's tolerance, not scikit-learn's: the fit ends when its duality gap, a proven bound
        on the distance to the optimum, is at most tol times the objective of the best constant
        prediction. (scikit-learn's also bounds a gap, by tol·‖y‖²/n, about twice as much.)
    warm_start : bool, default=False
        Whether to start from the last fit.
    positive : bool, default=False
        Whether coefficients are to be at least 0. The dual then asks −vⱼ ≤ l1 of a column, with
        v = Σ cᵢθᵢxᵢ its slopes, in place of |vⱼ| ≤ l1: the gap is as proven as without.
    random_state : int, RandomState instance or None, default=None
        Seed of methods that draw; None is 0.
    selection : str, default="cyclic"
        "random" is refused: it would change the way, not the optimum.
    bounds : pair (low, high), default=None
        Of coefficients: numbers, arrays with one number a column, or None on an open side.
    penalty_weight : array-like of shape (n_features,), default=None
        What the penalty of a column is multiplied by; 0 leaves it out of the penalty, and
        1/|w| of an earlier fit makes the adaptive lasso.
    method : str or Method, default="auto"
        A method of `thalweg.minimize`, by name or as an object.

    Attributes
    ----------
    coef_, intercept_, sparse_coef_, dual_gap_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn; `dual_gap_` is certificate_.gap, NaN without a penalty.
    method_, plan_, certificate_, history_, runs_
        The method, its plan, the proof, the trace and the run itself; lists for several targets.

    >>> import numpy as np, thalweg as tw
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> model = tw.ElasticNet(alpha=0.5).fit(X, [0.0, 1.0, 2.0])
    >>> model.coef_.round(3).tolist(), model.certificate_.holds
    ([0.455], True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "fit_intercept": ["boolean"],
        "precompute": ["boolean", "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "copy_X": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "warm_start": ["boolean"],
        "positive": ["boolean"],
        "random_state": ["random_state"],
        "selection": [StrOptions({"cyclic", "random"})],
        **HELD,
        "method": [str, Method],
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int | None = 1000,
        copy_X: bool = True,
        tol: float = 1e-6,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        bounds: Any = None,
        penalty_weight: Any = None,
        method: str | Method = AUTO,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.bounds = bounds
        self.penalty_weight = penalty_weight
        self.method = method

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True
    ) -> ElasticNet:
        """Fit to X, float[n, p], and y, float[n] or [n, targets], samples weighted if wished.

        `check_input` has no effect: input is always checked.
        """
        self._refuse_what_cannot_be_honoured()
        X, y, weights = self._checked(X, y, sample_weight)
        targets = 1 if y.ndim == 1 else y.shape[1]
        penalty = (self.alpha * self.l1_ratio, self.alpha * (1.0 - self.l1_ratio))
        starts = self._starts(targets)
        told = self._fit_targets(X, y, weights, [penalty] * targets, self.method, starts)
        iterations = [run.iterations for run in self.runs_]
        gaps = [
            np.nan if run.certificate.gap is None else run.certificate.gap for run in self.runs_
        ]
        self.n_iter_ = iterations if targets > 1 else iterations[0]
        self.dual_gap_ = np.array(gaps) if targets > 1 else gaps[0]
        told.end()
        return self

    def _refuse_what_cannot_be_honoured(self) -> None:
        if self.selection == "random":
            refuse("selection", "random", "leave it at 'cyclic'; the optimum is the same")
        if not isinstance(self.precompute, bool | np.bool_):
            refuse("precompute", "a Gram matrix", "leave it out, the method makes its own")

    def _starts(self, targets: int) -> list[np.ndarray | None]:
        """The last fit for each target, where it is to be the start."""
        if not self.warm_start or not hasattr(self, "coef_"):
            return [None] * targets
        W = np.atleast_2d(self.coef_)
        if self.fit_intercept:
            b = np.broadcast_to(self.intercept_, len(W))
            W = np.column_stack([W, b])
        return list(W.astype(np.float64))

    @property
    def sparse_coef_(self) -> Any:
        """`coef_` as a sparse matrix, or a sparse array where scikit-learn is set to give those."""
        check_is_fitted(self, "coef_")
        # scikit-learn 1.8 has no such setting, and gives matrices.
        gives_arrays = get_config().get("sparse_interface") == "sparray"
        kind = scipy.sparse.csr_array if gives_arrays else scipy.sparse.csr_matrix
        return kind(np.atleast_2d(self.coef_))
