"""Ordinary least squares, with scikit-learn's face.

    minimise  (1/2Σs) Σᵢ sᵢ (xᵢᵀw + b − yᵢ)²

and of many minimizers the smallest w. There is no penalty, and so no duality gap; but F is a
quadratic, and half its Newton decrement is the distance to the optimum itself.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from thalweg.estimators.callbacks import Attributes
from thalweg.estimators.certified import AUTO
from thalweg.estimators.held_columns import BOUNDS
from thalweg.estimators.regressor import LinearRegressor
from thalweg.estimators.smallest_fit import SmallestMixin
from thalweg.methods.method import Method
from thalweg.objectives.linear import LinearProblem

NEGLIGIBLE = 1e-6  # of the largest singular value: scikit-learn's default, 1e-6 too


class LinearRegression(SmallestMixin, LinearRegressor):
    """Least squares without a penalty: `sklearn.linear_model.LinearRegression`, certified.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    copy_X : bool, default=True
        Has no effect: X is never written to.
    tol : float, default=1e-6
        Thalweg's tolerance, not scikit-learn's: the fit ends when Newton's decrement, here the
        distance to the optimum, is at most tol times the objective of the best constant prediction.
        Singular values are never cut off by it.
    n_jobs : int, default=None
        Has no effect: passes over X take all threads.
    positive : bool, default=False
        Whether coefficients are to be at least 0: non-negative least squares. The dual then asks
        vⱼ ≥ 0 of a column, v = Σ cᵢθᵢxᵢ, and its value is a proven bound as with a penalty.
    bounds : pair (low, high), default=None
        Of coefficients: numbers, arrays with one number a column, or None on an open side.
    method : str or Method, default="auto"
        A method of `thalweg.minimize`, by name or as an object.

    Attributes
    ----------
    coef_, intercept_, rank_, singular_, n_features_in_, feature_names_in_
        As in scikit-learn, the coefficients the smallest of those that fit as well, but within
        bounds. `singular_` and `rank_` are of dense X alone, and of fits without bounds;
        of more rows than columns the values are right to 1e-8 of the
        largest, and the rank counts those above 1e-6 of it.
    n_iter_ : int, or a list for several targets
    method_, plan_, certificate_, history_, runs_
        The method, its plan, the proof, the trace and the run itself; lists for several targets.

    >>> import numpy as np, thalweg as tw
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> model = tw.LinearRegression().fit(X, [1.0, 3.0, 5.0])
    >>> model.coef_.round(6).tolist(), round(float(model.intercept_), 6), model.rank_
    ([2.0], 1.0, 1)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "fit_intercept": ["boolean"],
        "copy_X": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [None, Integral],
        "positive": ["boolean"],
        **BOUNDS,
        "method": [str, Method],
    }
    max_iter = None  # which scikit-learn's have not, nor draws
    random_state = None

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
        bounds: Any = None,
        method: str | Method = AUTO,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive
        self.bounds = bounds
        self.method = method

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearRegression:
        """Fit to X, float[n, p], and y, float[n] or [n, targets], samples weighted if wished."""
        X, y, weights = self._checked(X, y, sample_weight)
        targets = 1 if y.ndim == 1 else y.shape[1]
        told = self._fit_targets(
            X, y, weights, [(0.0, 0.0)] * targets, self.method, [None] * targets
        )
        iterations = [run.iterations for run in self.runs_]
        self.n_iter_ = iterations if targets > 1 else iterations[0]
        told.end()
        return self

    def _attributes(self, X: Any, y: np.ndarray) -> Callable[[list[np.ndarray]], Attributes]:
        """Those of all regressors, but that a y of two axes keeps them, also of one target."""
        fitted = super()._attributes(X, y)
        if y.ndim == 1:
            return fitted

        def of_columns(variables: list[np.ndarray]) -> Attributes:
            found = fitted(variables)
            return {**found, "coef_": np.atleast_2d(found["coef_"])}

        return of_columns

    def _look(self, problem: LinearProblem, total: float) -> None:
        """Set singular values and rank of √s∘(x − x̄), or of √s∘x without an intercept."""
        for name in ("rank_", "singular_"):
            self.__dict__.pop(name, None)
        if problem.matrix.is_sparse or problem.by_column is not None:
            return
        if problem.p > problem.n:
            Z = np.array(problem.matrix.rows, dtype=np.float64)
            if self.fit_intercept:
                Z -= problem.rows.means
            values = scipy.linalg.svdvals(np.sqrt(total * problem.weights)[:, None] * Z)
        else:
            gram = total * problem.least_squares.reduced()[0]
            values = np.sqrt(np.maximum(np.linalg.eigvalsh(gram)[::-1], 0.0))
        self.singular_ = values.astype(problem.matrix.dtype, copy=False)
        self.rank_ = int(np.sum(values > NEGLIGIBLE * values[0]))
