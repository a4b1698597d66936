"""Every method on real data: a certified gap, in agreement with scikit-learn, or a way out."""

import itertools
import warnings
from functools import cache

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge

import thalweg as tw

ALL = sorted(tw.METHODS)
LOSSES = ("squared", "logistic", "multinomial")
PENALTIES = {"l2": (0.0, 0.1), "l1": (0.05, 0.0), "elastic net": (0.05, 0.1)}

# Steps of equal length circle the optimum: these come close to it, no more.
COARSE = ("rmsprop", "nadam", "sgd")
OPTIONS = {name: {"schedule": "1/sqrt(t)"} for name in COARSE}


@cache
def standardized(loss, whole=False):
    """Features of mean 0, deviation 1; of the digits 0 to 2 a fourth, unless `whole`."""
    load = {"squared": load_diabetes, "logistic": load_breast_cancer, "multinomial": load_digits}
    X, y = load[loss](return_X_y=True)
    if loss == "multinomial" and not whole:
        kept = np.flatnonzero(y < 3)[::4]
        X, y = X[kept], y[kept]
    X = X[:, X.std(axis=0) > 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, (y - y.mean()) / y.std() if loss == "squared" else y


def problem(loss, penalty, *, sparse=False, dtype=np.float64, whole=False):
    X, y = standardized(loss, whole)
    X = X.astype(dtype)
    l1, l2 = PENALTIES[penalty]
    return tw.LinearProblem(scipy.sparse.csr_array(X) if sparse else X, y, loss, l1=l1, l2=l2)


@cache
def reference(loss, penalty):
    """F at scikit-learn's solution."""
    X, y = standardized(loss)
    l1, l2 = PENALTIES[penalty]
    n, both = len(y), l1 + l2
    data = problem(loss, penalty)
    if loss == "squared" and l1 == 0.0:
        model = Ridge(alpha=n * l2, solver="cholesky").fit(X, y)
    elif loss == "squared":
        model = ElasticNet(alpha=both, l1_ratio=l1 / both, tol=1e-12, max_iter=100_000).fit(X, y)
    else:
        solver = "newton-cg" if l1 == 0.0 else "saga"
        with warnings.catch_warnings():  # names of its options come and go; the gap is certified
            warnings.simplefilter("ignore")
            model = LogisticRegression(
                penalty="elasticnet" if l1 else "l2", l1_ratio=l1 / both if l1 else None,
                C=1 / (n * both), solver=solver, tol=1e-9, max_iter=3000, random_state=0,
            ).fit(X, y)  # fmt: skip
    coefficients = model.coef_.T if loss == "multinomial" else np.ravel(model.coef_)
    w = np.append(np.ravel(coefficients), model.intercept_)
    return data.value(w)


def refuses(name, loss, penalty):
    method = tw.METHODS[name]
    takes_l1 = method.takes_penalty or method.takes_linear_penalty
    return (
        (PENALTIES[penalty][0] > 0 and not takes_l1)
        or (name == "cholesky" and loss != "squared")
        or (name == "sdca" and PENALTIES[penalty][1] == 0.0)
        or (name == "cd" and loss == "multinomial")
    )


CASES = list(itertools.product(ALL, LOSSES, PENALTIES))


@pytest.mark.parametrize(("name", "loss", "penalty"), [c for c in CASES if not refuses(*c)])
def test_a_certified_gap_and_the_value_of_scikit_learn(name, loss, penalty):
    method = tw.METHODS[name](**OPTIONS.get(name, {}))
    for sparse, dtype in itertools.product((False, True), (np.float32, np.float64)):
        data = problem(loss, penalty, sparse=sparse, dtype=dtype)
        tol = 1e-4 if dtype == np.float32 else 1e-6
        if name in COARSE:
            tol = 1e-2
        run = tw.minimize(data, method, tol=tol, max_iter=20_000, progress=False)
        assert run.converged, run
        assert run.certificate.kind == "duality gap"
        assert run.certificate.gap <= tol * run.certificate.evidence["scale"]
        assert run.w.dtype == dtype
        # Neither is the optimum: ours is within its gap, theirs within their tolerance.
        rounding = 1e-6 if dtype == np.float32 else 1e-8
        away = run.value - reference(loss, penalty)
        assert -rounding <= away <= run.certificate.gap + rounding


@pytest.mark.parametrize(("name", "loss", "penalty"), [c for c in CASES if refuses(*c)])
def test_what_is_refused_names_a_method_that_does_it(name, loss, penalty):
    with pytest.raises(tw.InputError, match="use method=") as caught:
        tw.minimize(problem(loss, penalty), name)
    suggested = str(caught.value).split("use method='")[1].split("'")[0]
    assert not refuses(suggested, loss, penalty)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_reference_is_certified_too(loss, penalty):
    data = problem(loss, penalty)
    best = tw.minimize(data, "fista", tol=1e-9, max_iter=50_000, progress=False)
    assert best.converged
    assert abs(best.value - reference(loss, penalty)) <= 1e-8


@pytest.mark.parametrize("name", ["sag", "iag", "saga", "svrg", "catalyst"])
def test_all_ten_digits(name):
    data = problem("multinomial", "elastic net", whole=True)
    assert (data.n, data.outputs) == (1797, 10)
    assert tw.minimize(data, name, progress=False).converged
