import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import scipy.special

import thalweg as tw
from thalweg.certificates.separation import (
    LARGE,
    _is_held,
    may_run_away,
    separated,
    separates,
)

METHODS = ("auto", "gd", "nesterov", "lbfgs", "newton", "newton-cg")


def parted(K=2, seed=0):
    """Samples that planes tell apart, far from the origin."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 3))
    y = np.digitize(X[:, 0], [0.0] if K == 2 else [-0.6, 0.6])
    X[:, 0] += 0.5 * y
    return X + 1e3, y


def problem(K=2, storage=np.asarray, **options):
    X, y = parted(K)
    return tw.LinearProblem(storage(X), y, "logistic" if K == 2 else "multinomial", **options)


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_without_a_penalty_the_outcome_says_that_there_is_no_minimum(method, K, storage):
    data = problem(K, storage)
    run = tw.minimize(data, method, progress=False, max_iter=5_000)
    assert run.outcome is tw.Outcome.NO_MINIMUM
    assert not run.converged
    assert not run.certificate.holds
    assert "no minimum" in run.reason
    assert "penalty" in run.reason
    # The evidence is a plane in the units of X: every sample is on its own side.
    X, y = parted(K)
    W = np.array(run.certificate.evidence["coefficients"]).reshape(3, -1)
    Z = X @ W + np.array(run.certificate.evidence["intercepts"])
    if K == 2:
        assert np.all(np.where(y == 1, 1, -1) * Z[:, 0] > 0)
    else:
        assert np.all(Z.argmax(axis=1) == y)


@pytest.mark.parametrize("K", [2, 3])
def test_further_along_the_plane_the_value_is_lower(K):
    data = problem(K)
    run = tw.minimize(data, progress=False)
    values = [data.value(t * run.w) for t in (1.0, 2.0, 4.0)]
    assert values[0] > values[1] > values[2] > 0.0


def test_with_a_penalty_there_is_one():
    run = tw.minimize(problem(l2=1e-3), progress=False)
    assert run.outcome is tw.Outcome.CONVERGED
    assert not may_run_away(problem(l2=1e-3))


def test_the_squared_hinge_has_one_anyway():
    X, y = parted()
    run = tw.minimize(tw.LinearProblem(X, y, "squared-hinge"), progress=False)
    assert run.outcome is not tw.Outcome.NO_MINIMUM
    assert run.value < 1e-6


def test_samples_upon_the_plane_do_not_hold_it():
    x = np.array([-3.0, -2.0, -1.0, 0.0, 0.0, 1.0, 2.0, 3.0])
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    run = tw.minimize(tw.LinearProblem(x[:, None], y, "logistic"), progress=False)
    assert run.outcome is tw.Outcome.NO_MINIMUM
    assert run.certificate.measured == 0.0
    assert "upon it" in run.reason


def test_classes_that_overlap_have_a_minimum():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = X[:, 0] + rng.logistic(size=60) > 0
    data = tw.LinearProblem(X + 1e6, y, "logistic")
    run = tw.minimize(data, progress=False)
    assert run.outcome is tw.Outcome.CONVERGED
    assert separated(data.centred, data.enter(run.w, data.centred)) is None


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("K", [2, 3])
def test_near_a_minimum_no_programme_is_needed(K, storage, monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((400, 4)) * [1e-6, 1.0, 1e3, 30.0]
    cuts = [0.0] if K == 2 else [-20.0, 20.0]
    y = np.digitize(X[:, 3] + 2.0 * X[:, 1] + 3.0 * rng.standard_normal(400), cuts)
    data = tw.LinearProblem(storage(X), y, "logistic" if K == 2 else "multinomial").centred
    w = tw.minimize(data, "newton", tol=1e-10, progress=False).w
    asked = []
    real = scipy.optimize.linprog
    monkeypatch.setattr(
        scipy.optimize, "linprog", lambda *given, **named: asked.append(1) or real(*given, **named)
    )
    assert np.abs(data.scores(w)).max() > LARGE
    assert separated(data, w) is None
    assert not asked
    assert separated(data, 3.0 * w) is None
    assert asked  # far from it only a programme can tell


@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1.0, 16.0, 40.0])
def test_weights_hold_what_no_plane_separates_alone(scale):
    rng = np.random.default_rng(3)
    A = rng.standard_normal((200, 4))
    A[:, 0] = np.abs(A[:, 0])  # so that u = (1, 0, 0, 0) is a plane, and the last are upon it
    A[150:, 0] = 0.0
    for _ in range(50):
        w = scale * rng.standard_normal(4)
        assert not _is_held(A, scipy.special.expit(-A @ w) / 200)
    w = np.array([scale, 0.0, 0.0, 0.0])
    for _ in range(200):  # as near to where the gradient is zero as others than u lead
        q = scipy.special.expit(-A @ w) / 200
        H = A.T @ (q[:, None] * A)
        w[1:] += np.linalg.solve(H[1:, 1:], (A.T @ q)[1:])
        assert not _is_held(A, q)


def test_a_margin_must_exceed_its_rounding():
    X = np.array([[1e9 + 1.0], [1e9]])
    data = tw.LinearProblem(X, [1, 0], "logistic", fit_intercept=True)
    assert separates(data.centred, np.array([1.0, 0.0])) is not None
    assert separates(data.centred, np.array([0.0, 1.0])) is None
    assert separates(data.centred, np.zeros(2)) is None


def test_samples_without_weight_do_not_count():
    X, y = parted()
    y = y.copy()
    y[0] = 1 - y[0]
    weights = np.ones(len(y))
    weights[0] = 0.0
    data = tw.LinearProblem(X, y, "logistic", sample_weight=weights)
    assert tw.minimize(data, progress=False).outcome is tw.Outcome.NO_MINIMUM


def test_an_estimator_warns_with_the_reason():
    from sklearn.exceptions import ConvergenceWarning

    X, y = parted()
    with pytest.warns(ConvergenceWarning, match="There is no minimum"):
        tw.LogisticRegression(C=np.inf).fit(X, y)


@pytest.mark.parametrize("depth", [0.0, 1e-9, 1e-5])
def test_a_sample_that_is_a_hair_on_the_wrong_side_counts(depth):
    """A linear programme that is solved to seven digits does not see it."""
    x = np.array([-3.0, -2.0, -1.0, depth, -depth, 1.0, 2.0, 3.0])
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    data = tw.LinearProblem(x[:, None], y, "logistic", fit_intercept=False)
    assert (separated(data, np.array([50.0])) is None) == (depth > 0.0)
