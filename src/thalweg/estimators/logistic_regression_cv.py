"""Logistic regression that chooses its C, with scikit-learn's face.

    minimise  C Σᵢ sᵢ ℓ(xᵢᵀw + b, yᵢ) + r‖w‖₁ + ½(1 − r)‖w‖²,    r an l1_ratio

for every C of a grid on every fold, from strong penalties to weak, each begun at the one before;
those with the best mean score on the rows left out are chosen, and fitted to all rows. Every fit is
proved, and one that is not is told of.

A class without a row in a fold stands there with a row of no weight, so that all folds have the
same classes.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils._metadata_requests import MetadataRouter, MethodMapping
from sklearn.utils._param_validation import Hidden, Interval, StrOptions
from sklearn.utils.validation import _check_method_params

from thalweg.core.choice import BEST, RULES, choose
from thalweg.core.errors import InputError
from thalweg.estimators.certified import AUTO
from thalweg.estimators.folds import Fold, Metadata, folds_of, out_of_fold, routed
from thalweg.estimators.logistic_regression import (
    DEFAULT_SOLVER,
    NEAREST,
    UNSET,
    LogisticRegression,
)
from thalweg.estimators.walk import Walk, mean_of_best, new_shapes, old_shapes
from thalweg.methods.method import Method
from thalweg.planner.minimize import minimize

LOG_LEAST, LOG_MOST = -4, 4  # of the Cs that are made here, as in scikit-learn


class Labelled(NamedTuple):
    """All rows of a fit."""

    X: Any  # float[n, p]
    y: Any  # labels as they came
    codes: np.ndarray  # their numbers, int[n]
    weights: np.ndarray | None  # with those of classes, float64[n]


class LogisticRegressionCV(LogisticRegression):
    """The best of many Cs: `sklearn.linear_model.LogisticRegressionCV`, certified.

    Parameters
    ----------
    Cs : int or list of float, default=10
        How many inverse strengths, from 10⁻⁴ to 10⁴; or the Cs.
    l1_ratios : list of float, default=None
        Shares of the l1 penalty to choose from, with any solver; None is 0 alone.
    fit_intercept, dual, solver, class_weight, n_jobs, verbose, intercept_scaling, random_state
        As of `LogisticRegression`; weights of balanced classes are those of all rows.
    cv : int, splitter or iterable, default=None
        Folds; None is 5, with the classes in equal shares.
    penalty : str, default="deprecated"
        scikit-learn's old way to say `l1_ratios`; a FutureWarning says what to write.
    scoring : str or callable, default=None
        What the rows left out are scored by; None is accuracy.
    tol : float, default=1e-6
        Thalweg's tolerance: the duality gap of every fit, a proven bound on the distance to its
        optimum, is at most tol times the mean loss of the best constant prediction.
    max_iter : int, default=100
        Iterations of the method at most, at a point.
    refit : bool, default=True
        Whether to fit the chosen penalty to all rows. Without, coefficients are the mean of those
        of the folds, each at its own best penalty, and nothing is proved of them.
    use_legacy_attributes : bool, default=True
        Whether `C_`, `l1_ratio_`, `scores_`, `coefs_paths_` and `n_iter_` have scikit-learn's old
        shapes, a dict of classes where each has the same numbers.
    rule : {"best", "one-standard-error"}, default="best"
        "best" takes the penalty with the best mean score, as scikit-learn does,
        "one-standard-error" the smallest C whose mean is within one standard error of that.
    method : str or Method, default="auto"
        A method of `thalweg.minimize`, by name or as an object.

    Attributes
    ----------
    classes_, coef_, intercept_, Cs_, l1_ratios_, C_, l1_ratio_, scores_, coefs_paths_, n_iter_
        As in scikit-learn, with n_features_in_ and feature_names_in_.
    choice_ : Choice
        The penalty that was chosen with its mean score and the standard error of that.
    out_of_fold_ : float array of shape (n_samples, n_classes)
        Probabilities of each row, for the chosen penalty, by models that had not seen it; NaN
        where never tested.
    gaps_ : float array of shape (n_folds, n_l1_ratios, n_Cs)
        The duality gap of every fit; NaN where there is no penalty.
    method_, plan_, certificate_, history_, runs_
        The method, its plan, the proof, the trace and the run of the fit to all rows; not there
        with refit=False.

    >>> import thalweg as tw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = tw.LogisticRegressionCV(Cs=[0.1, 10.0], scoring="neg_log_loss").fit(X, y)
    >>> model.choice_.penalty["C"], model.certificate_.holds
    (10.0, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "Cs": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "l1_ratios": ["array-like", None, Hidden(StrOptions({"warn"}))],
        "fit_intercept": ["boolean"],
        "cv": ["cv_object"],
        "dual": ["boolean"],
        "penalty": [StrOptions({"l1", "l2", "elasticnet"}), Hidden(StrOptions({UNSET}))],
        "scoring": [
            StrOptions(set(get_scorer_names())), callable, None, Hidden(StrOptions({"warn"})),
        ],
        "solver": [StrOptions({DEFAULT_SOLVER, "liblinear", *NEAREST})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
        "refit": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
        "use_legacy_attributes": ["boolean", Hidden(StrOptions({"warn"}))],
        "rule": [StrOptions(set(RULES))],
        "method": [str, Method],
    }  # fmt: skip

    C_: Any
    l1_ratio_: Any
    coefs_paths_: Any
    scores_: Any

    def __init__(
        self,
        *,
        Cs: Any = 10,
        l1_ratios: Any = None,
        fit_intercept: bool = True,
        cv: Any = None,
        dual: bool = False,
        penalty: str = UNSET,
        scoring: Any = None,
        solver: str = DEFAULT_SOLVER,
        tol: float = 1e-6,
        max_iter: int = 100,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        random_state: Any = None,
        use_legacy_attributes: bool = True,
        rule: str = BEST,
        method: str | Method = AUTO,
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes
        self.rule = rule
        self.method = method

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> LogisticRegressionCV:
        """Fit to X, float[n, p], and labels y of any kind, samples weighted if wished.

        `params` go to the scorer and the splitter, where metadata routing is enabled.
        """
        ratios, Cs = self._grid()
        method = self._chosen_method(float(Cs.min()), max(ratios))
        metadata = routed(self, sample_weight, params)
        X, y, classes, codes = self._labelled(X, y)
        weights = self._weights(X, y, sample_weight, classes, codes)
        self.classes_ = classes
        folds = folds_of(self.cv, X, y, metadata, is_classifier=True)
        rows = Labelled(X, y, codes, weights)
        walks, scores = self._walked(rows, (ratios, Cs), folds, metadata, method)
        points = [{"C": C, "l1_ratio": ratio} for ratio in ratios for C in Cs.tolist()]
        choice = self.choice_ = choose(
            scores.reshape(len(folds), -1), np.tile(1.0 / Cs, len(ratios)), points,
            f"{_name(self.scoring)} of {len(folds)} folds,", self.rule,
        )  # fmt: skip
        r, k = divmod(choice.index, len(Cs))
        left = [
            self._model(each[r].W[k]).predict_proba(X[fold.test])
            for fold, each in zip(folds, walks, strict=True)
        ]
        self.out_of_fold_ = out_of_fold(len(y), folds, left)
        self.gaps_ = np.array([[walk.gaps for walk in each] for each in walks])
        C, ratio = choice.penalty["C"], choice.penalty["l1_ratio"]
        if self.refit:
            start = np.mean([each[r].W[k] for each in walks], axis=0)
            self._fit_all(rows, sample_weight, (C, ratio), method, start)
        else:
            W, C, ratio = mean_of_best(walks, scores, Cs, ratios)
            model = self._model(W)
            self.coef_, self.intercept_ = model.coef_, model.intercept_
        is_plain = self.l1_ratios is None or isinstance(self.l1_ratios, str)
        self.Cs_, self.l1_ratios_ = Cs, np.array([None] if is_plain else self.l1_ratios)
        told = new_shapes(walks, scores, (C, ratio))
        if self.use_legacy_attributes:
            told = old_shapes(told, classes, is_plain)
        for name, value in told.items():
            setattr(self, name, value)
        return self

    def _grid(self) -> tuple[list[float], np.ndarray]:
        """The l1 ratios, and the Cs, the smallest first."""
        given: Any = None if isinstance(self.l1_ratios, str) else self.l1_ratios
        if self.penalty != UNSET:
            warnings.warn(
                f"penalty={self.penalty!r} is scikit-learn's old way to write l1_ratios, and is "
                "read so: leave penalty out and write l1_ratios=[0.0], [1.0] or several.",
                FutureWarning,
                stacklevel=3,
            )
            if self.penalty != "elasticnet":
                given = [1.0 if self.penalty == "l1" else 0.0]
        ratios = [0.0] if given is None and self.penalty != "elasticnet" else given
        is_right = ratios is not None and len(ratios) > 0
        if not is_right or not all(isinstance(r, Real) and 0.0 <= float(r) <= 1.0 for r in ratios):
            raise InputError(
                f"l1_ratios must be an array-like of numbers between 0 and 1, got {ratios!r}: "
                "use l1_ratios=[0.0, 0.5, 1.0]"
            )
        if isinstance(self.Cs, Integral):
            return [float(r) for r in ratios], np.logspace(LOG_LEAST, LOG_MOST, int(self.Cs))
        Cs = np.asarray(self.Cs, dtype=np.float64)
        if Cs.ndim != 1 or not Cs.size or not np.all(Cs > 0.0):
            raise InputError(
                f"Cs must be a number of Cs or a list of them above 0, got {self.Cs!r}: use Cs=10"
            )
        return [float(r) for r in ratios], Cs

    def _walked(
        self,
        rows: Labelled,
        grid: tuple[list[float], np.ndarray],
        folds: list[Fold],
        metadata: Metadata,
        method: str | Method,
    ) -> tuple[list[list[Walk]], np.ndarray]:
        """Walks by fold and ratio, and scores, float64[F, R, K]."""
        ratios, Cs = grid
        X, y = rows.X, rows.y
        scorer = self._scorer()
        walks: list[list[Walk]] = []
        scores = np.empty((len(folds), len(ratios), len(Cs)))
        missed = 0
        for f, fold in enumerate(folds):
            asked = _check_method_params(X, metadata.for_score, indices=fold.test)
            X_test, y_test = X[fold.test], y[fold.test]
            walks.append([])
            for r, ratio in enumerate(ratios):
                walk = self._walk(rows, fold.train, Cs, ratio, method)
                missed += int(np.count_nonzero(~walk.is_done))
                models = [self._model(W) for W in walk.W]
                scores[f, r] = [scorer(model, X_test, y_test, **asked) for model in models]
                walks[f].append(walk)
        if missed:
            warnings.warn(
                f"{missed} of {scores.size} fits along the paths did not reach tol={self.tol:g}, "
                "see gaps_: use a larger tol or max_iter, or smaller Cs",
                ConvergenceWarning,
                stacklevel=4,
            )
        return walks, scores

    def _walk(
        self,
        given: Labelled,
        rows: np.ndarray,
        Cs: np.ndarray,
        ratio: float,
        method: str | Method,
    ) -> Walk:
        """The Cs of one fold, the strongest penalty first; given back in their order."""
        X, _, codes, weights = given
        count = len(self.classes_)
        missing = np.setdiff1d(np.arange(count), codes[rows])
        weights = np.ones(len(codes)) if weights is None and missing.size else weights
        held = None if weights is None else weights[rows]
        if missing.size:
            absent = np.array([np.flatnonzero(codes == k)[0] for k in missing])
            rows = np.append(rows, absent)
            assert held is not None
            held = np.append(held, np.zeros(len(absent)))
        first = self._stated(X[rows], codes[rows], count, held, 1.0, ratio)
        fitted = self._attributes(first, self.classes_)
        found: list[Any] = [None] * len(Cs)
        start = None
        for k in np.argsort(Cs, kind="stable"):
            run = minimize(
                first.replaced(l1=first.l1 / Cs[k], l2=first.l2 / Cs[k]),
                method,
                start,
                tol=self.tol,
                max_iter=self._most_iterations,
                progress=False,
            )
            found[k], start = run, run.w
        W = []
        for run in found:
            told = fitted([run.w])
            parts = [told["coef_"], np.reshape(told["intercept_"], (-1, 1))]
            W.append(np.hstack(parts if self.fit_intercept else parts[:1]))
        return Walk(
            np.array(W, dtype=np.float64),
            np.array([run.iterations for run in found], dtype=np.int32),
            np.array([np.nan if run.certificate.gap is None else run.certificate.gap
                      for run in found]),
            np.array([run.converged for run in found]),
        )  # fmt: skip

    def _model(self, W: np.ndarray) -> LogisticRegression:
        """A fitted model with these coefficients and intercepts."""
        model = LogisticRegression(fit_intercept=self.fit_intercept)
        model.classes_, model.n_features_in_ = self.classes_, self.n_features_in_
        p = self.n_features_in_
        model.coef_ = W[:, :p]
        model.intercept_ = W[:, p] if self.fit_intercept else np.zeros(len(W))
        return model

    def _fit_all(
        self,
        rows: Labelled,
        sample_weight: Any,
        penalty: tuple[float, float],
        method: str | Method,
        start: np.ndarray,
    ) -> None:
        """Fit the penalty that was chosen to all rows, from the mean of the folds."""
        X, y, codes, weights = rows
        problem = self._stated(X, codes, len(self.classes_), weights, *penalty)
        fitted = self._attributes(problem, self.classes_)
        w0 = start.T.ravel()
        if self._penalises_intercept:
            w0[-1] /= self.intercept_scaling
        told = self._told(X, y, sample_weight, [w0], problem.dim, fitted)
        self._keep([self._run(problem, method, told)], fitted)
        told.end()

    def _likelihood(self) -> Any:
        raise InputError(
            "summary needs a fit without a penalty, got one that was chosen: use "
            "LogisticRegression(C=np.inf), or .bootstrap(X, y)"
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> float:
        """What `scoring` says of rows and their labels."""
        scorer = self._scorer()
        if sample_weight is not None:
            params["sample_weight"] = sample_weight
        return float(scorer(self, X, y, **params))

    def _scorer(self) -> Any:
        is_unsaid = self.scoring is None or self.scoring == "warn"
        return get_scorer("accuracy" if is_unsaid else self.scoring)

    def get_metadata_routing(self) -> MetadataRouter:
        """Who is to get what: the fit itself, the splitter and the scorer."""
        score = (
            MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score")
        )
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                splitter=check_cv(self.cv),
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
            .add(scorer=self._scorer(), method_mapping=score)
        )


def _name(scoring: Any) -> str:
    if scoring is None or scoring == "warn":
        return "the accuracy"
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "the score")
