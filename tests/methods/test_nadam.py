import numpy as np
import pytest

import thalweg as tw
from stepping import SLOPE, follow, times
from thalweg import rules
from thalweg.methods.schedule import scheduled

W0 = np.array([-1.5, 2.0])


def by_definition(surface, w, count, *, lr, beta1, beta2, eps, psi, schedule="constant"):
    """Dozat's update with every product of momenta multiplied out afresh."""
    m = v = np.zeros_like(w)
    found = [w]

    def mu(i):
        return beta1 * (1 - 0.5 * 0.96 ** (i * psi))

    for t in range(1, count + 1):
        g = surface.gradient(w)
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2
        now = np.prod([mu(i) for i in range(1, t + 1)])
        following = now * mu(t + 1)
        ahead = (1 - mu(t)) / (1 - now) * g + mu(t + 1) / (1 - following) * m
        w = w - scheduled(lr, schedule, t) * ahead / (np.sqrt(v / (1 - beta2**t)) + eps)
        found.append(w)
    return found


def test_one_step_by_hand():
    # ψ = 0: μ = β₁/2 = ¼ always. m = ½g, v̂ = g², so with g > 0 the step is
    # lr·[(¾/¾) + ¼·½/(1 − 1/16)] = lr·(1 + 2/15).
    method = tw.Nadam(lr=0.15, beta1=0.5, beta2=0.75, eps=1e-300, momentum_decay=0.0)
    after = follow(method, tw.surfaces.Quadratic((1.0, 4.0)), [3.0, 1.0], 1)[1]
    np.testing.assert_allclose(after.w, [3.0 - 0.17, 1.0 - 0.17], rtol=1e-14)
    assert after.mu_product == 0.25


@pytest.mark.parametrize("schedule", ["constant", "1/t", "1/√t"])
@pytest.mark.parametrize("psi", [0.0, 0.004, 0.5])
def test_equals_the_definition_step_for_step(psi, schedule):
    surface = tw.surfaces.Rosenbrock()
    options = {"lr": 0.05, "beta1": 0.8, "beta2": 0.95, "eps": 0.1, "schedule": schedule}
    states = follow(tw.Nadam(**options, momentum_decay=psi), surface, W0, 40)
    for state, w in zip(states, by_definition(surface, W0, 40, **options, psi=psi), strict=True):
        np.testing.assert_allclose(state.w, w, rtol=1e-9)


def test_equals_the_rule_step_for_step():
    surface = tw.surfaces.Rosenbrock()
    states = follow(tw.Nadam(), surface, W0, 40)
    w, m, v, product = W0, np.zeros(2), np.zeros(2), 1.0
    for t in range(1, 41):
        mu, mu_next = (rules.nadam_momentum(k, 0.9, 0.004) for k in (t, t + 1))
        product *= mu
        w, m, v = rules.nadam(
            w, surface.gradient(w), m, v, t, mu, mu_next, product, 0.03, 0.9, 0.999, 1e-8
        )
        np.testing.assert_allclose(states[t].w, w, rtol=1e-9)
        np.testing.assert_allclose(states[t].mu_product, product, rtol=1e-12)


def test_the_scale_of_f_does_not_matter_without_eps():
    surface = tw.surfaces.Rosenbrock()
    plain, scaled = (
        follow(tw.Nadam(eps=1e-300), objective, W0, 100)[-1]
        for objective in (surface, times(1000.0, surface))
    )
    np.testing.assert_allclose(scaled.w, plain.w, rtol=1e-8)


def test_along_a_constant_slope_both_coordinates_move_alike():
    states = follow(tw.Nadam(eps=1e-300), SLOPE, [0.0, 0.0], 100)
    lengths = np.abs(np.diff([state.w for state in states], axis=0))
    np.testing.assert_allclose(lengths[:, 0], lengths[:, 1], rtol=1e-9)
    np.testing.assert_allclose(lengths[-1], 0.03, rtol=1e-2)


def test_the_minimum_is_a_fixed_point():
    start, after = follow(tw.Nadam(), tw.surfaces.Rosenbrock(), [1.0, 1.0], 1)
    np.testing.assert_array_equal(after.w, start.w)


def test_reaches_the_end_of_a_curved_valley():
    run = tw.minimize(tw.surfaces.Rosenbrock(), tw.Nadam(lr=0.1, schedule="1/√t"), W0)
    assert run.outcome is tw.Outcome.CONVERGED
    np.testing.assert_allclose(run.w, [1.0, 1.0], atol=1e-3)
