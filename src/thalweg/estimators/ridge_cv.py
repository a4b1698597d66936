"""Ridge regression that chooses its alpha, with scikit-learn's face.

    minimise  Σᵢ sᵢ (xᵢᵀw + b − yᵢ)² + alpha‖w‖²      alpha the best of a grid on rows left out

Without `cv` every row is left out in turn, exactly, and no model is fitted for it
(`methods.ridge_spectrum`); with it, folds. All alphas of a fold, and the model in the end, come
from one decomposition, and each has its duality gap.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils import check_scalar
from sklearn.utils._metadata_requests import MetadataRouter, MethodMapping, _routing_enabled
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_method_params

from thalweg.core.choice import BEST, ONE_ERROR, RULES, Choice, choose
from thalweg.core.clock import Clock
from thalweg.core.errors import InputError
from thalweg.core.run import Run
from thalweg.estimators.certified import MANY, check_squares
from thalweg.estimators.folds import Metadata, folds_of, out_of_fold, routed
from thalweg.estimators.regressor import LinearRegressor
from thalweg.estimators.ridge import Ridge
from thalweg.methods.cholesky import Cholesky
from thalweg.methods.ridge_grid import RidgeGrid
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.targets import closed_runs

EXACT = "svd"


class RidgeCV(LinearRegressor):
    """Ridge regression with the best of several alphas: `sklearn.linear_model.RidgeCV`, certified.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,), default=(0.1, 1.0, 10.0)
        Strengths of the penalty to choose from; above 0, with `cv` also 0.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    scoring : str or callable, default=None
        What is to be large on rows left out; None is the negative mean squared error without
        `cv`, and R² with it.
    cv : int, splitter or iterable, default=None
        Folds; None leaves out every row in turn.
    gcv_mode : {"auto", "svd", "eigen"}, default=None
        "svd" decomposes X itself. Otherwise that is done where its squares would lose digits.
    store_cv_results : bool, default=False
        Whether to keep `cv_results_`; without `cv` alone.
    alpha_per_target : bool, default=False
        Whether every target is to have an alpha of its own; without `cv` alone.
    rule : {"best", "one-standard-error"}, default="best"
        "best" takes the alpha with the best mean score, as scikit-learn does,
        "one-standard-error" the largest alpha whose mean is within one standard error of that.
    tol : float, default=1e-6
        Thalweg's tolerance: a fit's duality gap, a proven bound on the distance to the optimum, is
        at most tol times the objective of the best constant prediction.

    Attributes
    ----------
    alpha_, best_score_, coef_, intercept_, cv_results_, n_features_in_, feature_names_in_
        As in scikit-learn; `best_score_` is that of `alpha_`, by any rule.
    choice_ : Choice
        The alpha that was chosen with its mean score and its standard error; a list where every
        target has its own.
    out_of_fold_ : float array of shape (n_samples,) or (n_samples, n_targets)
        Predictions of each row, for `alpha_`, by models that had not seen it; NaN where never
        tested.
    gaps_ : float array of shape (n_alphas, n_targets) or (n_folds, n_alphas, n_targets)
        The duality gap of every fit; NaN for alpha = 0.
    method_, certificate_, history_, runs_
        The method, the proof, the trace and the run itself; lists for several targets.

    >>> import numpy as np, thalweg as tw
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = tw.RidgeCV(alphas=[0.01, 100.0]).fit(X, [0.0, 1.1, 1.9, 3.0])
    >>> model.alpha_, model.certificate_.holds
    (0.01, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alphas": ["array-like", Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "cv": ["cv_object"],
        "gcv_mode": [StrOptions({"auto", "svd", "eigen"}), None],
        "store_cv_results": ["boolean"],
        "alpha_per_target": ["boolean"],
        "rule": [StrOptions(set(RULES))],
        "tol": [Interval(Real, 0, None, closed="neither")],
    }
    random_state = None
    _most_iterations = MANY

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        gcv_mode: str | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
        rule: str = BEST,
        tol: float = 1e-6,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target
        self.rule = rule
        self.tol = tol

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> RidgeCV:
        """Fit to X, float[n, p], and y, float[n] or [n, targets], samples weighted if wished.

        `params` go to the scorer and the splitter, where metadata routing is enabled.
        """
        alphas = self._checked_alphas()
        metadata = routed(self, sample_weight, params)
        X, y, weights = self._checked(X, y, sample_weight)
        columns = y.reshape(len(y), -1).astype(np.float64, copy=False)
        problem = _problem(X, columns, weights, self.fit_intercept)
        check_squares(problem)
        fitted = self._attributes(X, y)
        told = self._told(X, y, sample_weight, [None] * columns.shape[1], problem.dim, fitted)
        decomposed = None
        if self.cv is None:
            decomposed = self._leave_one_out(problem, y, columns, weights, alphas, metadata)
        else:
            self._cross_validate(X, y, weights, alphas, metadata)
        chosen = np.broadcast_to(self.alpha_, columns.shape[1]).astype(np.float64)
        clock = Clock()
        penalties = [(0.0, float(l2)) for l2 in chosen / _total(y, weights)]
        runs = None
        if not told.is_heard and float(chosen.min()) > 0.0:
            runs = self._closed(problem, columns, penalties, decomposed, clock)
        if runs is None:
            first = problem.replaced(l2=penalties[0][1])
            runs = self._run_targets(first, columns, penalties, Cholesky.name, told)
        self._keep(runs, fitted)
        told.end()
        return self

    def _checked_alphas(self) -> np.ndarray:
        """The alphas, float64[K]."""
        if self.cv is not None:
            for name in ("store_cv_results", "alpha_per_target"):
                if getattr(self, name):
                    raise InputError(
                        f"cv!=None and {name}=True are incompatible: leave cv out to leave out "
                        "every row in turn"
                    )
        alphas = [self.alphas] if np.ndim(self.alphas) == 0 else list(self.alphas)
        bounds: Any = {"min_val": 0.0, "target_type": Real}
        bounds["include_boundaries"] = "neither" if self.cv is None else "left"
        for k, alpha in enumerate(alphas):
            check_scalar(alpha, "alphas" if len(alphas) == 1 else f"alphas[{k}]", **bounds)
        return np.array(alphas, dtype=np.float64)

    def _leave_one_out(
        self,
        problem: LinearProblem,
        y: np.ndarray,
        Y: np.ndarray,
        weights: np.ndarray | None,
        alphas: np.ndarray,
        metadata: Metadata,
    ) -> RidgeGrid:
        """Choose by leaving out every row in turn."""
        n, T = Y.shape
        is_exact = self.gcv_mode == EXACT
        if is_exact and problem.matrix.is_sparse:
            is_exact = False
            warnings.warn(
                "The 'svd' mode is not supported for sparse X, whose squares are decomposed "
                "instead: leave gcv_mode out",
                FutureWarning,
                stacklevel=4,
            )
        grid = RidgeGrid(problem, Y, alphas / _total(Y, weights), is_exact)
        gaps = self._proved(grid, problem, Y)
        self.gaps_ = gaps
        errors = grid.errors()
        predictions = Y[:, None, :] - errors  # [n, K, T]
        each = self.alpha_per_target and T > 1
        if self.scoring is None:
            s = 1.0 if weights is None else weights[:, None, None]
            results = s * errors**2
            scores = -results if each else -results.mean(axis=2, keepdims=True)
            measure = f"minus the mean squared error of {n} rows, each left out in turn,"
        else:
            if self.rule == ONE_ERROR:
                raise InputError(
                    "rule='one-standard-error' needs the score of more than one fold, and "
                    f"scoring={self.scoring!r} is one of all rows: give cv=5, or leave scoring out"
                )
            results = predictions
            scores = self._scored(y, predictions, each, metadata)
            measure = f"{_name(self.scoring)} of {n} rows, each left out in turn,"
        chosen = [
            choose(scores[:, :, k], alphas, _penalties(alphas), measure, self.rule)
            for k in range(scores.shape[2])
        ]
        if self.store_cv_results:
            kept = results.transpose(0, 2, 1).astype(grid.dtype)
            self.cv_results_ = kept[:, 0, :] if y.ndim == 1 else kept
        indices = np.broadcast_to([choice.index for choice in chosen], T)
        self.out_of_fold_ = predictions[:, indices, np.arange(T)].reshape(y.shape)
        self._note(chosen, each)
        return grid

    def _proved(self, grid: RidgeGrid, problem: LinearProblem, Y: np.ndarray) -> np.ndarray:
        """The gaps of the fits of a grid, float64[K, T]; a warning where one is too large."""
        gaps = grid.gaps()
        missed = gaps > self.tol * grid.scales
        if np.any(missed):
            warnings.warn(
                f"{np.count_nonzero(missed)} of {missed.size} fits along the grid were not shown "
                f"to be within tol={self.tol:g}, the furthest by {gaps[missed].max():.3g}: use "
                "gcv_mode='svd', or larger alphas",
                ConvergenceWarning,
                stacklevel=5,
            )
        return gaps

    def _scored(
        self, y: np.ndarray, predictions: np.ndarray, each: bool, metadata: Metadata
    ) -> np.ndarray:
        """What the scorer says of predictions, float64[1, K, 1 or T]."""
        scorer, model = self._scorer(), _Foretold()
        K = predictions.shape[1]
        if each:
            scores = [
                [
                    scorer(model, predictions[:, k, t], y[:, t], **metadata.for_score)
                    for t in range(y.shape[1])
                ]
                for k in range(K)
            ]
            return np.array(scores, dtype=np.float64)[None]
        flat = [predictions[:, k].reshape(y.shape) for k in range(K)]
        return np.array(
            [[[scorer(model, each, y, **metadata.for_score)] for each in flat]], dtype=np.float64
        )

    def _cross_validate(
        self,
        X: Any,
        y: np.ndarray,
        weights: np.ndarray | None,
        alphas: np.ndarray,
        metadata: Metadata,
    ) -> None:
        """Choose by folds."""
        folds = folds_of(self.cv, X, y, metadata)
        scorer = self._scorer()
        scores, gaps, predicted = [], [], []
        for fold in folds:
            w = None if weights is None else weights[fold.train]
            models, found = self._fits(X[fold.train], y[fold.train], w, alphas)
            X_test, y_test = X[fold.test], y[fold.test]
            asked = _check_method_params(X, metadata.for_score, indices=fold.test)
            scores.append([scorer(model, X_test, y_test, **asked) for model in models])
            predicted.append(np.stack([model.predict(X_test) for model in models], axis=1))
            gaps.append(found)
        measure = f"{_name(self.scoring or 'r2')} of {len(folds)} folds,"
        choice = choose(np.array(scores), alphas, _penalties(alphas), measure, self.rule)
        self.gaps_ = np.array(gaps)
        left = [each[:, choice.index] for each in predicted]
        self.out_of_fold_ = out_of_fold(len(y), folds, left)
        self._note([choice], False)

    def _fits(
        self, X: Any, y: np.ndarray, weights: np.ndarray | None, alphas: np.ndarray
    ) -> tuple[list[Ridge], np.ndarray]:
        """A fit for each alpha to the rows of a fold, and their gaps, float64[K, T]."""
        Y = y.reshape(len(y), -1).astype(np.float64, copy=False)
        positive = np.flatnonzero(alphas > 0.0)
        gaps = np.full((alphas.size, Y.shape[1]), np.nan)
        models = [Ridge(alpha, fit_intercept=self.fit_intercept) for alpha in alphas.tolist()]
        if positive.size:
            problem = _problem(X, Y, weights, self.fit_intercept)
            grid = RidgeGrid(problem, Y, alphas[positive] / _total(Y, weights), False)
            gaps[positive] = self._proved(grid, problem, Y)
            W, b = grid.fits()
            attributes = self._attributes(X, y)
            for place, k in enumerate(positive):
                here = W[:, place].T
                rows = np.column_stack([here, b[place]]) if self.fit_intercept else here
                models[k].n_features_in_ = X.shape[1]
                for name, value in attributes(list(rows)).items():
                    setattr(models[k], name, value)
        for k in np.flatnonzero(alphas == 0.0):
            models[k].set_params(tol=self.tol).fit(X, y, weights)
        return models, gaps

    def _closed(
        self,
        problem: LinearProblem,
        Y: np.ndarray,
        penalties: list[tuple[float, float]],
        grid: RidgeGrid | None,
        clock: Clock,
    ) -> list[Run] | None:
        """The runs of the alphas that were chosen, from the decomposition; None if one fails."""
        found: dict[int, Run] = {}
        for l2 in dict.fromkeys(l2 for _, l2 in penalties):
            members = [k for k, given in enumerate(penalties) if given[1] == l2]
            here = problem.replaced(l2=l2)
            if grid is None:
                grid = RidgeGrid(here, Y, np.array([l2]), False)
            W = grid.near(l2)[:, members]
            about = here.with_features(here.features.centred)
            runs = closed_runs(
                here, about, np.ascontiguousarray(Y[:, members]), W, self.tol, 0, "", clock
            )
            if not all(run.converged for run in runs):
                return None
            found.update(zip(members, runs, strict=True))
        return self._ended(problem, Y, penalties, [found[k] for k in range(len(penalties))])

    def _note(self, chosen: list[Choice], each: bool) -> None:
        """Set what was chosen."""
        self.choice_: Choice | list[Choice]
        self.alpha_: float | np.ndarray
        self.best_score_: float | np.ndarray
        if each:
            self.choice_ = chosen
            self.alpha_ = np.array([choice.penalty["alpha"] for choice in chosen])
            self.best_score_ = np.array([choice.score for choice in chosen])
            return
        (choice,) = chosen
        self.choice_ = choice
        self.alpha_, self.best_score_ = choice.penalty["alpha"], choice.score

    def _scorer(self) -> Any:
        if _routing_enabled() and self.scoring is None:
            return get_scorer("r2").set_score_request(sample_weight=True)
        return check_scoring(estimator=self, scoring=self.scoring, allow_none=True)

    def get_metadata_routing(self) -> MetadataRouter:
        """Who is to get what: the fit itself, the scorer and the splitter."""
        fit_to = MethodMapping().add
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(scorer=self._scorer(), method_mapping=fit_to(caller="fit", callee="score"))
            .add(
                splitter=check_cv(self.cv),
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        )


class _Foretold(RegressorMixin, BaseEstimator):
    """Predicts what it is given: for scorers, which ask a model."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        """X itself."""
        return X


def _problem(
    X: Any, Y: np.ndarray, weights: np.ndarray | None, fit_intercept: bool
) -> LinearProblem:
    """The problem of the first target, without a penalty."""
    return LinearProblem(X, Y[:, 0], fit_intercept=fit_intercept, sample_weight=weights)


def _total(y: np.ndarray, weights: np.ndarray | None) -> float:
    """Σs."""
    return float(len(y) if weights is None else weights.sum())


def _penalties(alphas: np.ndarray) -> list[Any]:
    return [{"alpha": alpha} for alpha in alphas.tolist()]


def _name(scoring: Any) -> str:
    return scoring if isinstance(scoring, str) else "the score"
