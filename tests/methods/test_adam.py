import itertools

import numpy as np
import pytest

import thalweg as tw
from stepping import SLOPE, follow, times
from thalweg import rules
from thalweg.methods.schedule import scheduled

W0 = np.array([-1.5, 2.0])


def test_one_step_by_hand():
    # m̂ = g and v̂ = g²: the first step has length lr in every coordinate.
    surface = tw.surfaces.Quadratic((1.0, 4.0))
    after = follow(tw.Adam(lr=0.5, beta1=0.5, beta2=0.75, eps=1e-300), surface, [3.0, -1.0], 1)[1]
    np.testing.assert_array_equal(after.w, [2.5, -0.5])
    np.testing.assert_array_equal(after.m, [1.5, -2.0])
    np.testing.assert_array_equal(after.v, [2.25, 4.0])


@pytest.mark.parametrize("schedule", ["constant", "1/t", "1/√t"])
@pytest.mark.parametrize("corrected", [True, False])
def test_equals_the_rule_step_for_step(corrected, schedule):
    surface = tw.surfaces.Rosenbrock()
    method = tw.Adam(
        lr=0.05, beta1=0.8, beta2=0.95, eps=0.1, bias_correction=corrected, schedule=schedule
    )
    states = follow(method, surface, W0, 40)
    w, m, v = W0, np.zeros(2), np.zeros(2)
    for t in range(1, 41):
        count = (t,) if corrected else ()
        rule = rules.adam if corrected else rules.adam_uncorrected
        lr = scheduled(0.05, schedule, t)
        w, m, v = rule(w, surface.gradient(w), m, v, *count, lr, 0.8, 0.95, 0.1)
        np.testing.assert_allclose(states[t].w, w, rtol=1e-9)
        np.testing.assert_allclose(states[t].m, m, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(states[t].v, v, rtol=1e-9)


def test_the_first_step_of_the_slides_is_longer_by_the_ratio_of_the_biases():
    corrected, printed = (
        follow(tw.Adam(eps=1e-300, bias_correction=flag), SLOPE, [0.0, 0.0], 1)[1].w
        for flag in (True, False)
    )
    np.testing.assert_allclose(printed / corrected, (1 - 0.9) / np.sqrt(1 - 0.999), rtol=1e-12)


def test_along_a_constant_slope_every_step_has_length_lr():
    states = follow(tw.Adam(lr=0.01, eps=1e-300), SLOPE, [0.0, 0.0], 100)
    lengths = np.abs(np.diff([state.w for state in states], axis=0))
    np.testing.assert_allclose(lengths, 0.01, rtol=1e-8)


def test_the_scale_of_f_does_not_matter_without_eps():
    surface = tw.surfaces.Rosenbrock()
    plain, scaled = (
        follow(tw.Adam(eps=1e-300), objective, W0, 100)[-1]
        for objective in (surface, times(1000.0, surface))
    )
    np.testing.assert_allclose(scaled.w, plain.w, rtol=1e-8)


def test_no_memory_is_descent_by_signs():
    surface = tw.surfaces.Rosenbrock()
    states = follow(tw.Adam(lr=0.01, beta1=0.0, beta2=0.0, eps=1e-300), surface, W0, 20)
    for before, after in itertools.pairwise(states):
        moved = before.w - 0.01 * np.sign(before.gradient)
        np.testing.assert_allclose(after.w, moved, rtol=1e-12)


def test_the_minimum_is_a_fixed_point():
    start, after = follow(tw.Adam(), tw.surfaces.Rosenbrock(), [1.0, 1.0], 1)
    np.testing.assert_array_equal(after.w, start.w)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_reaches_the_end_of_a_curved_valley(dtype):
    tol = 1e-4 if dtype == np.float32 else 1e-8
    run = tw.minimize(tw.surfaces.Rosenbrock(), "adam", W0.astype(dtype), tol=tol)
    assert run.outcome is tw.Outcome.CONVERGED
    np.testing.assert_allclose(run.w, [1.0, 1.0], atol=1e3 * tol)
