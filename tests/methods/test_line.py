import math

import numpy as np
import pytest

import thalweg as tw
from stepping import linear, without_scores
from thalweg.methods.line import Line
from thalweg.methods.problem import Problem


def begin(objective, w, p):
    problem = Problem(objective, w.size, w.dtype)
    line = Line(problem, problem.point(w), p)
    problem.restore({"values": 0, "gradients": 0, "hessian_vectors": 0, "passes": 0})
    return line, problem


def test_one_look_by_hand():
    # ½w² from 3 along −2: φ(½) = ½·4, φ′(½) = 2·(−2).
    line, problem = begin(tw.surfaces.Quadratic((1.0,)), np.array([3.0]), np.array([-2.0]))
    assert line.slope == -6.0
    trial = line.look(0.5)
    assert (trial.step, trial.value, trial.slope) == (0.5, 2.0, -4.0)
    assert line.arrive(trial) is trial.point
    assert trial.point.w.tolist() == [2.0]
    assert problem.counts == {"values": 1, "gradients": 1, "hessian_vectors": 0, "passes": 1}


@pytest.mark.parametrize("loss", ["squared", "logistic", "squared-hinge", "huber", "multinomial"])
def test_looks_from_scores_are_those_at_the_function(loss):
    data = linear(loss, l2=0.1)
    rng = np.random.default_rng(0)
    w, p = rng.standard_normal(data.dim), rng.standard_normal(data.dim)
    line, problem = begin(data, w, p)
    plain, _ = begin(without_scores(data), w, p)
    for step in (1.0, 0.3, 2.0, 0.0):
        trial, expected = line.look(step), plain.look(step)
        assert trial[:3] == pytest.approx(expected[:3], rel=1e-11, abs=1e-13)
        point, there = line.arrive(trial), plain.arrive(expected)
        assert point.value == pytest.approx(there.value, rel=1e-13)
        np.testing.assert_array_equal(point.w, there.w)
        np.testing.assert_allclose(point.gradient, there.gradient, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(point.scores, data.scores(point.w), rtol=1e-12, atol=1e-13)
    # Four values looked at, and the three points after the first evaluated to be arrived at.
    assert problem.counts == {"values": 7, "gradients": 4, "hessian_vectors": 0, "passes": 4}


def test_a_glance_costs_no_gradient():
    line, problem = begin(tw.surfaces.Rosenbrock(), np.array([-1.5, 2.0]), np.ones(2))
    trial = line.glance(0.5)
    assert trial.value == tw.surfaces.Rosenbrock().value(np.array([-1.0, 2.5]))
    assert math.isnan(trial.slope)
    assert problem.counts == {"values": 1, "gradients": 0, "hessian_vectors": 0, "passes": 1}
    assert line.arrive(trial).value == trial.value
    assert problem.gradients == 1


def test_a_glance_at_scores_is_a_look():
    data = linear()
    line, problem = begin(data, data.start, np.ones(data.dim))
    first, second = line.glance(1.0), line.glance(0.5)
    assert line.arrive(first) is first.point
    assert second.point is None
    assert math.isfinite(second.slope)
    assert problem.passes == 1


def test_a_first_trial_out_of_range_leaves_no_scores_behind():
    data = linear(dtype=np.float32)
    w, p = data.start, np.full(data.dim, 1e30, dtype=np.float32)
    line, problem = begin(data, w, p)
    assert not math.isfinite(line.look(1e20).value)
    trial = line.look(1e-30)
    assert trial.value == pytest.approx(data.value(w + 1), rel=1e-6)
    assert problem.passes == 2
    assert line.look(2e-30).value == pytest.approx(data.value(w + 2), rel=1e-6)
    assert problem.passes == 2


def test_slopes_of_float32_are_summed_in_float64():
    steep = tw.Objective(
        lambda w: float(1e20 * w[0].astype(float)), lambda w: np.float32([1e20]), dim=1,
        check_gradient=False,
    )  # fmt: skip
    line, _ = begin(steep, np.ones(1, dtype=np.float32), np.float32([-1e20]))
    assert line.slope == pytest.approx(-1e40, rel=1e-6)
    assert line.look(1e-20).slope == pytest.approx(-1e40, rel=1e-6)
