"""Losses with corners, against their lines, and constants against all corners."""

import math

import numpy as np
import pytest

import thalweg as tw
from thalweg.objectives.tube import SquaredTube, Tube


def slow(above, below, width, z, y):
    t = z - y
    return above * max(0.0, t - width) + below * max(0.0, -t - width)


def drawn(seed):
    rng = np.random.default_rng(seed)
    above, below, width = rng.uniform(0.1, 3.0, 3)
    return rng, Tube(above, below, width * (seed % 2)), (above, below, width * (seed % 2))


def test_by_hand():
    pinball = Tube(0.25, 0.75)
    z, y = np.array([3.0, 1.0, 2.0]), np.full(3, 2.0)
    assert pinball.values(z, y).tolist() == [0.25, 0.75, 0.0]
    assert pinball.slopes(z, y).tolist() == [0.25, -0.75, 0.0]
    assert pinball.conjugates(np.array([0.25, -0.75, 0.3]), y).tolist() == [0.5, -1.5, math.inf]
    tube = Tube(1.0, 1.0, 0.5)
    assert tube.values(np.array([3.0, 2.5, 0.0]), y).tolist() == [0.5, 0.0, 1.5]
    assert tube.conjugates(np.array([1.0, -1.0, 0.0]), y).tolist() == [2.5, -1.5, 0.0]


@pytest.mark.parametrize("seed", range(6))
def test_values_are_lines_and_hinges_and_conjugates_bound_them(seed):
    rng, loss, given = drawn(seed)
    z, y = rng.normal(0.0, 2.0, 40), rng.normal(0.0, 2.0, 40)
    values = loss.values(z, y)
    np.testing.assert_allclose(values, [slow(*given, *pair) for pair in zip(z, y, strict=True)])
    by_hinges = loss.base * (z - y)
    for s, e, kappa in loss.hinges:
        by_hinges = by_hinges + kappa * np.maximum(0.0, s * (z - y) - e)
    np.testing.assert_allclose(by_hinges, values, atol=1e-12)
    theta = rng.uniform(-loss.below, loss.above, 40)
    assert np.all(values + loss.conjugates(theta, y) >= z * theta - 1e-12)
    slopes = loss.slopes(z, y)
    np.testing.assert_allclose(values + loss.conjugates(slopes, y), z * slopes, atol=1e-12)
    assert np.all(np.isinf(loss.conjugates(np.array([loss.above, -loss.below]) * 1.001, y[:2])))


@pytest.mark.parametrize("seed", range(8))
def test_the_best_constant_is_as_good_as_the_best_corner(seed):
    rng, loss, _ = drawn(seed)
    y, c = np.round(rng.normal(5.0, 2.0, 30), seed % 3), rng.integers(0, 3, 30) / 30.0

    def total(b):
        return float(c @ loss.values(np.full(30, b), y))

    best = loss.best_constant(y, c)
    corners = np.concatenate([y - loss.width, y + loss.width])
    assert total(best) <= min(total(b) for b in corners) + 1e-12


def test_many_best_constants_have_a_middle():
    assert Tube(0.5, 0.5).best_constant(np.array([1.0, 5.0]), np.array([0.5, 0.5])) == 3.0


@pytest.mark.parametrize(("given", "says"), [((0.0, 1.0), "above"), ((1.0, 1.0, -0.1), "width")])
def test_bad_lines_are_refused(given, says):
    with pytest.raises(tw.InputError, match=f"{says} must be"):
        Tube(*given)


def test_methods_of_gradients_refuse_corners():
    problem = tw.LinearProblem(np.eye(3), [1.0, 2.0, 4.0], Tube(0.5, 0.5), l2=0.1)
    for method in ("lbfgs", "newton", "sag", "fista"):
        with pytest.raises(tw.InputError, match=r"loss has corners: use tw\.QuantileRegressor"):
            tw.minimize(problem, method, progress=False)


def test_targets_are_seen_about_their_mean_where_that_is_exact():
    y = 1e9 + np.array([0.25, 0.5, 1.0])
    problem = tw.LinearProblem(np.zeros((3, 1)), y, Tube(0.5, 0.5), l1=1.0)
    assert problem.centred.term.origin == pytest.approx(y.mean(), rel=1e-15)
    np.testing.assert_array_equal(problem.centred.y, y - problem.centred.term.origin)


@pytest.mark.parametrize("seed", range(3))
def test_a_squared_tube_has_these_slopes_and_conjugates(seed):
    rng = np.random.default_rng(seed)
    loss, z, y = SquaredTube(0.5 * seed), *rng.normal(0.0, 2.0, (2, 40))
    np.testing.assert_allclose(
        loss.values(z, y),
        [max(0.0, abs(a - b) - 0.5 * seed) ** 2 for a, b in zip(z, y, strict=True)],
    )
    step = 1e-6
    np.testing.assert_allclose(
        loss.slopes(z, y),
        (loss.values(z + step, y) - loss.values(z - step, y)) / (2 * step),
        atol=1e-5,
    )
    slopes = loss.slopes(z, y)
    np.testing.assert_allclose(
        loss.values(z, y) + loss.conjugates(slopes, y), z * slopes, atol=1e-12
    )
    theta = 3.0 * rng.standard_normal(40)
    assert np.all(loss.values(z, y) + loss.conjugates(theta, y) >= z * theta - 1e-12)
