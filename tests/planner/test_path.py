"""A path: soft thresholds by hand, each run certified and begun where the last one ended."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes
from sklearn.linear_model import enet_path, lasso_path

import thalweg as tw
from thalweg.methods import working_path as working
from thalweg.planner import path as module
from thalweg.planner.path import strongest


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


def drawn(n, p, dtype=np.float64, seed=0):
    """Features with offsets, some of which matter."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.5)
    y = X[:, :4] @ [3.0, -2.0, 1.0, 0.5] + 0.5 * rng.standard_normal(n)
    return (X + 2.0 * (np.arange(p) % 2)).astype(dtype), y


SHAPES = {"more samples": (80, 12), "more features": (30, 90)}
shapes = pytest.mark.parametrize(("n", "p"), SHAPES.values(), ids=SHAPES)


@shapes
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_every_point_is_the_solution_alone(n, p, fit_intercept, standardize, l1_ratio):
    X, y = drawn(n, p)
    problem = tw.LinearProblem(X, y, fit_intercept=fit_intercept, standardize=standardize)
    runs = tw.path(problem, points=6, ratio=0.03, l1_ratio=l1_ratio, tol=1e-12)
    top = strongest(problem)
    for l1, run in zip(np.geomspace(top, 0.03 * top, 6), runs, strict=True):
        alone = problem.replaced(l1=l1, l2=l1 * (1.0 - l1_ratio) / l1_ratio)
        best = tw.minimize(alone, "cd", tol=1e-13)
        np.testing.assert_allclose(run.w, best.w, atol=1e-6 * (1.0 + np.abs(best.w).max()))
        assert run.certificate.holds
        assert run.value == pytest.approx(alone.value(run.w), rel=1e-12)
        assert run.certificate.gap >= alone.value(run.w) - best.value
        assert tw.certify(alone, run.w, tol=1e-12).holds


@shapes
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("is_sparse", [True, False])
def test_gaps_hold_and_are_never_below_the_truth(n, p, dtype, is_sparse):
    X, y = drawn(n, p, dtype)
    problem = tw.LinearProblem(sp.csr_array(X) if is_sparse else X, y)
    runs = tw.path(problem, points=8, ratio=0.01, tol=1e-5)
    again = tw.path(tw.LinearProblem(X.astype(np.float64), y), points=8, ratio=0.01, tol=1e-12)
    for run, best in zip(runs, again, strict=True):
        assert run.w.dtype == dtype
        assert run.certificate.holds
        assert run.certificate.measured <= 1e-5 * run.certificate.evidence["scale"]
        # At most 1e-6 of l1 apart, as the grids are of one rounding of X.
        assert run.certificate.gap >= (run.value - best.value) - 1e-6 * best.value


@shapes
def test_sparse_is_dense(n, p):
    X, y = drawn(n, p)
    dense, sparse = (
        tw.path(tw.LinearProblem(A, y), points=5, ratio=0.05, tol=1e-12)
        for A in (X, sp.csr_array(X))
    )
    for one, other in zip(dense, sparse, strict=True):
        np.testing.assert_allclose(one.w, other.w, atol=1e-6)


@shapes
def test_any_number_of_threads_gives_the_same_bits(n, p, monkeypatch):
    monkeypatch.setattr(module, "THREADS_FROM", 0)
    X, y = drawn(20 * n, 20 * p)
    one, two = (
        tw.path(tw.LinearProblem(X, y, threads=threads), points=6, ratio=0.1) for threads in (1, 2)
    )
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.w, b.w)
        assert a.certificate == b.certificate


@pytest.mark.parametrize("loss", ["squared", "logistic", "squared-hinge", "huber", "multinomial"])
def test_the_grid_begins_where_the_first_coefficient_is_not_zero(loss):
    X, y = drawn(60, 5)
    labels = (
        y if loss in ("squared", "huber") else np.digitize(y, [0.0, 3.0][: 1 + (loss[0] == "m")])
    )
    problem = tw.LinearProblem(X, labels, loss)
    runs = tw.path(problem, points=3, ratio=0.5)
    counts = [np.count_nonzero(problem.split(run.w)[0]) for run in runs]
    assert counts[0] == 0 < counts[1] <= counts[2]
    top = strongest(problem)
    below = tw.minimize(problem.replaced(l1=0.999 * top), tol=1e-10)
    assert np.count_nonzero(problem.split(below.w)[0]) > 0


def test_targets_without_anything_to_explain_have_a_path_of_zeros():
    runs = tw.path(tw.LinearProblem(np.eye(4), np.ones(4)), points=3)
    assert [np.count_nonzero(run.w[:4]) for run in runs] == [0, 0, 0]


def test_one_l2_a_point():
    X, y = drawn(80, 12)
    problem = tw.LinearProblem(X, y, l2=5.0)
    by_points = tw.path(problem, [0.5, 0.1], l2s=[0.3, 0.2], tol=1e-12)
    alone = tw.minimize(problem.replaced(l1=0.1, l2=0.2), tol=1e-12)
    np.testing.assert_allclose(by_points[1].w, alone.w, atol=1e-6)
    kept = tw.path(problem, [0.5, 0.1], tol=1e-12)
    np.testing.assert_allclose(
        kept[1].w, tw.minimize(problem.replaced(l1=0.1), tol=1e-12).w, atol=1e-6
    )


def test_it_is_scikit_learns_path_of_elastic_nets():
    X, y = drawn(80, 12)
    X, y = X - X.mean(axis=0), y - y.mean()
    alphas, theirs, _ = enet_path(X, y, l1_ratio=0.7, alphas=6, tol=1e-12, max_iter=10**5)
    problem = tw.LinearProblem(X, y, fit_intercept=False)
    runs = tw.path(problem, 0.7 * alphas, l1_ratio=0.7, tol=1e-12)
    np.testing.assert_allclose(np.column_stack([run.w for run in runs]), theirs, atol=1e-5)


@shapes
def test_points_that_rounding_keeps_from_being_proved_are_left_to_minimize(n, p, monkeypatch):
    X, y = drawn(n, p)
    problem = tw.LinearProblem(X, y)
    expected = tw.path(problem, points=4, ratio=0.1, tol=1e-10)
    monkeypatch.setattr(module, "AIM", 1e9)  # nothing is done, and nothing is proved by it
    monkeypatch.setattr(working, "AIM", 1e9)
    monkeypatch.setattr(working, "MOST_ROUNDS", 1)
    for run, same in zip(tw.path(problem, points=4, ratio=0.1, tol=1e-10), expected, strict=True):
        assert run.certificate.holds
        np.testing.assert_allclose(run.w, same.w, atol=1e-4)


def test_what_the_runs_say_of_themselves():
    X, y = drawn(80, 12)
    problem = tw.LinearProblem(X, y)
    first, second = tw.path(problem, [0.5, 0.1], tol=1e-8, seed=3)
    assert (second.method, second.tol, second.seed, second.converged) == ("cd", 1e-8, 3, True)
    assert second.objective == problem.replaced(l1=0.1).name
    np.testing.assert_array_equal(second.w0, first.w)
    assert second.trace["value"][0] == pytest.approx(problem.replaced(l1=0.1).value(first.w))
    assert "duality gap" in second.reason
    assert second.gradient_norm < 1e-3


REFUSED = {
    "a number": ({"l1s": 0.1}, "l1s must be a list of finite penalties"),
    "negative": ({"l1s": [0.1, -0.1]}, "l1s must be a list of finite penalties"),
    "NaN": ({"l1s": [0.1, np.nan]}, "l1s must be a list of finite penalties"),
    "text": ({"l1s": ["a"]}, "l1s must hold real numbers"),
    "no points": ({"points": 0}, "points must be"),
    "a ratio of nothing": ({"ratio": 0.0}, "ratio must be"),
    "a ratio above 1": ({"ratio": 2.0}, "ratio must be"),
    "l1_ratio of nothing": ({"l1_ratio": 0.0}, "l1_ratio must be"),
    "both": ({"l1s": [1.0], "l1_ratio": 0.5, "l2s": [1.0]}, "l1_ratio must be left out"),
    "too few l2s": ({"l1s": [1.0, 0.5], "l2s": [1.0]}, "l2s must be 2 finite penalties"),
    "negative l2s": ({"l1s": [1.0], "l2s": [-1.0]}, "l2s must be 1 finite penalties"),
    "no tolerance": ({"tol": 0.0}, "tol must be"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_grid_is_refused(options, message):
    with pytest.raises(tw.InputError, match=message):
        tw.path(tw.LinearProblem(np.eye(3), [3.0, 2.0, 1.0]), **options)


def test_what_is_no_linear_problem_is_refused():
    with pytest.raises(tw.InputError, match="problem must be a LinearProblem"):
        tw.path(tw.surfaces.Rosenbrock(), [0.1])
