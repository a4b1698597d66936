"""What all estimators share: a fit is a run, and what the run found, proved and cost is kept.

An estimator states its model as one `LinearProblem`, or one for every target or class, and hands
each to `minimize`. A run that ends before the tolerance is a `ConvergenceWarning`, whose text is
the run's own reason: how far it came, why, and what would help.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, NoReturn

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from thalweg.core.certificate import Certificate
from thalweg.core.errors import InputError
from thalweg.core.plan import Plan
from thalweg.core.run import Run
from thalweg.core.trace import Trace
from thalweg.estimators.callbacks import Attributes, CallbackSupportMixin, Told
from thalweg.estimators.precision import at_precision
from thalweg.methods.method import Method
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.minimize import minimize
from thalweg.planner.targets import minimize_targets, of_target

AUTO = "auto"
MANY = 10_000  # iterations, where max_iter is None
SEEDS = 2**31  # seeds drawn from a generator are below this
# What a check depends on by value alone.
PLAIN = {bool, int, float, str, type(None), np.float64, np.int64, np.bool_}
MOST_VALID = 10_000  # sets of parameters that are remembered
CLEARLY = 0.4  # of the samples: a range of whole numbers in which they have to be often alike
_valid: set[tuple[Any, ...]] = set()


class CertifiedMixin(CallbackSupportMixin):
    """Fits by `minimize`, and keeps its runs: one, or one for every target or class."""

    runs_: list[Run]
    tol: float
    max_iter: int | None
    random_state: Any

    @property
    def method_(self) -> str | list[str]:
        """The method that ran; a list where there were several runs."""
        return self._of_runs(lambda run: run.method)

    @property
    def plan_(self) -> Any:
        """The plan that was followed, None where the method was given; a list for several runs."""
        return self._of_runs(lambda run: getattr(run, "plan", None))

    @property
    def certificate_(self) -> Certificate | list[Certificate]:
        """How far the fit is from the optimum, provably; a list where there were several runs."""
        return self._of_runs(lambda run: run.certificate)

    @property
    def history_(self) -> Trace | list[Trace]:
        """The trace of the run: value, gap and seconds by iteration; a list for several runs."""
        return self._of_runs(lambda run: run.trace)

    def report(self) -> str:
        """Outcome, certificate, method and cost of the fit, as text."""
        check_is_fitted(self, "runs_")
        names = [""] if len(self.runs_) == 1 else [f", {name}" for name in self._names_of_runs()]
        told = [
            f"{type(self).__name__}{name}\n{run!r}"
            for name, run in zip(names, self.runs_, strict=True)
        ]
        return "\n\n".join(told)

    def _names_of_runs(self) -> list[str]:
        """What each of several runs was for."""
        return [f"target {k}" for k in range(len(self.runs_))]

    def _of_runs(self, view: Callable[[Run], Any]) -> Any:
        check_is_fitted(self, "runs_")
        views = [view(run) for run in self.runs_]
        return views[0] if len(views) == 1 else views

    def _told(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        starts: list[np.ndarray | None],
        dim: int,
        fitted: Callable[[list[np.ndarray]], Attributes],
    ) -> Told:
        """Begin the fit for callbacks: runs from `starts`, or from zero, in `dim` variables."""
        # In double for any X: kernels compute so, and float32 would stall short of a small tol.
        known = [np.zeros(dim) if w0 is None else w0 for w0 in starts]
        most = self._most_iterations
        return Told(self, X, y, sample_weight, starts=known, max_iter=most, fitted=fitted)

    def _run(
        self, problem: LinearProblem, method: str | Method | Plan, told: Told, k: int = 0
    ) -> Run:
        """Minimise from the start of run k, and warn if the tolerance was not reached."""
        check_squares(problem)
        start = told.at[k]
        listener = told.run(k)
        run = minimize(
            problem,
            method,
            start,
            tol=self.tol,
            max_iter=self._most_iterations,
            seed=_seed(self.random_state),
            callback=listener,
            progress=bool(getattr(self, "verbose", 0)),
        )
        run = at_precision(problem, self._settled(problem, run), self._kept_as(problem))
        is_wished = False
        if listener is not None:
            listener.end(run.w)
            is_wished = listener.has_stopped
        if not is_wished:
            _warn(problem, run)
        return run

    def _run_targets(
        self,
        problem: LinearProblem,
        Y: np.ndarray,
        penalties: list[tuple[float, float]],
        method: str | Method,
        told: Told,
    ) -> list[Run]:
        """A run for each column of `Y`, float64[n, T], with its (l1, l2).

        All at once where nobody listens to the single ones. `problem` is that of the first column.
        """
        if told.is_heard or len(penalties) == 1:
            each = (of_target(problem, Y, penalties, k) for k in range(len(penalties)))
            return [self._run(alone, method, told, k) for k, alone in enumerate(each)]
        check_squares(problem)
        runs = minimize_targets(
            problem,
            Y,
            penalties,
            method,
            told.at,
            tol=self.tol,
            max_iter=self._most_iterations,
            seed=_seed(self.random_state),
            progress=bool(getattr(self, "verbose", 0)),
        )
        return self._ended(problem, Y, penalties, runs)

    def _ended(
        self,
        problem: LinearProblem,
        Y: np.ndarray,
        penalties: list[tuple[float, float]],
        runs: list[Run],
    ) -> list[Run]:
        """Runs of the columns of `Y`, ended as an estimator promises; warns as `_run` does."""
        ended, dtype = list(runs), self._kept_as(problem)
        for k, run in enumerate(runs):
            if run.converged and self._is_settled(run) and dtype == np.float64:
                continue  # to state the problem of a target takes longer than its share of a fit
            alone = of_target(problem, Y, penalties, k)
            ended[k] = at_precision(alone, self._settled(alone, run), dtype)
            _warn(alone, ended[k])
        return ended

    def _kept_as(self, problem: LinearProblem) -> np.dtype:
        """The type of coefficients, as scikit-learn's are: that of X."""
        return np.dtype(problem.matrix.dtype)

    def _is_settled(self, run: Run) -> bool:
        """Whether a run that converged is all that an estimator promises, whatever the problem."""
        return True

    def _settled(self, problem: LinearProblem, run: Run) -> Run:
        """The run, ended where an estimator promises more than a minimum."""
        return run

    def _keep(self, runs: list[Run], fitted: Callable[[list[np.ndarray]], Attributes]) -> None:
        """Set the runs, and the attributes that they found."""
        self.runs_ = runs
        for name, value in fitted([run.w for run in runs]).items():
            setattr(self, name, value)

    @property
    def _most_iterations(self) -> int:
        return MANY if self.max_iter is None else self.max_iter

    def _validate_params(self) -> None:
        """Check the parameters, as scikit-learn does; plain values that passed once, no more."""
        values = tuple(getattr(self, name) for name in self._parameter_constraints)
        kinds = tuple(map(type, values))
        if not PLAIN.issuperset(kinds):
            super()._validate_params()
            return
        key = (type(self), kinds, values)
        if key not in _valid:
            super()._validate_params()
            if len(_valid) >= MOST_VALID:
                _valid.clear()
            _valid.add(key)

    def _validated(self, X: Any, y: Any, dtypes: list[type], **kinds: bool) -> tuple[Any, Any]:
        """X and y as arrays, names of features noted; a sparse X has each entry once."""
        if _is_ordinary(X, y, dtypes, axes=2 if kinds.get("multi_output") else 1):
            # All that scikit-learn would do with these, which takes as long as a small fit.
            self.n_features_in_ = X.shape[1]
            if hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            return X, y
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=dtypes,
            ensure_all_finite=False,  # LinearProblem looks, and names the row and the column
            **kinds,
        )
        if scipy.sparse.issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X, y


def _is_ordinary(X: Any, y: Any, dtypes: list[type], axes: int) -> bool:
    """Whether both are plain arrays of numbers that need no conversion, and y is finite.

    y has so many axes at most.
    """
    return (
        type(X) is np.ndarray
        and type(y) is np.ndarray
        and X.ndim == 2
        and 1 <= y.ndim <= axes
        and X.dtype in dtypes
        and y.dtype.kind in "iufb"
        and len(X) == len(y) > 0
        and min(X.shape[1], y.size) > 0
        and bool(np.isfinite(y).all())
    )


def check_classes(y: np.ndarray) -> None:
    """Raise, as scikit-learn does, where y holds no labels; whole numbers are some.

    It warns where they are hardly ever alike, as of a regression.
    """
    if y.dtype.kind not in "iub" or int(y.max()) - int(y.min()) >= CLEARLY * len(y):
        check_classification_targets(y)


def chosen_method(
    method: str | Method, solver: str, default: str, nearest: Mapping[str, str]
) -> str | Method:
    """What `method` asks for, or the method `nearest` to a solver that is not the default one."""
    if solver == default:
        return method
    if method != AUTO:
        raise InputError(
            f"method must be 'auto' where solver={solver!r} is given, got {method!r}: "
            "leave one of the two out"
        )
    return nearest[solver]


def refuse(name: str, value: Any, way_out: str) -> NoReturn:
    """Raise: this value of a parameter of scikit-learn's cannot be honoured here."""
    raise InputError(f"{name} must not be {value!r} here: {way_out}")


def check_squares(problem: LinearProblem) -> None:
    """Raise where the squares of a column are beyond the range of a double: no method can begin."""
    bad = problem.rows.too_large
    if bad.size:
        raise InputError(
            f"X must have squares below {sys.float_info.max:.3g}, got larger ones in column "
            f"{bad[0]}: divide it by its largest entry"
        )


def _warn(problem: LinearProblem, run: Run) -> None:
    """Tell of a run that did not reach the tolerance."""
    if not (run.converged or is_exact(problem, run)):
        warnings.warn(run.reason, ConvergenceWarning, stacklevel=4)


def is_exact(problem: LinearProblem, run: Run) -> bool:
    """Whether F is zero but for rounding, where no relative tolerance can be met: F ≥ F* ≥ 0."""
    return run.value <= sys.float_info.epsilon * problem.value(np.zeros(problem.dim))


def _seed(random_state: Any) -> int:
    """The seed of a run; None is 0, so that a fit can be repeated."""
    if random_state is None:
        return 0
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(SEEDS - 1))
