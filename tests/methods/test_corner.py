"""Corners from the interior: the point that a basis makes, by hand and by linear programming."""

import numpy as np
import pytest

import thalweg as tw
from thalweg.methods.corner import corner
from thalweg.methods.hinges import Hinges
from thalweg.objectives.tube import Tube


def seen_from(problem, w, theta, share=1e-9):
    """Hinges a little inside those of a point and its dual."""
    loss = problem.term.loss
    ((s, e, kappa),) = loss.hinges
    g = s * (problem.scores(w) - problem.y) - e
    lam = np.clip(theta - loss.base, share, kappa - share)
    rows = np.stack([lam, kappa - lam, np.maximum(g, share), np.maximum(-g, share)])
    return Hinges(rows[:, None, :], g[None, :])


NONE = Hinges(np.empty((4, 0)), np.empty(0))


def test_a_line_through_two_of_three_points():
    # The median line through (0, 1), (1, 3) leaves the point (1, 9) above it.
    X, y = np.array([[0.0], [1.0], [1.0]]), np.array([1.0, 3.0, 9.0])
    problem = tw.LinearProblem(X, y, Tube(0.6, 0.4))
    w, theta = np.array([2.0, 1.0]), np.array([0.0, 0.4, -0.4])
    inside = seen_from(problem, w, theta)
    near = w + 1e-3, theta + 1e-3
    found = corner(problem, problem.term.loss, inside, NONE, near, 1.0, may_be_singular=False)
    np.testing.assert_allclose(found[0], w, atol=1e-14)
    np.testing.assert_allclose(found[1], theta, atol=1e-14)


def test_with_too_many_at_their_corners_the_nearest_dual_is_taken():
    # Four points on a line: w is unique, θ is not, and the one at hand stays.
    X = np.arange(4.0)[:, None]
    problem = tw.LinearProblem(X, 1.0 + 2.0 * X[:, 0], Tube(0.5, 0.5))
    w, theta = np.array([2.0, 1.0]), np.array([0.1, -0.1, -0.1, 0.1])
    known = (problem, problem.term.loss, seen_from(problem, w, theta), NONE, (w, theta), 1.0)
    assert corner(*known, may_be_singular=False) is None
    found = corner(*known, may_be_singular=True)
    np.testing.assert_allclose(found[0], w, atol=1e-12)
    np.testing.assert_allclose(found[1], theta, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_a_penalised_corner_solves_its_conditions(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((30, 4)), rng.standard_normal(30)
    model = tw.QuantileRegressor(quantile=0.4, alpha=0.03).fit(X, y)
    problem = tw.LinearProblem(X, y, Tube(0.6, 0.4), l1=0.03)
    w, theta = model.runs_[0].w, model.runs_[0].dual
    v = problem.transpose(theta)
    assert np.all(np.abs(v) <= 0.03 * (1.0 + 1e-9))
    used = model.coef_ != 0.0
    np.testing.assert_allclose(v[used], -0.03 * np.sign(model.coef_[used]), rtol=1e-9)
    on_it = np.abs(problem.scores(w) - y) < 1e-12
    assert np.sum(on_it) == np.sum(used) + 1
    assert problem.weights @ theta == pytest.approx(0.0, abs=1e-15)
