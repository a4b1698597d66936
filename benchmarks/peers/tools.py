"""The tools that are compared: how each is told the same problem, and the knob that is swept.

                scikit-learn            liblinear, celer  snapml            cyanure
    classifier  C = 1/(s l)             C = 1/(s l)       regularizer s l   lambda_1 = l
    ridge       alpha = s l2                              regularizer s l2  lambda_1 = l2
    lasso       alpha = l1              alpha = l1        regularizer s l1  lambda_1 = l1
    both        alpha = l1 + l2, l1_ratio = l1/(l1 + l2)                    lambda_1, lambda_2

with s the sum of the weights, n without, and l the one penalty, l1 or l2, of a classifier; glum and
skglm read like scikit-learn's last row, and so does LogisticRegression with C = 1/(s alpha). The
squared hinge is halved here and not in liblinear, nor in LinearSVC: C = 1/(2 s l). A tool is left
out (`Tool.takes`) where it would penalise the intercept, or does not know such weights.
`prepare` puts the data into the layout that a tool works on (columns, float32, its own nodes)
before the clock starts; Thalweg gets the arrays as they are, and making its problem is timed. A
tool that forms a dense p × p matrix is left out beyond `WIDE` features.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np
from scipy import sparse

from peers.problems import Problem

THREADS = int(os.environ.get("OMP_NUM_THREADS", 2))
WIDE = 5_000  # features: beyond it a dense Hessian takes 200 MB and n p² operations
NARROW = 500  # features: below it sparse data may be had dense
LARGE = 60_000_000  # entries: but not beyond so many
MANY = 100_000  # iterations, so that the tolerance decides

Setting = dict[str, Any]
TOLERANCES: tuple[Setting, ...] = ({"tol": 0.3}, *({"tol": 10.0**-k} for k in range(1, 13)))
PASSES: tuple[Setting, ...] = tuple(
    {"max_iter": k} for k in (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500, 800, 1200)
)
# Thalweg's, without those that no linear problem is fastest with.
METHODS = (
    "cholesky", "newton", "newton-cg", "lbfgs", "sdca", "cd", "sag", "saga", "svrg", "catalyst",
    "fista", "nesterov",
)  # fmt: skip
LIBRARIES = (
    "thalweg.planner.minimize", "sklearn.linear_model", "cyanure.estimators", "skglm", "celer",
    "glum", "snapml", "liblinear.liblinearutil",
)  # fmt: skip


class Weights(IntEnum):
    """Which weights of samples a tool knows."""

    NONE = 0
    BALANCED = 1  # by class, n/(K nₖ)
    CLASSES = 2  # any by class
    ALL = 3


@dataclass(frozen=True)
class Tool:
    """One solver of one library."""

    name: str
    settings: Sequence[Setting]  # from loose to tight
    prepare: Callable[[Problem], Any]  # outside the clock
    fit: Callable[..., np.ndarray]  # fit(prepared, problem, **setting) gives a point
    compiles: bool = False  # when it first meets data of a kind
    weights: Weights = Weights.ALL
    intercept: bool = True  # whether it can have one that is not penalised

    def takes(self, problem: Problem) -> bool:
        """Whether it can be told this very problem."""
        return (self.intercept or not problem.fit_intercept) and self.weights >= weights_of(problem)


def weights_of(problem: Problem) -> Weights:
    """Of which kind they are."""
    s, y = problem.sample_weight, problem.y
    if s is None:
        return Weights.NONE
    if problem.loss in ("squared", "huber") or any(np.ptp(s[y == k]) for k in np.unique(y)):
        return Weights.ALL
    labels, counts = np.unique(y, return_counts=True)
    balanced = problem.n / (len(labels) * counts)
    of_class = [s[y == k][0] for k in labels]
    return Weights.BALANCED if np.allclose(of_class, balanced, rtol=1e-12) else Weights.CLASSES


def missing() -> list[str]:
    """Libraries that are not installed; the others are imported, once for all children."""
    absent = []
    for name in LIBRARIES:
        try:
            importlib.import_module(name)
        except ImportError as error:
            absent.append(f"{name} ({error})")
    return absent


def peers_for(problem: Problem) -> list[Tool]:
    """Every solver of the peers that may be the fastest on this problem, likely ones first."""
    known = {
        "multinomial": multinomial,
        "logistic": logistic,
        "squared-hinge": squared_hinge,
        "huber": huber,
        "squared": sparse_regression if problem.l1 else ridge,
    }[problem.loss]
    return [tool for tool in known(problem) if tool.takes(problem)]


def as_own(problem: Problem) -> Any:
    """Thalweg's problem, from arrays."""
    import thalweg as tw

    return tw.LinearProblem(
        problem.X if problem.raw is None else problem.raw.X,
        problem.y,
        problem.loss,
        l1=problem.l1,
        l2=problem.l2,
        fit_intercept=problem.fit_intercept,
        sample_weight=problem.sample_weight,
        delta=problem.delta,
        standardize=problem.raw is not None,
    )


def point(problem: Problem, own: Any, w: np.ndarray) -> np.ndarray:
    """The point that Thalweg's variables are."""
    raw = problem.raw
    if raw is None:
        return joined(problem, *own.split(w))
    W, b = own.coefficients(w)  # in the units of the raw features
    return joined(problem, (raw.scales * W.T).T, b + raw.places @ W)


def minimized(
    problem: Problem,
    method: str,
    tol: float = 1e-6,
    max_iter: int = MANY,
    time_limit: float | None = None,
) -> tuple[Any, Any]:
    """Thalweg's problem and its run."""
    import thalweg as tw

    own = as_own(problem)
    run = tw.minimize(
        own, method, tol=tol, max_iter=max_iter, time_limit=time_limit, progress=False
    )
    return own, run


def thalweg(method: str = "auto") -> Tool:
    """One method of Thalweg, from arrays to w."""

    def fit(prepared: Any, problem: Problem, **setting: Any) -> np.ndarray:
        own, run = minimized(problem, method, **setting)
        return point(problem, own, run.w)

    # As of cyanure, below: a gap is proven, or looked at, later than it is small.
    settings = (*PASSES[:4], *TOLERANCES)
    return Tool(f"thalweg {method}", settings, lambda problem: None, fit, compiles=True)


def logistic(problem: Problem) -> list[Tool]:
    """Two classes, by penalty."""
    if problem.l1 and problem.l2:
        return logistic_both(problem)
    return logistic_l1(problem) if problem.l1 else logistic_l2(problem)


def logistic_l2(problem: Problem) -> list[Tool]:
    """Two classes, l2."""
    tools = [
        cyanure("qning-miso"),
        cyanure("catalyst-miso"),
        liblinear(7),
        liblinear(0),
        sklearn_logistic("lbfgs"),
        sklearn_logistic("newton-cg"),
        snapml(dual=True),
        snapml(dual=False),
        sklearn_logistic("liblinear"),
        sklearn_logistic("saga", PASSES),
    ]
    if problem.p <= WIDE:
        tools[2:2] = [sklearn_logistic("newton-cholesky", layout=narrow_dense), glum()]
    return tools


def logistic_l1(problem: Problem) -> list[Tool]:
    """Two classes, l1."""
    tools = [
        cyanure("auto"),
        cyanure("auto", "L1Logistic"),
        liblinear(6),
        celer("LogisticRegression"),
        skglm("SparseLogisticRegression"),
        snapml(dual=False),
        sklearn_logistic("liblinear"),
        sklearn_logistic("saga", PASSES),
    ]
    if problem.p <= WIDE:
        tools[:0] = [glum()]
    return tools


def logistic_both(problem: Problem) -> list[Tool]:
    """Two classes, l1 and l2."""
    tools = [cyanure("auto"), skglm("SparseLogisticRegression"), sklearn_logistic("saga", PASSES)]
    return [glum(), *tools] if problem.p <= WIDE else tools


def multinomial(problem: Problem) -> list[Tool]:
    """K classes. The others fit one class against the rest, which is another problem."""
    if problem.l1:
        return [cyanure("auto"), sklearn_logistic("saga", PASSES)]
    tools = [
        cyanure("qning-miso"),
        cyanure("catalyst-miso"),
        sklearn_logistic("lbfgs"),
        sklearn_logistic("newton-cg"),
        sklearn_logistic("saga", PASSES),
    ]
    if problem.p * problem.outputs <= WIDE:
        tools[2:2] = [sklearn_logistic("newton-cholesky", layout=narrow_dense)]
    return tools


def squared_hinge(problem: Problem) -> list[Tool]:
    """Two classes; with both penalties cyanure alone."""
    if problem.l1 and problem.l2:
        return [cyanure("auto")]
    if problem.l1:
        return [cyanure("auto"), liblinear(5), sklearn_svc(dual=False)]
    return [
        cyanure("qning-miso"),
        cyanure("catalyst-miso"),
        liblinear(1),
        liblinear(2),
        sklearn_svc(dual=True),
        sklearn_svc(dual=False),
    ]


def huber(problem: Problem) -> list[Tool]:
    """skglm alone: scikit-learn's HuberRegressor finds the scale as well, another problem."""
    return [skglm_huber()] if problem.l1 or problem.l2 else []


def ridge(problem: Problem) -> list[Tool]:
    """Least squares, l2 or no penalty."""
    exact: tuple[Setting, ...] = ({},)
    tools = [
        sklearn_ridge("cholesky", exact, narrow_dense),
        sklearn_ridge("svd", exact, narrow_dense),
        sklearn_ridge("lsqr"),
        sklearn_ridge("sparse_cg"),
    ]
    if problem.p <= WIDE:
        tools.append(glum())
    if not problem.l2:
        return [*tools, sklearn_least_squares()]
    return [
        *tools,
        snapml(dual=True),
        snapml(dual=False),
        cyanure("qning-miso"),
        cyanure("catalyst-miso"),
        # Of sparse data with an intercept, SAG alone of the two is taken.
        sklearn_ridge("sag" if problem.is_sparse and problem.fit_intercept else "saga", PASSES),
    ]


def sparse_regression(problem: Problem) -> list[Tool]:
    """Least squares, l1 and perhaps l2."""
    tools = [celer("Lasso" if not problem.l2 else "ElasticNet"), sklearn_coordinates()]
    if problem.sample_weight is None:
        tools += [skglm("Lasso" if not problem.l2 else "ElasticNet")]
    elif not problem.is_sparse:  # where skglm 0.5's loss does not compile
        tools += [skglm_weighted()]
    tools += [cyanure("auto")]
    if not problem.l2:
        tools += [cyanure("auto", "Lasso"), snapml(dual=False)]
    if problem.p <= WIDE:
        tools += [sklearn_coordinates(precompute=True), skglm_gram(), glum()]
    return tools


def by_rows(X: Any) -> Any:
    """CSR or C order."""
    return X if sparse.issparse(X) else np.ascontiguousarray(X)


def estimator(
    name: str,
    make: Callable[..., Any],  # make(problem, **setting) gives an unfitted model
    settings: Sequence[Setting] = TOLERANCES,
    layout: Callable[[Any], Any] = by_rows,
    target: Callable[[np.ndarray], np.ndarray] = lambda y: y,
    classes_are_columns: bool = False,
    compiles: bool = False,
    weights: Weights = Weights.ALL,
    intercept: bool = True,
) -> Tool:
    """A tool with scikit-learn's interface."""

    def fit(prepared: Any, problem: Problem, **setting: Any) -> np.ndarray:
        s = problem.sample_weight
        weighting = {"sample_weight": s} if s is not None and weights is Weights.ALL else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of not having converged: that is what is measured
            model = make(problem, **setting).fit(*prepared, **weighting)
        w = np.asarray(model.coef_, dtype=np.float64)
        if problem.loss == "multinomial":
            w = w if classes_are_columns else w.T
        return joined(problem, w, getattr(model, "intercept_", 0.0))

    prepare = lambda problem: (layout(problem.X), target(problem.y))  # noqa: E731
    return Tool(name, settings, prepare, fit, compiles, weights, intercept)


def joined(problem: Problem, W: np.ndarray, b: Any) -> np.ndarray:
    """A point: the coefficients and, if the problem has them, the intercepts."""
    w = np.asarray(W, dtype=np.float64)
    w = w if problem.loss == "multinomial" else w.ravel()
    if not problem.fit_intercept:
        return w
    b = np.ravel(np.asarray(b, dtype=np.float64))
    return np.vstack([w, b]) if w.ndim == 2 else np.append(w, b)


def by_columns(X: Any) -> Any:
    """CSC or Fortran order."""
    return sparse.csc_matrix(X) if sparse.issparse(X) else np.asfortranarray(X)


def narrow_dense(X: Any) -> Any:
    """Dense where there are few columns, else as it is."""
    is_narrow = sparse.issparse(X) and X.shape[1] <= NARROW and X.shape[0] * X.shape[1] <= LARGE
    return X.toarray() if is_narrow else by_rows(X)


def single(X: Any) -> Any:
    """float32."""
    return X.astype(np.float32)


def sklearn_logistic(
    solver: str,
    settings: Sequence[Setting] = TOLERANCES,
    layout: Callable[[Any], Any] = by_rows,
) -> Tool:
    """scikit-learn's LogisticRegression."""

    def make(problem: Problem, tol: float = 1e-15, max_iter: int = MANY) -> Any:
        from sklearn.linear_model import LogisticRegression

        strength = mixed(problem)
        return LogisticRegression(
            C=1.0 / (problem.weight * strength["alpha"]),
            l1_ratio=strength["l1_ratio"],
            solver=solver,
            fit_intercept=problem.fit_intercept,
            tol=tol,
            max_iter=max_iter,
            random_state=0,
        )

    intercept = solver != "liblinear"
    return estimator(f"sklearn {solver}", make, settings, layout, intercept=intercept)


def sklearn_svc(dual: bool) -> Tool:
    """scikit-learn's LinearSVC, which is liblinear with weights."""

    def make(problem: Problem, tol: float) -> Any:
        from sklearn.svm import LinearSVC

        return LinearSVC(
            C=1.0 / (2.0 * problem.weight * (problem.l1 or problem.l2)),
            penalty="l1" if problem.l1 else "l2",
            dual=dual,
            fit_intercept=False,
            tol=tol,
            max_iter=MANY,
            random_state=0,
        )

    return estimator("sklearn LinearSVC" + " dual" * dual, make, intercept=False)


def sklearn_least_squares() -> Tool:
    """scikit-learn's LinearRegression: LAPACK's least squares, or LSQR where X is sparse."""

    def make(problem: Problem, tol: float) -> Any:
        from sklearn.linear_model import LinearRegression

        return LinearRegression(fit_intercept=problem.fit_intercept, tol=tol)

    return estimator("sklearn LinearRegression", make)


def sklearn_ridge(
    solver: str,
    settings: Sequence[Setting] = TOLERANCES,
    layout: Callable[[Any], Any] = by_rows,
) -> Tool:
    """scikit-learn's Ridge."""

    def make(problem: Problem, tol: float = 1e-15, max_iter: int = MANY) -> Any:
        from sklearn.linear_model import Ridge

        return Ridge(
            alpha=problem.weight * problem.l2,
            solver=solver,
            fit_intercept=problem.fit_intercept,
            tol=tol,
            max_iter=max_iter,
            random_state=0,
        )

    return estimator(f"sklearn Ridge {solver}", make, settings, layout)


def mixed(problem: Problem) -> dict[str, float]:
    """alpha and l1_ratio."""
    alpha = problem.l1 + problem.l2
    return {"alpha": alpha, "l1_ratio": problem.l1 / alpha if alpha else 0.0}


def sklearn_coordinates(precompute: bool = False) -> Tool:
    """scikit-learn's ElasticNet, which is its Lasso at l1_ratio 1."""

    def make(problem: Problem, tol: float) -> Any:
        from sklearn.linear_model import ElasticNet

        return ElasticNet(
            **mixed(problem),
            fit_intercept=problem.fit_intercept,
            precompute=precompute,
            tol=tol,
            max_iter=MANY,
        )

    return estimator("sklearn cd" + " gram" * precompute, make, layout=by_columns)


def glum() -> Tool:
    """glum's GLM by its own choice of solver."""

    def make(problem: Problem, tol: float) -> Any:
        from glum import GeneralizedLinearRegressor

        return GeneralizedLinearRegressor(
            **mixed(problem),
            family="binomial" if problem.loss == "logistic" else "normal",
            fit_intercept=problem.fit_intercept,
            gradient_tol=tol,
            max_iter=1000,
        )

    return estimator("glum", make, layout=lambda X: by_columns(narrow_dense(X)), target=zero_one)


def zero_one(y: np.ndarray) -> np.ndarray:
    """0 and 1 instead of ±1; targets as they are."""
    return (y + 1.0) / 2.0 if set(np.unique(y[:1000])) <= {-1.0, 1.0} else y


def celer(kind: str) -> Tool:
    """celer's working sets."""

    def make(problem: Problem, tol: float) -> Any:
        import celer

        if kind == "LogisticRegression":
            strength = {"C": 1.0 / (problem.n * problem.l1)}
        elif kind == "Lasso":
            strength = {"alpha": problem.l1}
        else:
            strength = mixed(problem)
        options = {"fit_intercept": problem.fit_intercept, "tol": tol, "max_iter": 1000}
        return getattr(celer, kind)(**strength, **options)

    has_intercept = kind != "LogisticRegression"
    return estimator(
        "celer", make, layout=by_columns, weights=Weights.NONE, intercept=has_intercept
    )


def skglm(kind: str) -> Tool:
    """skglm's estimators: Anderson coordinate descent, prox-Newton for the logistic loss."""

    def make(problem: Problem, tol: float) -> Any:
        import skglm

        strength = {"alpha": problem.l1} if kind == "Lasso" else mixed(problem)
        options = {"fit_intercept": problem.fit_intercept, "tol": tol, "max_iter": 1000}
        return getattr(skglm, kind)(**strength, **options)

    return estimator("skglm", make, layout=by_columns, compiles=True, weights=Weights.NONE)


def skglm_glm(name: str, datafit: Callable[[Problem], Any], weights: Weights) -> Tool:
    """skglm's Anderson coordinate descent on a loss that none of its estimators has."""

    def make(problem: Problem, tol: float) -> Any:
        from skglm import GeneralizedLinearEstimator
        from skglm.penalties import L1_plus_L2
        from skglm.solvers import AndersonCD

        solver = AndersonCD(fit_intercept=problem.fit_intercept, tol=tol, max_iter=1000)
        penalty = L1_plus_L2(*mixed(problem).values())
        return GeneralizedLinearEstimator(datafit(problem), penalty, solver)

    return estimator(name, make, layout=by_columns, compiles=True, weights=weights)


def skglm_huber() -> Tool:
    """Huber's loss with a given δ."""

    def datafit(problem: Problem) -> Any:
        from skglm.datafits import Huber

        return Huber(problem.delta)

    return skglm_glm("skglm huber", datafit, Weights.NONE)


def skglm_weighted() -> Tool:
    """Least squares with weights, which skglm has as a loss and not as an argument of `fit`."""

    def datafit(problem: Problem) -> Any:
        from skglm.datafits import WeightedQuadratic

        return WeightedQuadratic(problem.sample_weight)

    # It takes weights, but `fit` is not to be given any.
    return replace(skglm_glm("skglm", datafit, Weights.NONE), weights=Weights.ALL)


def skglm_gram() -> Tool:
    """skglm's coordinate descent on the Gram matrix, which its estimators do not reach."""

    def prepare(problem: Problem) -> Any:
        from skglm.penalties import L1_plus_L2
        from skglm.utils.jit_compilation import compiled_clone

        return by_columns(problem.X), compiled_clone(L1_plus_L2(*mixed(problem).values()))

    def fit(prepared: Any, problem: Problem, tol: float) -> np.ndarray:
        from skglm.solvers import GramCD

        X, penalty = prepared
        solver = GramCD(fit_intercept=False, tol=tol, max_iter=MANY)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(solver.solve(X, problem.y, None, penalty)[0])

    return Tool("skglm gram", TOLERANCES, prepare, fit, True, Weights.NONE, intercept=False)


def snapml(dual: bool) -> Tool:
    """snapml's logistic or linear regression, in float32 as it always is."""

    def make(problem: Problem, max_iter: int) -> Any:
        import snapml

        kind = "LogisticRegression" if problem.loss == "logistic" else "LinearRegression"
        balance = {} if problem.sample_weight is None else {"class_weight": "balanced"}
        return getattr(snapml, kind)(
            **balance,
            regularizer=problem.weight * (problem.l1 or problem.l2),
            penalty="l1" if problem.l1 else "l2",
            dual=dual,
            fit_intercept=False,
            tol=1e-12,
            max_iter=max_iter,
            n_jobs=THREADS,
            random_state=0,
        )

    return estimator(
        *("snapml" + " dual" * dual, make, PASSES, lambda X: single(by_rows(X))),
        weights=Weights.BALANCED,
        intercept=False,
    )


def cyanure(solver: str, kind: str = "") -> Tool:
    """cyanure's estimators; L1Logistic and Lasso go by active sets where p > 1000."""

    def make(problem: Problem, tol: float = 1e-15, max_iter: int = MANY) -> Any:
        from cyanure import estimators

        options: dict[str, Any] = {
            "solver": solver,
            "lambda_1": problem.l1 or problem.l2,
            "fit_intercept": problem.fit_intercept,
            "tol": tol,
            "max_iter": max_iter,
            "n_threads": THREADS,
            "verbose": False,
        }
        if kind:
            return getattr(estimators, kind)(**options)
        if problem.l1 and problem.l2:
            options.update(penalty="elasticnet", lambda_2=problem.l2)
        else:
            options["penalty"] = "l1" if problem.l1 else "l2"
        if problem.loss == "squared":
            return estimators.Regression(**options)
        names = {"multinomial": "multiclass-logistic", "squared-hinge": "sqhinge"}
        loss = names.get(problem.loss, problem.loss)
        return estimators.Classifier(loss=loss, **options)

    # Its gap is looked at every fifth or tenth pass: fewer passes are asked for by number.
    settings = (*PASSES[:4], *TOLERANCES)
    return estimator(
        *(f"cyanure {kind or solver}", make, settings),
        classes_are_columns=True,
        weights=Weights.NONE,
    )


def liblinear(kind: int) -> Tool:
    """liblinear's `train -s kind`: logistic 0 primal, 7 dual, 6 l1; squared hinge 2, 1 and 5."""

    def prepare(problem: Problem) -> Any:
        from liblinear.liblinearutil import problem as nodes

        X = sparse.csr_matrix(problem.X)
        return nodes(problem.y, X, 1.0 if problem.fit_intercept else -1.0)

    def fit(prepared: Any, problem: Problem, tol: float) -> np.ndarray:
        from liblinear.liblinearutil import parameter, train

        halved = 2.0 if problem.loss == "squared-hinge" else 1.0
        cost = 1.0 / (halved * problem.weight * (problem.l1 or problem.l2))
        words = f"-s {kind} -c {cost!r} -e {tol!r} -q"
        if problem.fit_intercept:
            words += " -B 1 -R"  # R: without a penalty on it
        if problem.sample_weight is not None:
            for sign in (-1, 1):
                words += f" -w{sign} {float(problem.sample_weight[problem.y == sign][0])!r}"
        model = train(prepared, parameter(words))
        # Its classes are in order of appearance and its weights speak for the first.
        w, b = model.get_decfun()
        return joined(problem, np.asarray(w), b) * model.get_labels()[0]

    name = {0: "primal", 1: "dual", 2: "primal", 5: "l1", 6: "l1", 7: "dual"}[kind]
    has_intercept = kind not in (1, 7)
    return Tool(
        f"liblinear {name}", TOLERANCES, prepare, fit, False, Weights.CLASSES, has_intercept
    )
