import math

import numpy as np
import pytest

import thalweg as tw
from thalweg.methods.armijo import Armijo
from thalweg.methods.line import Line
from thalweg.methods.problem import Problem


def line_on(objective, w, direction=None, dtype=np.float64):
    w = np.asarray(w, dtype=dtype)
    problem = Problem(objective, w.size, w.dtype)
    start = problem.point(w)
    along = -start.gradient if direction is None else np.asarray(direction, dtype=dtype)
    problem.values = 0
    return Line(problem, start, along), problem


def test_by_hand():
    # φ(α) = ½(1 − α)² along −∇f from 1, which is below φ(0) for α < 2: tried are 6, 3, 1.5.
    line, problem = line_on(tw.surfaces.Quadratic((1.0,)), [1.0])
    found = Armijo()(line, 6.0)
    assert (found.w.tolist(), found.value) == ([-0.5], 0.125)
    assert problem.counts["values"] == 4  # three looks, and the point itself


@pytest.mark.parametrize("first", [0.1, 1.0, 50.0])
@pytest.mark.parametrize(("decrease", "shrink"), [(1e-4, 0.5), (0.3, 0.8), (0.9, 0.1)])
def test_it_is_the_first_of_the_sequence_that_satisfies_the_condition(decrease, shrink, first):
    rng = np.random.default_rng(0)
    for surface in (tw.surfaces.Rosenbrock(), tw.surfaces.Beale(), tw.surfaces.StyblinskiTang()):
        for w in rng.uniform(-2, 2, size=(10, 2)):
            line, _ = line_on(surface, w)
            value, gradient = surface.value_and_gradient(w)
            slope = -gradient @ gradient
            step = first
            while surface.value(w - step * gradient) > value + decrease * step * slope:
                step *= shrink
            found = Armijo(decrease, shrink)(line, first)
            np.testing.assert_array_equal(found.w, w + step * -gradient)
            assert found.value == surface.value(found.w)


def test_a_line_that_does_not_descend_leads_nowhere():
    line, problem = line_on(tw.surfaces.Quadratic((1.0,)), [1.0], [1.0])
    assert Armijo()(line, 1.0) is None
    assert problem.counts["values"] == 0


def test_trials_run_out():
    line, problem = line_on(tw.surfaces.Quadratic((1.0,)), [1.0])
    assert Armijo(trials=3)(line, 1e6) is None
    assert problem.counts["values"] == 3


def test_beyond_the_domain_it_comes_back():
    edge = tw.Objective(lambda w: w[0] - math.log(w[0]) if w[0] > 0 else math.inf, dim=1)
    line, _ = line_on(edge, [3.0])
    found = Armijo()(line, 100.0)
    assert 0.0 < found.w[0] < 3.0


def test_at_the_rounding_of_f_slopes_decide():
    # f = 1 + ½w² at 10⁻⁹: no value differs from 1, and the step to 0 is right all the same.
    level = tw.Objective(
        lambda w: 1.0 + 0.5 * w[0] ** 2, lambda w: w.copy(), dim=1, check_gradient=False
    )
    line, _ = line_on(level, [1e-9])
    assert Armijo()(line, 1.0).w.tolist() == [0.0]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"decrease": 1.0}, r"decrease must be in \(0, 1\), got 1.0"),
        ({"shrink": 0.0}, r"shrink must be in \(0, 1\), got 0.0"),
        ({"trials": 0}, "trials must be a whole number, at least 1, got 0"),
    ],
)
def test_its_numbers_have_limits(options, says):
    with pytest.raises(tw.InputError, match=says):
        Armijo(**options)
