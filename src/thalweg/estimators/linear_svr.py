"""Linear support vector regression, with scikit-learn's face: nothing within a tube, lines outside.

    minimise  C Σᵢ sᵢ max(0, |rᵢ| − ε) + ½‖w‖² + ½v²,    r = Xw + u·v − y, or each term squared
    maximise  −Σᵢ (yᵢaᵢ + ε|aᵢ|) − ½‖Σᵢ aᵢ(xᵢ, u)‖²       |aᵢ| ≤ Csᵢ
    or        −Σᵢ (yᵢaᵢ + ε|aᵢ| + aᵢ²/4Csᵢ) − ½‖Σᵢ aᵢ(xᵢ, u)‖²

The intercept b = u·v is penalised, u = intercept_scaling, as in liblinear. Divided by CΣs this is a
`LinearProblem` with l2 = 1/(CΣs), a tube or its square, and a = CΣs·cθ.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight

from thalweg.estimators.callbacks import Attributes
from thalweg.estimators.certified import AUTO, CertifiedMixin, refuse
from thalweg.estimators.counted import counted
from thalweg.estimators.penalised_intercept import with_constant, without_constant
from thalweg.estimators.scores import checked_scores
from thalweg.methods.dual_ascent import DualAscent
from thalweg.methods.interior_point import InteriorPoint
from thalweg.methods.method import Method
from thalweg.methods.registry import resolve
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.tube import SquaredTube, Tube

LINES, SQUARES = "epsilon_insensitive", "squared_epsilon_insensitive"
MOST = 1_000  # features or samples, up to which a system of them is solved sooner


class LinearSVR(CertifiedMixin, RegressorMixin, BaseEstimator):
    """Support vector regression, linear: `sklearn.svm.LinearSVR`, certified.

    Its intercept is penalised, as scikit-learn's is: it is the weight of a constant feature
    `intercept_scaling`, times that. Raise `intercept_scaling` to let it go freer.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half the width of the tube about y in which nothing is paid.
    tol : float, default=1e-6
        Thalweg's tolerance, not scikit-learn's: the fit ends when its duality gap, a proven bound
        on the distance to the optimum in units of the mean loss, is at most tol times the mean
        loss at w = 0.
    C : float, default=1.0
        Inverse strength of the penalty; multiplies the sum of the losses.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
    dual : "auto" or bool, default="auto"
        True stands for method dual-ascent; False is for the squared loss alone. Otherwise the
        choice is that of `method`.
    verbose : int, default=0
        Whether to show progress.
    random_state : int, RandomState instance or None, default=None
        Seed of methods that draw; None is 0.
    max_iter : int, default=1000
        Iterations of the method at most.
    method : str or Method, default="auto"
        Of the squared loss a method of `thalweg.minimize`, by name or as an object, or
        "dual-ascent"; of the other "interior-point" or "dual-ascent". "auto" stands for the former
        of these where samples or features are few.

    Attributes
    ----------
    coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    method_, plan_, certificate_, history_, runs_
        The method, its plan if there is one, the proof, the trace and the run itself.

    >>> import numpy as np, thalweg as tw
    >>> X, y = np.array([[-1.0], [0.0], [1.0]]), [-3.0, 0.5, 3.0]
    >>> model = tw.LinearSVR(epsilon=0.5, C=10.0).fit(X, y)
    >>> model.coef_.round(4).tolist(), model.certificate_.holds
    ([2.5], True)
    """

    coef_: np.ndarray
    intercept_: Any

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "epsilon": [Real],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "loss": [StrOptions({LINES, SQUARES})],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "dual": ["boolean", StrOptions({AUTO})],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "method": [str, Method],
    }

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-6,
        C: float = 1.0,
        loss: str = LINES,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: str | bool = AUTO,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        method: str | Method = AUTO,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.method = method

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVR:
        """Fit to X, float[n, p], and y, float[n], samples weighted if wished."""
        if self.epsilon < 0.0:
            refuse("epsilon", self.epsilon, "a tube has a width of at least 0; use 0")
        X, y = self._validated(X, y, [np.float64], y_numeric=True)
        rows, targets, weights = X, y.astype(np.float64), np.ones(len(y))
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
            rows, targets, weights = counted(X, targets, weights)
        rows = with_constant(rows, self.intercept_scaling) if self.fit_intercept else rows
        is_squared = self.loss == SQUARES
        problem = LinearProblem(
            rows,
            targets,
            SquaredTube(self.epsilon) if is_squared else Tube(1.0, 1.0, self.epsilon),
            l2=1.0 / (self.C * max(float(weights.sum()), np.finfo(np.float64).tiny)),
            fit_intercept=False,
            sample_weight=weights,
        )

        def fitted(variables: list[np.ndarray]) -> Attributes:
            w, b = variables[0].copy(), np.zeros(1)
            if self.fit_intercept:
                W, b = without_constant(w[None, :], self.intercept_scaling)
                w = np.ascontiguousarray(W[0])
            return {"coef_": w, "intercept_": b}

        told = self._told(X, y, sample_weight, [None], problem.dim, fitted)
        self._keep([self._run(problem, self._chosen(problem), told)], fitted)
        self.n_iter_ = self.runs_[0].iterations
        told.end()
        return self

    def _chosen(self, problem: LinearProblem) -> str | Method:
        """The method that `method` and `dual` ask for; refuses what cannot be honoured."""
        if self.dual is False and self.loss == LINES:
            refuse("dual", False, f"with loss={LINES!r} there is only the dual; use dual='auto'")
        if self.dual is True:
            if self.method not in (AUTO, DualAscent.name):
                refuse("dual", True, "method is given too; leave one of the two out")
            return DualAscent.usual()
        own = {kind.name: kind.usual() for kind in (InteriorPoint, DualAscent)}
        if self.method == AUTO:
            if self.loss == SQUARES:
                return AUTO
            is_small = min(problem.n, problem.p) <= MOST
            return own[InteriorPoint.name if is_small else DualAscent.name]
        return own[self.method] if self.method in own else resolve(self.method)

    def _kept_as(self, problem: LinearProblem) -> np.dtype:
        """Doubles, as scikit-learn's are."""
        return np.dtype(np.float64)

    def predict(self, X: Any) -> np.ndarray:
        """Xw + b, float[n]."""
        return checked_scores(self, X, ("csr",)).ravel()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
