import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from linear_data import features, labels, regression, solved
from thalweg.doctor.linear.facts import curvature as module
from thalweg.doctor.linear.facts.curvature import affordable, bound, curvature, ends, in_use


def test_ends_by_hand():
    assert ends(np.diag([4.0, 0.0, 2.0]), 3, 0.0) == (4.0, 2.0, 1)
    assert ends(np.diag([4.0, 2.0, 0.0]), 2, 0.0) == (4.0, 2.0, 1)  # of the intercept
    assert ends(np.diag([4.5, 0.5, 2.5, 0.1]), 3, 0.5) == (4.5, 0.1, 1)  # l2 alone holds one
    assert ends(np.zeros((2, 2)), 2, 0.0) == (0.0, 0.0, 2)


def test_bound_by_hand():
    problem = regression(features(20, 2), l2=3.0)
    np.testing.assert_array_equal(
        bound(problem, np.ones((3, 3))), np.ones((3, 3)) + np.diag([3.0, 3, 0])
    )


@pytest.mark.parametrize("l2", [0.0, 0.1])
@pytest.mark.parametrize("loss", ["squared", "logistic", "squared-hinge"])
def test_at_a_solution_equal_to_the_hessian_made_of_columns(loss, l2):
    X = features()
    y = labels(X)
    problem, run = solved(
        tw.LinearProblem(X, y.astype(float) if loss == "squared" else y, loss, l2=l2)
    )
    found = curvature(problem, run.w, None)
    H = np.stack([problem.hessian_vector(run.w, unit) for unit in np.eye(6)])
    values = np.linalg.eigvalsh(H)
    np.testing.assert_allclose(found.smallest, values[0], rtol=1e-8)
    assert found.largest == problem.smoothness >= values[-1]
    assert found.is_exact
    assert found.at_solution
    assert found.flat == 0


def test_directions_that_nothing_holds_are_counted_apart():
    X = features()
    problem, run = solved(regression(np.hstack([X, X[:, :2]])), method="lbfgs")
    found = curvature(problem, run.w, None)
    assert found.flat == 2
    assert found.kappa < 10.0


def test_shifting_all_classes_is_no_direction():
    X = features(150, 3)
    y = np.arange(150) % 3
    problem, run = solved(tw.LinearProblem(X, y, "multinomial", l2=1e-6))
    found = curvature(problem, run.w, None)
    assert found.smallest > 0.01  # not l2, which holds those directions alone
    assert found.flat == 4  # three features and the intercept


def test_l1_counts_what_is_in_use():
    X = features()
    X[:, 4] = X[:, 3] + 1e-4 * X[:, 4]
    problem, run = solved(tw.LinearProblem(X, X[:, :2].sum(axis=1), l1=0.2))
    used = in_use(problem, run.w)
    assert used.tolist() == [0, 1, 5]  # and the intercept
    H = problem.hessian(run.w)[np.ix_(used, used)]
    found = curvature(problem, run.w, None)
    np.testing.assert_allclose(found.smallest, np.linalg.eigvalsh(H)[0])
    assert found.kappa < 100.0  # with both of the twins it is above 1e8
    assert in_use(regression(X), run.w).size == 6


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_without_a_matrix_it_is_a_bound(monkeypatch, loss):
    X = features(100, 4)
    y = labels(X) if loss == "logistic" else np.arange(100) % 3
    problem, run = solved(tw.LinearProblem(scipy.sparse.csr_array(X), y, loss, l2=1e-2))
    exact = curvature(problem, run.w, None)
    monkeypatch.setattr(module, "DENSE", 1)
    assert not affordable(problem, problem.dim)
    found = curvature(problem, run.w, None)
    assert not found.is_exact
    np.testing.assert_allclose(found.smallest, exact.smallest, rtol=1e-6)  # few variables: all
    before = curvature(problem, None, None)
    assert not before.is_exact
    assert not before.at_solution


def test_a_sparse_matrix_is_afforded_by_what_it_stores():
    X = scipy.sparse.eye_array(100_000, 900, format="csr") + 0.0
    assert affordable(tw.LinearProblem(X, np.arange(100_000.0)), 900)
    assert not affordable(tw.LinearProblem(np.ones((50_000, 1)), np.arange(5e4)), 900)


def test_repeated_columns_do_not_slow_gradient_descent():
    X = features(200, 3)
    problem, run = solved(regression(np.hstack([X, X]), l2=1e-8), method="gd", tol=1e-8)
    assert run.iterations < 100
    assert curvature(problem, run.w, None).kappa < 10.0  # not L/l2


def test_categories_beside_an_intercept_do():
    X = np.eye(3)[np.arange(300) % 3] * 1.0
    # In the variables as they are: about the mean, nothing pulls from w to b in the first place.
    problem = tw.LinearProblem(X, np.arange(300) % 3 * 1.0, l2=1e-4, centre=False)
    _, run = solved(problem, method="newton")
    assert curvature(problem, run.w, None).kappa > 1e3  # from w to b, only the penalty pulls
    _, slow = solved(problem, method="gd", tol=1e-12, max_iter=2000)
    assert not slow.converged
