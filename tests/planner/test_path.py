"""A path: soft thresholds by hand, each run certified and begun where the last one ended."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import lasso_path

import thalweg as tw


def test_orthonormal_features_enter_one_by_one():
    problem = tw.LinearProblem(np.eye(3), [3.0, 2.0, 1.0], fit_intercept=False)
    grid = [0.9, 0.5, 0.1]
    runs = tw.path(problem, grid, "cd")
    # w = max(y/n − l1, 0)·n
    for l1, run in zip(grid, runs, strict=True):
        by_hand = np.maximum(np.array([3.0, 2.0, 1.0]) - 3 * l1, 0)
        np.testing.assert_allclose(run.w, by_hand, atol=1e-9)


def test_it_is_scikit_learns_path_and_every_point_is_certified():
    X, y = load_diabetes(return_X_y=True)
    X, y = X - X.mean(axis=0), y - y.mean()
    alphas, theirs, _ = lasso_path(X, y, alphas=8, tol=1e-12, max_iter=10**5)
    problem = tw.LinearProblem(X, y, fit_intercept=False)
    runs = tw.path(problem, alphas, "cd", tol=1e-10)
    assert all(run.certificate.holds for run in runs)
    ours = np.column_stack([run.w for run in runs])
    np.testing.assert_allclose(ours, theirs, atol=1e-4 * np.abs(theirs).max())
    assert problem.l1 == 0.0  # the problem itself is as it was


@pytest.mark.parametrize("method", ["cd", "fista", "saga"])
def test_each_run_begins_where_the_last_one_ended(method):
    X, y = load_diabetes(return_X_y=True)
    problem = tw.LinearProblem(X, y, l2=1e-3, standardize=True)
    runs = tw.path(problem, [10.0, 5.0, 5.0], method, tol=1e-4)
    for last, run in itertools.pairwise(runs):
        np.testing.assert_array_equal(run.w0, last.w)
    assert runs[2].iterations <= 1 < runs[0].iterations + runs[1].iterations


def test_all_classes_of_a_multinomial_problem_walk_together():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 4)), np.arange(60) % 3
    runs = tw.path(tw.LinearProblem(X, y, "multinomial"), [0.1, 0.05], "fista")
    assert np.count_nonzero(runs[0].w) < np.count_nonzero(runs[1].w)


REFUSED = {
    "a number": (0.1, "l1s must be a list of finite penalties"),
    "negative": ([0.1, -0.1], "l1s must be a list of finite penalties"),
    "NaN": ([0.1, np.nan], "l1s must be a list of finite penalties"),
    "text": (["a"], "l1s must hold real numbers"),
}


@pytest.mark.parametrize(("l1s", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_grid_is_refused(l1s, message):
    with pytest.raises(tw.InputError, match=message):
        tw.path(tw.LinearProblem(np.eye(3), [3.0, 2.0, 1.0]), l1s)


def test_what_is_no_linear_problem_is_refused():
    with pytest.raises(tw.InputError, match="problem must be a LinearProblem"):
        tw.path(tw.surfaces.Rosenbrock(), [0.1])
