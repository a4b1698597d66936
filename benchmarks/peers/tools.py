"""The tools that are compared: how each is told the same problem, and the knob that is swept.

                scikit-learn            liblinear, celer  snapml            cyanure
    classifier  C = 1/(n l)             C = 1/(n l)       regularizer n l   lambda_1 = l
    ridge       alpha = n l2                              regularizer n l2  lambda_1 = l2
    lasso       alpha = l1              alpha = l1        regularizer n l1  lambda_1 = l1
    both        alpha = l1 + l2, l1_ratio = l1/(l1 + l2)                    lambda_1, lambda_2

with l the one penalty, l1 or l2, of a classifier; glum and skglm read like scikit-learn's last row.
`prepare` puts the data into the layout that a tool works on (columns, float32, its own nodes)
before the clock starts; Thalweg gets the arrays as they are, and making its problem is timed. A
tool that forms a dense p × p matrix is left out beyond `WIDE` features.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from peers.problems import Problem

THREADS = int(os.environ.get("OMP_NUM_THREADS", 2))
WIDE = 5_000  # features: beyond it a dense Hessian takes 200 MB and n p² operations
NARROW = 500  # features: below it sparse data may be had dense
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


@dataclass(frozen=True)
class Tool:
    """One solver of one library."""

    name: str
    settings: Sequence[Setting]  # from loose to tight
    prepare: Callable[[Problem], Any]  # outside the clock
    fit: Callable[..., np.ndarray]  # fit(prepared, problem, **setting) gives w, float[p] or [p, K]
    compiles: bool = False  # when it first meets data of a kind


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
    if problem.loss == "multinomial":
        return multinomial()
    if problem.loss == "logistic":
        return logistic_l1(problem) if problem.l1 else logistic_l2(problem)
    return sparse_regression(problem) if problem.l1 else ridge()


def thalweg(method: str = "auto") -> Tool:
    """One method of Thalweg, from arrays to w."""

    def fit(
        prepared: Any,
        problem: Problem,
        tol: float = 1e-6,
        max_iter: int = MANY,
        time_limit: float | None = None,
    ) -> np.ndarray:
        import thalweg as tw

        own = tw.LinearProblem(
            problem.X, problem.y, problem.loss, l1=problem.l1, l2=problem.l2, fit_intercept=False
        )
        run = tw.minimize(
            own, method, tol=tol, max_iter=max_iter, time_limit=time_limit, progress=False
        )
        return np.asarray(own.split(run.w)[0])

    # As of cyanure, below: a gap is proven, or looked at, later than it is small.
    settings = (*PASSES[:4], *TOLERANCES)
    return Tool(f"thalweg {method}", settings, lambda problem: None, fit, compiles=True)


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


def multinomial() -> list[Tool]:
    """K classes, l2. The others fit one class against the rest, which is another problem."""
    return [
        cyanure("qning-miso"),
        cyanure("catalyst-miso"),
        sklearn_logistic("lbfgs"),
        sklearn_logistic("newton-cg"),
        sklearn_logistic("saga", PASSES),
    ]


def ridge() -> list[Tool]:
    """Least squares, l2."""
    exact: tuple[Setting, ...] = ({},)
    return [
        sklearn_ridge("cholesky", exact),
        sklearn_ridge("svd", exact),
        sklearn_ridge("lsqr"),
        sklearn_ridge("sparse_cg"),
        glum(),
        snapml(dual=True),
        snapml(dual=False),
        cyanure("qning-miso"),
        cyanure("catalyst-miso"),
        sklearn_ridge("saga", PASSES),
    ]


def sparse_regression(problem: Problem) -> list[Tool]:
    """Least squares, l1 and perhaps l2."""
    tools = [celer("Lasso" if not problem.l2 else "ElasticNet"), sklearn_coordinates()]
    tools += [skglm("Lasso" if not problem.l2 else "ElasticNet"), cyanure("auto")]
    if not problem.l2:
        tools += [cyanure("auto", "Lasso"), snapml(dual=False)]
    if problem.p <= WIDE:
        tools += [sklearn_coordinates(precompute=True), skglm_gram(), glum()]
    return tools


def estimator(
    name: str,
    make: Callable[..., Any],  # make(problem, **setting) gives an unfitted model
    settings: Sequence[Setting] = TOLERANCES,
    layout: Callable[[Any], Any] = lambda X: X,
    target: Callable[[np.ndarray], np.ndarray] = lambda y: y,
    compiles: bool = False,
) -> Tool:
    """A tool with scikit-learn's interface."""

    def fit(prepared: Any, problem: Problem, **setting: Any) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of not having converged: that is what is measured
            model = make(problem, **setting).fit(*prepared)
        w = np.asarray(model.coef_, dtype=np.float64)
        return w if len(w) == problem.p else w.T  # cyanure's classes are columns

    prepare = lambda problem: (layout(problem.X), target(problem.y))  # noqa: E731
    return Tool(name, settings, prepare, fit, compiles)


def by_columns(X: Any) -> Any:
    """CSC or Fortran order."""
    return sparse.csc_matrix(X) if sparse.issparse(X) else np.asfortranarray(X)


def narrow_dense(X: Any) -> Any:
    """Dense where there are few columns, else as it is."""
    return X.toarray() if sparse.issparse(X) and X.shape[1] <= NARROW else X


def single(X: Any) -> Any:
    """float32."""
    return X.astype(np.float32)


def sklearn_logistic(
    solver: str,
    settings: Sequence[Setting] = TOLERANCES,
    layout: Callable[[Any], Any] = lambda X: X,
) -> Tool:
    """scikit-learn's LogisticRegression."""

    def make(problem: Problem, tol: float = 1e-15, max_iter: int = MANY) -> Any:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(
            C=1.0 / (problem.n * (problem.l1 or problem.l2)),
            l1_ratio=1.0 if problem.l1 else 0.0,
            solver=solver,
            fit_intercept=False,
            tol=tol,
            max_iter=max_iter,
            random_state=0,
        )

    return estimator(f"sklearn {solver}", make, settings, layout)


def sklearn_ridge(solver: str, settings: Sequence[Setting] = TOLERANCES) -> Tool:
    """scikit-learn's Ridge."""

    def make(problem: Problem, tol: float = 1e-15, max_iter: int = MANY) -> Any:
        from sklearn.linear_model import Ridge

        return Ridge(
            alpha=problem.n * problem.l2,
            solver=solver,
            fit_intercept=False,
            tol=tol,
            max_iter=max_iter,
            random_state=0,
        )

    return estimator(f"sklearn Ridge {solver}", make, settings)


def mixed(problem: Problem) -> dict[str, float]:
    """alpha and l1_ratio."""
    alpha = problem.l1 + problem.l2
    return {"alpha": alpha, "l1_ratio": problem.l1 / alpha}


def sklearn_coordinates(precompute: bool = False) -> Tool:
    """scikit-learn's ElasticNet, which is its Lasso at l1_ratio 1."""

    def make(problem: Problem, tol: float) -> Any:
        from sklearn.linear_model import ElasticNet

        return ElasticNet(
            **mixed(problem), fit_intercept=False, precompute=precompute, tol=tol, max_iter=MANY
        )

    return estimator("sklearn cd" + " gram" * precompute, make, layout=by_columns)


def glum() -> Tool:
    """glum's GLM by its own choice of solver."""

    def make(problem: Problem, tol: float) -> Any:
        from glum import GeneralizedLinearRegressor

        return GeneralizedLinearRegressor(
            **mixed(problem),
            family="binomial" if problem.loss == "logistic" else "normal",
            fit_intercept=False,
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
        return getattr(celer, kind)(**strength, fit_intercept=False, tol=tol, max_iter=1000)

    return estimator("celer", make, layout=by_columns)


def skglm(kind: str) -> Tool:
    """skglm's estimators: Anderson coordinate descent, prox-Newton for the logistic loss."""

    def make(problem: Problem, tol: float) -> Any:
        import skglm

        strength = mixed(problem) if kind == "ElasticNet" else {"alpha": problem.l1}
        return getattr(skglm, kind)(**strength, fit_intercept=False, tol=tol, max_iter=1000)

    return estimator("skglm", make, layout=by_columns, compiles=True)


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

    return Tool("skglm gram", TOLERANCES, prepare, fit, compiles=True)


def snapml(dual: bool) -> Tool:
    """snapml's logistic or linear regression, in float32 as it always is."""

    def make(problem: Problem, max_iter: int) -> Any:
        import snapml

        kind = "LogisticRegression" if problem.loss == "logistic" else "LinearRegression"
        return getattr(snapml, kind)(
            regularizer=problem.n * (problem.l1 or problem.l2),
            penalty="l1" if problem.l1 else "l2",
            dual=dual,
            fit_intercept=False,
            tol=1e-12,
            max_iter=max_iter,
            n_jobs=THREADS,
            random_state=0,
        )

    return estimator("snapml" + " dual" * dual, make, PASSES, single)


def cyanure(solver: str, kind: str = "") -> Tool:
    """cyanure's estimators; L1Logistic and Lasso go by active sets where p > 1000."""

    def make(problem: Problem, tol: float = 1e-15, max_iter: int = MANY) -> Any:
        from cyanure import estimators

        options: dict[str, Any] = {
            "solver": solver,
            "lambda_1": problem.l1 or problem.l2,
            "fit_intercept": False,
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
        loss = "multiclass-logistic" if problem.loss == "multinomial" else "logistic"
        return estimators.Classifier(loss=loss, **options)

    # Its gap is looked at every fifth or tenth pass: fewer passes are asked for by number.
    return estimator(f"cyanure {kind or solver}", make, (*PASSES[:4], *TOLERANCES))


def liblinear(kind: int) -> Tool:
    """liblinear's `train -s kind`: 0 primal, 7 dual, 6 for l1."""

    def prepare(problem: Problem) -> Any:
        from liblinear.liblinearutil import problem as nodes

        return nodes(problem.y, sparse.csr_matrix(problem.X))

    def fit(prepared: Any, problem: Problem, tol: float) -> np.ndarray:
        from liblinear.liblinearutil import parameter, train

        cost = 1.0 / (problem.n * (problem.l1 or problem.l2))
        model = train(prepared, parameter(f"-s {kind} -c {cost!r} -e {tol!r} -q"))
        # Its classes are in order of appearance and its weights speak for the first.
        return np.asarray(model.get_decfun()[0]) * model.get_labels()[0]

    name = {0: "primal", 6: "l1", 7: "dual"}[kind]
    return Tool(f"liblinear {name}", TOLERANCES, prepare, fit)
