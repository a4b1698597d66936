"""Logistic regression of two classes or more, with scikit-learn's face.

    minimise  C Σᵢ sᵢ ℓ(xᵢᵀw + b, yᵢ) + r‖w‖₁ + ½(1 − r)‖w‖²,    r = l1_ratio

with ℓ the logistic loss for two classes, the multinomial one for more, s the weights of samples
times those of their classes, and b free. Divided by CΣs it is a `LinearProblem` with

    l1 = r/(CΣs)        l2 = (1 − r)/(CΣs)

Adding a constant to the scores of all classes changes no probability, so the intercepts are
given that sum to zero, and the coefficients too where no penalty decides.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from joblib import effective_n_jobs
from scipy.special import expit
from sklearn.base import _fit_context
from sklearn.utils import compute_class_weight
from sklearn.utils._param_validation import Hidden, Interval, StrOptions
from sklearn.utils.extmath import softmax
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from thalweg.core.errors import InputError
from thalweg.estimators.callbacks import Attributes
from thalweg.estimators.certified import AUTO, check_classes, chosen_method, refuse
from thalweg.estimators.classifier import LinearClassifier
from thalweg.estimators.held_columns import HELD, HeldColumnsMixin
from thalweg.estimators.inferring import refuse_penalty
from thalweg.estimators.penalised_intercept import with_constant, without_constant
from thalweg.inference.family import LOGISTIC, Family
from thalweg.methods.method import Method
from thalweg.objectives.linear import LinearProblem

DEFAULT_SOLVER = "lbfgs"
DEFAULT_C = 1.0
NEAREST = {"newton-cg": "newton-cg", "newton-cholesky": "newton", "sag": "sag", "saga": "saga"}
UNSET = "deprecated"  # scikit-learn's default for a parameter on its way out


class LogisticRegression(HeldColumnsMixin, LinearClassifier):
    """Logistic regression: `sklearn.linear_model.LogisticRegression`, certified.

    Parameters
    ----------
    penalty : str or None
        scikit-learn's old way to say `l1_ratio` and `C`; a FutureWarning says what to write, and a
        UserWarning that a `C` or an `l1_ratio` beside it says something else.
    C : float, default=1.0
        Inverse strength of the penalty, np.inf for none.
    l1_ratio : float, default=0.0
        Share of the l1 penalty, 0 to 1, with any solver.
    dual : bool, default=False
        True, for solver="liblinear" with l2, stands for method sdca.
    tol : float, default=1e-6
        Thalweg's tolerance, not scikit-learn's: the fit ends when its duality gap, a proven bound
        on the distance to the optimum in units of the mean loss, is at most tol times the mean
        loss of the best constant prediction. Where C is np.inf there is no gap, and the largest
        entry of the gradient is held to tol times what it was at the start, if that is above 1.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is not penalised, but by solver="liblinear".
    intercept_scaling : float, default=1
        For solver="liblinear": the constant feature whose penalised weight the intercept is.
    class_weight : dict, "balanced" or None
        Weights of classes, which multiply those of samples.
    random_state : int, RandomState instance or None, default=None
        Seed of methods that draw; None is 0.
    solver : str, default="lbfgs"
        scikit-learn's names. The default leaves the choice to `method`; others stand for the
        nearest method: "newton-cg", "newton-cholesky" for newton, "sag", "saga", "liblinear" for
        cd with l1, sdca with dual=True, else newton-cg (two classes only, as there).
    max_iter : int, default=100
        Iterations of the method at most.
    verbose : int, default=0
        Whether to show progress.
    warm_start : bool, default=False
        Whether to start from the last fit.
    n_jobs : int, default=None
        Threads; None for as many as there are and limits allow.
    bounds : pair (low, high), default=None
        Of the coefficients of every class: numbers, arrays with one number a column, or None on
        an open side.
    penalty_weight : array-like of shape (n_features,), default=None
        What the penalty of a column is multiplied by; 0 leaves it out of the penalty, and
        1/|w| of an earlier fit makes the adaptive lasso.
    method : str or Method, default="auto"
        A method of `thalweg.minimize`, by name or as an object.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    method_, plan_, certificate_, history_, runs_
        The method, its plan, the proof, the trace, and a list that holds the run.

    >>> import numpy as np, thalweg as tw
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = tw.LogisticRegression().fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[0.5]]).tolist(), model.certificate_.holds
    (['yes'], True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "penalty": [
            StrOptions({"l1", "l2", "elasticnet"}), None, Hidden(StrOptions({UNSET})),
        ],
        "C": [Interval(Real, 0, None, closed="right")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
        "dual": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "random_state": ["random_state"],
        "solver": [StrOptions({DEFAULT_SOLVER, "liblinear", *NEAREST})],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
        "n_jobs": [None, Integral],
        **HELD,
        "method": [str, Method],
    }  # fmt: skip

    def __init__(
        self,
        penalty: str | None = UNSET,
        *,
        C: float = DEFAULT_C,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-6,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = DEFAULT_SOLVER,
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        bounds: Any = None,
        penalty_weight: Any = None,
        method: str | Method = AUTO,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.bounds = bounds
        self.penalty_weight = penalty_weight
        self.method = method

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LogisticRegression:
        """Fit to X, float[n, p], and labels y of any kind, samples weighted if wished."""
        C, ratio = self._penalty()
        method = self._chosen_method(C, ratio)
        X, y, classes, codes = self._labelled(X, y)
        weights = self._weights(X, y, sample_weight, classes, codes)
        problem = self._stated(X, codes, len(classes), weights, C, ratio)
        fitted = self._attributes(problem, classes)
        told = self._told(X, y, sample_weight, [self._start(problem)], problem.dim, fitted)
        run = self._run(problem, method, told)
        self._keep([run], fitted)
        self.n_iter_ = np.array([run.iterations], dtype=np.int32)
        told.end()
        return self

    def _labelled(self, X: Any, y: Any) -> tuple[Any, Any, np.ndarray, np.ndarray]:
        """X and y, checked, the classes and the number of each label among them."""
        X, y = self._validated(X, y, [np.float64, np.float32])
        check_classes(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise InputError(f"y must hold at least two classes, got one class: {classes[0]!r}")
        if len(classes) > 2 and self.solver == "liblinear":
            raise InputError(
                "Only binary classification is supported by solver='liblinear', got "
                f"{len(classes)} classes: use another, or sklearn's OneVsRestClassifier"
            )
        return X, y, classes, codes.astype(np.min_scalar_type(len(classes)))  # short: sorted fast

    def _stated(
        self,
        X: Any,
        codes: np.ndarray,
        count: int,
        weights: np.ndarray | None,
        C: float,
        ratio: float,
    ) -> LinearProblem:
        """The problem of so many classes, of which each has a row."""
        strength = 1.0 / (C * float(len(codes) if weights is None else weights.sum()))
        is_held = self._penalises_intercept
        return LinearProblem(
            with_constant(X, self.intercept_scaling) if is_held else X,
            codes,
            "logistic" if count == 2 else "multinomial",
            l1=ratio * strength,
            l2=(1.0 - ratio) * strength,
            penalty=self._by_column(),
            fit_intercept=self.fit_intercept and not is_held,
            sample_weight=weights,
            threads=None if self.n_jobs is None else effective_n_jobs(self.n_jobs),
        )

    def _attributes(
        self, problem: LinearProblem, classes: np.ndarray
    ) -> Callable[[list[np.ndarray]], Attributes]:
        """What makes scikit-learn's attributes of the variables of a problem."""

        def fitted(variables: list[np.ndarray]) -> Attributes:
            W, b = problem.coefficients(variables[0])
            W, b = np.atleast_2d(W.T), np.atleast_1d(b)
            if self._penalises_intercept:
                W, b = without_constant(W, self.intercept_scaling)
            coefficients = W.astype(self._kept_as(problem), order="C")
            return {"classes_": classes, "coef_": coefficients, "intercept_": b}

        return fitted

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, float[n, K], in the order of `classes_`."""
        check_is_fitted(self)
        if len(self.classes_) == 2:
            positive = expit(self.decision_function(X))
            return np.stack([1 - positive, positive], axis=1)
        return softmax(self.decision_function(X), copy=False)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the probabilities."""
        return np.log(self.predict_proba(X))

    def _penalty(self) -> tuple[float, float]:
        """C and l1_ratio, from the old parameter too."""
        if self.penalty == UNSET:
            if self.l1_ratio is None:
                warnings.warn(
                    "l1_ratio=None is read as 0: write that.", FutureWarning, stacklevel=3
                )
            return self.C, self.l1_ratio or 0.0
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise InputError("l1_ratio must be given for penalty='elasticnet', got None")
        C = math.inf if self.penalty is None else self.C
        ratio = {"l1": 1.0, "elasticnet": self.l1_ratio}.get(self.penalty or "", 0.0) or 0.0
        warnings.warn(
            f"penalty={self.penalty!r} is scikit-learn's old way to write C={C:g}, "
            f"l1_ratio={ratio:g}, and is read so: leave penalty out and write that.",
            FutureWarning,
            stacklevel=3,
        )
        self._warn_of_what_penalty_overrides(ratio)
        return C, float(ratio)

    def _warn_of_what_penalty_overrides(self, ratio: float) -> None:
        idle = []
        if self.penalty is None and self.C != DEFAULT_C:
            idle.append(f"C={self.C:g}")
        if self.l1_ratio is not None and self.l1_ratio != ratio:
            idle.append(f"l1_ratio={self.l1_ratio:g}")
        if idle:
            has = "has" if len(idle) == 1 else "have"
            warnings.warn(
                f"{' and '.join(idle)} {has} no effect beside penalty={self.penalty!r}, which is "
                "followed: leave penalty out and give C and l1_ratio.",
                UserWarning,
                stacklevel=4,
            )

    def _chosen_method(self, C: float, ratio: float) -> str | Method:
        """The method that `method`, `solver` and `dual` ask for."""
        if self.dual and (self.solver != "liblinear" or ratio > 0):
            refuse("dual", True, "it is for solver='liblinear' with l2; use method='sdca'")
        if self.solver == "liblinear" and math.isinf(C):
            refuse("solver", "liblinear", "it needs a finite C; leave it out for C=np.inf")
        if self._penalises_intercept and self._by_column() is not None:
            refuse("solver", "liblinear", "it penalises the intercept as a column; leave it out")
        of_liblinear = "cd" if ratio > 0 else "sdca" if self.dual else "newton-cg"
        nearest = {**NEAREST, "liblinear": of_liblinear}
        return chosen_method(self.method, self.solver, DEFAULT_SOLVER, nearest)

    def _kept_as(self, problem: LinearProblem) -> np.dtype:
        return np.dtype(np.float64) if self.solver == "liblinear" else super()._kept_as(problem)

    @property
    def _has_shared_scores(self) -> bool:
        return True

    def _likelihood(self) -> Family | None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit has told of old parameters
            C, _ = self._penalty()
        self._refuse_held()
        if math.inf > C:
            refuse_penalty("C", C, "np.inf")
        return LOGISTIC if len(self.classes_) == 2 else None

    @property
    def _penalises_intercept(self) -> bool:
        return bool(self.fit_intercept) and self.solver == "liblinear"

    def _weights(
        self, X: Any, y: Any, sample_weight: Any, classes: np.ndarray, codes: np.ndarray
    ) -> np.ndarray | None:
        """Weights of the samples times those of their classes, float64[n]; None for all alike."""
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if self.class_weight is None:
            return sample_weight
        of_class = compute_class_weight(
            self.class_weight, classes=classes, y=y, sample_weight=sample_weight
        )
        return of_class[codes] if sample_weight is None else sample_weight * of_class[codes]

    def _start(self, problem: LinearProblem) -> np.ndarray | None:
        """The last fit as variables of `problem`, where it is to be the start."""
        if not self.warm_start or not hasattr(self, "coef_"):
            return None
        W: Any = self.coef_
        b = self.intercept_
        W = W.toarray() if scipy.sparse.issparse(W) else W  # after sparsify()
        if self._penalises_intercept:
            W = np.column_stack([W, b / self.intercept_scaling])
        w0 = W.T.ravel()
        w0 = np.append(w0, b) if problem.fit_intercept else w0
        if w0.size != problem.dim:
            raise InputError(
                f"warm_start needs as many features and classes as the last fit, which had "
                f"{w0.size} coefficients, not {problem.dim}: use warm_start=False"
            )
        return w0.astype(np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.solver != "liblinear"
        return tags
