"""The elastic net that chooses its alpha, with scikit-learn's face.

    minimise  (1/2Σs) Σᵢ sᵢ (xᵢᵀw + b − yᵢ)² + alpha·r‖w‖₁ + ½ alpha·(1 − r)‖w‖²,   r = l1_ratio

for every alpha of a grid on every fold, from strong to weak (`planner.path_points`); those with the
least mean squared error on the rows left out are chosen, and fitted to all rows. The sums over the
samples of all folds come from one pass over the data (`objectives.fold_sums`).
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import check_scalar
from sklearn.utils._metadata_requests import MetadataRouter, MethodMapping
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import column_or_1d

from thalweg.core.choice import BEST, RULES, choose
from thalweg.core.errors import InputError
from thalweg.estimators.certified import AUTO, check_squares, refuse
from thalweg.estimators.folds import Fold, Metadata, folds_of, out_of_fold, routed
from thalweg.estimators.regressor import LinearRegressor
from thalweg.methods.method import Method
from thalweg.objectives.fold_sums import fold_sums
from thalweg.objectives.least_squares import LeastSquares
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.path import strongest, sums_pay
from thalweg.planner.path_points import PathPoints, path_points

LEAST = float(np.finfo(np.float64).resolution)  # alpha where nothing but it would be zero


class ElasticNetCV(LinearRegressor):
    """The elastic net with the best of many alphas: `sklearn.linear_model.ElasticNetCV`, certified.

    Parameters
    ----------
    l1_ratio : float or list of float, default=0.5
        Share of the l1 penalty, 0 to 1, or several to choose from.
    eps : float, default=1e-3
        The smallest alpha of a grid that is made here, as a part of the largest.
    alphas : int or array-like, default=100
        How many alphas, from the one where all coefficients are zero; or the alphas.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    precompute : "auto" or bool, default="auto"
        Has no effect: sums are made once for all folds, where they pay. A Gram matrix is refused.
    max_iter : int, default=1000
        Iterations of the method at most, at a point.
    tol : float, default=1e-6
        Thalweg's tolerance: the duality gap of every fit, a proven bound on the distance to its
        optimum, is at most tol times the objective of the best constant prediction.
    cv : int, splitter or iterable, default=None
        Folds; None is 5.
    copy_X, verbose, n_jobs : default=True, 0, None
        Have no effect: X is never written to, and threads are as many as there are.
    positive : bool, default=False
        Whether coefficients are to be at least 0; the dual then asks −vⱼ ≤ l1, and not |vⱼ| ≤ l1.
    random_state : int, RandomState instance or None, default=None
        Seed of methods that draw; None is 0.
    selection : str, default="cyclic"
        "random" is refused: it would change the way, not the optimum.
    rule : {"best", "one-standard-error"}, default="best"
        "best" takes the penalty with the least mean error, as scikit-learn does,
        "one-standard-error" the largest alpha whose mean is within one standard error of that.
    method : str or Method, default="auto"
        A method of `thalweg.minimize` for the fit to all rows, by name or as an object.

    Attributes
    ----------
    alpha_, l1_ratio_, alphas_, mse_path_, coef_, intercept_, dual_gap_, n_iter_
        As in scikit-learn, with n_features_in_ and feature_names_in_.
    choice_ : Choice
        The penalty that was chosen with its mean error and the standard error of that.
    out_of_fold_ : float array of shape (n_samples,)
        Predictions of each row, for the chosen penalty, by models that had not seen it; NaN where
        never tested.
    gaps_ : float array of shape (n_l1_ratios, n_folds, n_alphas)
        The duality gap of every fit; NaN where there is no penalty.
    method_, plan_, certificate_, history_, runs_
        The method, its plan, the proof, the trace and the run of the fit to all rows.

    >>> import numpy as np, thalweg as tw
    >>> X = np.arange(12.0)[:, None] % 5
    >>> model = tw.ElasticNetCV(cv=3).fit(X, 2.0 * X[:, 0])
    >>> model.alphas_.shape, bool(model.alpha_ == model.alphas_[-1]), model.certificate_.holds
    ((100,), True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), "array-like"],
        "eps": [Interval(Real, 0, None, closed="neither")],
        "alphas": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "fit_intercept": ["boolean"],
        "precompute": [StrOptions({"auto"}), "array-like", "boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "cv": ["cv_object"],
        "copy_X": ["boolean"],
        "verbose": ["verbose"],
        "n_jobs": [Integral, None],
        "positive": ["boolean"],
        "random_state": ["random_state"],
        "selection": [StrOptions({"cyclic", "random"})],
        "rule": [StrOptions(set(RULES))],
        "method": [str, Method],
    }

    def __init__(
        self,
        *,
        l1_ratio: Any = 0.5,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-6,
        cv: Any = None,
        copy_X: bool = True,
        verbose: int = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        rule: str = BEST,
        method: str | Method = AUTO,
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.rule = rule
        self.method = method

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> ElasticNetCV:
        """Fit to X, float[n, p], and y, float[n], samples weighted if wished.

        `params` go to the splitter, where metadata routing is enabled.
        """
        self._refuse_what_cannot_be_honoured()
        metadata = routed(self, sample_weight, params)
        sample_weight = None if isinstance(sample_weight, Real) else sample_weight
        X, y, weights = self._checked(X, y, sample_weight)
        y = self._one_target(y)
        fitted = self._attributes(X, y)
        problem = LinearProblem(
            X,
            y,
            penalty=self._by_column(),
            fit_intercept=self.fit_intercept,
            sample_weight=weights,
        )
        check_squares(problem)
        told = self._told(X, y, sample_weight, [None], problem.dim, fitted)
        self._choose(problem, X, y, weights, metadata)
        alpha, ratio = self.alpha_, self.choice_.penalty.get("l1_ratio", 1.0)
        run = self._run(
            problem.replaced(l1=alpha * ratio, l2=alpha * (1.0 - ratio)), self.method, told
        )
        self._keep([run], fitted)
        self.n_iter_ = run.iterations
        self.dual_gap_ = np.nan if run.certificate.gap is None else run.certificate.gap
        told.end()
        return self

    def _choose(
        self,
        problem: LinearProblem,
        X: Any,
        y: np.ndarray,
        weights: np.ndarray | None,
        metadata: Metadata,
    ) -> None:
        """Walk the paths of all folds; sets the choice and what it was chosen by."""
        folds = folds_of(self.cv, X, y, metadata)
        ratios = [float(ratio) for ratio in np.atleast_1d(self._ratios)]
        grids = np.array([self._grid(problem, ratio) for ratio in ratios])
        sums = None
        if sums_pay(problem):
            everything = np.arange(len(y))
            sums = fold_sums(problem, [everything, *(fold.train for fold in folds)])
        if sums is not None:
            problem.take_sums(sums[0])
        L, F, K = len(ratios), len(folds), grids.shape[1]
        errors, gaps = np.empty((L, F, K)), np.empty((L, F, K))
        kept: list[list[Any]] = [[] for _ in ratios]
        missed = 0
        for f, fold in enumerate(folds):
            here = self._part(X, y, weights, fold, None if sums is None else sums[f + 1])
            for r, ratio in enumerate(ratios):
                found = self._walked(here, grids[r], ratio)
                missed += int(np.count_nonzero(~found.is_done))
                gaps[r, f] = found.gaps
                residuals = _scores(X[fold.test], found.W, self.fit_intercept) - y[fold.test, None]
                s = None if weights is None else weights[fold.test]
                errors[r, f] = np.average(residuals**2, axis=0, weights=s)
                kept[r].append(scipy.sparse.csr_array(found.W))
        if missed:
            warnings.warn(
                f"{missed} of {gaps.size} fits along the paths did not reach tol={self.tol:g}, "
                "see gaps_: use a larger tol, max_iter or eps",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.gaps_ = gaps
        self.mse_path_ = np.squeeze(np.moveaxis(errors, 2, 1))
        self.alphas_ = grids[0] if L == 1 or np.ndim(self.alphas) else grids
        points = [
            self._named(alpha, ratio)
            for ratio, grid in zip(ratios, grids, strict=True)
            for alpha in grid.tolist()
        ]
        measure = f"minus the mean squared error of {F} folds,"
        scores = -np.moveaxis(errors, 1, 0).reshape(F, -1)
        self.choice_ = choose(scores, grids.ravel(), points, measure, self.rule)
        self.alpha_ = self.choice_.penalty["alpha"]
        r, k = divmod(self.choice_.index, K)
        self._note_ratio(ratios[r])
        left = [
            _scores(X[fold.test], points[[k]].toarray(), self.fit_intercept)[:, 0]
            for fold, points in zip(folds, kept[r], strict=True)
        ]
        self.out_of_fold_ = out_of_fold(len(y), folds, left)

    def _part(
        self,
        X: Any,
        y: np.ndarray,
        weights: np.ndarray | None,
        fold: Fold,
        sums: LeastSquares | None,
    ) -> LinearProblem:
        """The problem on the rows that a fold is fitted to."""
        rows = fold.train
        part = LinearProblem(
            X[rows],
            y[rows],
            penalty=self._by_column(),
            fit_intercept=self.fit_intercept,
            sample_weight=None if weights is None else weights[rows],
        )
        if sums is not None:
            part.take_sums(sums)
        return part

    def _walked(self, problem: LinearProblem, alphas: np.ndarray, ratio: float) -> PathPoints:
        """The points of a path."""
        return path_points(
            problem,
            alphas * ratio,
            alphas * (1.0 - ratio),
            tol=self.tol,
            max_iter=self._most_iterations,
        )

    def _grid(self, problem: LinearProblem, ratio: float) -> np.ndarray:
        """The alphas, the largest first, float64[K]."""
        if np.ndim(self.alphas) or not isinstance(self.alphas, Integral):
            for k, alpha in enumerate(self.alphas):
                check_scalar(
                    alpha, f"alphas[{k}]", target_type=Real, min_val=0.0, include_boundaries="left"
                )
            return np.sort(np.asarray(self.alphas, dtype=np.float64))[::-1]
        if ratio == 0.0:
            raise InputError(
                "l1_ratio must be above 0 for a grid of alphas made here (Automatic alpha grid "
                "generation is not supported for l1_ratio=0): give alphas=[10.0, 1.0, 0.1]"
            )
        top = strongest(problem) / ratio
        if not top > LEAST:
            return np.full(self.alphas, LEAST)
        return np.geomspace(top, self.eps * top, self.alphas)

    @property
    def _ratios(self) -> Any:
        return self.l1_ratio

    def _named(self, alpha: float, ratio: float) -> dict[str, float]:
        """A penalty, by the names of its parameters."""
        return {"alpha": alpha, "l1_ratio": ratio}

    def _note_ratio(self, ratio: float) -> None:
        self.l1_ratio_ = ratio

    def _one_target(self, y: np.ndarray) -> np.ndarray:
        if y.ndim > 1 and y.shape[1] > 1:
            raise InputError(
                f"For multi-task outputs, use MultiTask{type(self).__name__}: y must have one "
                f"column here, got {y.shape[1]}"
            )
        return column_or_1d(y, warn=True)

    def _refuse_what_cannot_be_honoured(self) -> None:
        if self.selection == "random":
            refuse("selection", "random", "leave it at 'cyclic'; the optimum is the same")
        if not isinstance(self.precompute, bool | np.bool_ | str):
            refuse("precompute", "a Gram matrix", "leave it out, sums are made once for all folds")

    def get_metadata_routing(self) -> MetadataRouter:
        """Who is to get what: the fit itself and the splitter."""
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                splitter=check_cv(self.cv),
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


def _scores(X: Any, W: np.ndarray, fit_intercept: bool) -> np.ndarray:
    """Scores of rows by every point, float64[n, K]."""
    if not fit_intercept:
        return np.asarray(X @ W.T, dtype=np.float64)
    return np.asarray(X @ W[:, :-1].T, dtype=np.float64) + W[:, -1]
