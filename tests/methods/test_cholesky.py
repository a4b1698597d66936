import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import Ridge

import thalweg as tw

RNG = np.random.default_rng(0)


def data(n, p, **options):
    X = RNG.standard_normal((n, p)) + 1.0
    y = X[:, 0] - 2 * X[:, 1] + RNG.standard_normal(n)
    return X, y, tw.LinearProblem(X, y, **options)


def test_by_hand():
    # ½·½[(w − 1)² + (2w − 1)²] + ½·½w²: (5/2 + 1/2)w = 3/2, w = 1/2.
    problem = tw.LinearProblem([[1.0], [2.0]], [1.0, 1.0], l2=0.5, fit_intercept=False)
    run = tw.minimize(problem, "cholesky")
    assert run.w[0] == pytest.approx(0.5, rel=1e-15)
    assert (run.outcome, run.iterations) == (tw.Outcome.CONVERGED, 1)


def test_the_lectures_formula():
    X, y, problem = data(50, 4, l2=0.3, fit_intercept=False)
    w = np.linalg.solve(X.T @ X + 50 * 0.3 * np.eye(4), X.T @ y)
    np.testing.assert_allclose(tw.minimize(problem, "cholesky").w, w, rtol=1e-10)


@pytest.mark.parametrize(("n", "p"), [(80, 5), (12, 40)])
@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_equals_scikit_learn_in_both_shapes(n, p, storage, fit_intercept):
    X, y, _ = data(n, p)
    weights = RNG.integers(0, 4, n).astype(float)
    problem = tw.LinearProblem(
        storage(X), y, l2=0.1, fit_intercept=fit_intercept, sample_weight=weights
    )
    coefficients, intercept = problem.coefficients(tw.minimize(problem, "cholesky", tol=1e-12).w)
    ridge = Ridge(alpha=0.1 * weights.sum(), fit_intercept=fit_intercept, solver="cholesky")
    ridge.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(coefficients, ridge.coef_, rtol=1e-7, atol=1e-10)
    assert float(intercept) == pytest.approx(float(ridge.intercept_), rel=1e-7, abs=1e-10)


@pytest.mark.parametrize(("n", "p"), [(80, 5), (12, 40)])
@pytest.mark.parametrize("l2", [0.1, 0.0])
@pytest.mark.parametrize("standardize", [True, False])
def test_the_gradient_vanishes_from_any_start(n, p, l2, standardize):
    _, _, problem = data(n, p, l2=l2, standardize=standardize)
    w0 = RNG.standard_normal(problem.dim)
    run = tw.minimize(problem, "cholesky", w0, tol=1e-10)
    assert np.max(np.abs(problem.gradient(run.w))) < 1e-9


def test_dependent_features_without_a_penalty_take_the_nearest_solution():
    X = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    problem = tw.LinearProblem(X, [1.0, 2.0, 3.0], fit_intercept=False)
    np.testing.assert_allclose(tw.minimize(problem, "cholesky").w, [0.5, 0.5], rtol=1e-6)


def test_norms_fall_as_the_penalty_grows():
    X, y, _ = data(60, 5)
    norms = [
        np.linalg.norm(tw.minimize(tw.LinearProblem(X, y, l2=l2), "cholesky").w[:5])
        for l2 in (1e-3, 1e-1, 1e1)
    ]
    assert norms[0] > norms[1] > norms[2]


@pytest.mark.parametrize(
    ("objective", "says"),
    [
        (tw.surfaces.Rosenbrock(), "needs a LinearProblem with the squared loss"),
        (
            tw.LinearProblem(np.eye(2), [0, 1], "logistic", l2=1.0),
            "needs the squared loss, got logistic: use method='newton-cg'",
        ),
    ],
)
def test_what_it_refuses(objective, says):
    with pytest.raises(tw.InputError, match=says):
        tw.minimize(objective, "cholesky")


def test_a_matrix_too_large_is_refused_before_it_is_made():
    n = 10_001
    problem = tw.LinearProblem(scipy.sparse.eye_array(n, format="csr"), np.zeros(n), l2=1.0)
    with pytest.raises(tw.InputError, match="use method='lbfgs'"):
        tw.minimize(problem, "cholesky")
