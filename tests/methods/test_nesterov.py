import itertools

import numpy as np
import pytest

import thalweg as tw
from stepping import follow
from thalweg import rules
from thalweg.theory import accelerated

W0 = np.array([-1.5, 2.0])


def only_smoothness(surface):
    """The same function, stating L but not μ."""
    return tw.Objective(
        surface.value, surface.gradient, surface.hessian_vector, dim=surface.dim,
        smoothness=surface.smoothness, check_gradient=False,
    )  # fmt: skip


def textbook(surface, x0, betas):
    """v_t = x_t + β_t(x_t − x_{t−1}),  x_{t+1} = v_t − (1/L)∇f(v_t): all x."""
    x, before = x0, x0
    found = [x]
    for beta in betas:
        v = x + beta * (x - before)
        x, before = v - surface.gradient(v) / surface.smoothness, x
        found.append(x)
    return found


def convex_betas(count):
    """(s_t − 1)/s_{t+1}, shifted: the first step has no momentum behind it."""
    s = [1.0]
    for _ in range(count):
        s.append((1 + (1 + 4 * s[-1] ** 2) ** 0.5) / 2)
    return [0.0] + [(s[t] - 1) / s[t + 1] for t in range(count - 1)]


def test_two_steps_by_hand():
    # f = ½w², η = ½, β = ½.  x₁ = 8 − 4 = 4, w₁ = 4 + ½(4 − 8) = 2;  x₂ = 1, w₂ = 1 + ½(1 − 4).
    method = tw.Nesterov(step=0.5, momentum=0.5)
    states = follow(method, tw.surfaces.Quadratic((1.0,)), [8.0], 2)
    assert [state.x[0] for state in states] == [8.0, 4.0, 1.0]
    assert [state.w[0] for state in states] == [8.0, 2.0, -0.5]


def test_constant_momentum_equals_the_rule_step_for_step():
    surface = tw.surfaces.Rosenbrock()
    states = follow(tw.Nesterov(step=1e-4, momentum=0.9), surface, W0, 50)
    w, m = W0, np.zeros(2)
    for t in range(1, 51):
        w, m = rules.nesterov(w, surface.gradient(w), m, 1e-4, 0.9)
        np.testing.assert_allclose(states[t].w, w, rtol=1e-10)


def test_a_whole_number_is_a_constant_momentum_too():
    surface = tw.surfaces.Rosenbrock()
    nesterov, plain = (
        follow(method, surface, W0, 20)[-1]
        for method in (tw.Nesterov(step=1e-3, momentum=0), tw.GD(step=1e-3))
    )
    np.testing.assert_array_equal(nesterov.w, plain.w)


def test_the_convex_form_equals_the_textbook_and_obeys_its_bound():
    surface = tw.surfaces.Quadratic.conditioned(1e5, dim=8, rotation="random")
    states = follow(tw.Nesterov(momentum="convex", restart=False), surface, surface.start, 300)
    expected = textbook(surface, surface.start, convex_betas(300))
    distance = float(np.linalg.norm(surface.start))
    for T, (state, x) in enumerate(zip(states, expected, strict=True)):
        np.testing.assert_allclose(state.x, x, atol=1e-12)
        gap = surface.value(state.x)
        assert gap <= accelerated.value_bound(distance, smoothness=1.0, iterations=T)


def test_the_strongly_convex_form_equals_the_textbook_and_obeys_its_bound():
    surface = tw.surfaces.Quadratic.conditioned(1e3, dim=8, rotation="random")
    constants = {"smoothness": 1.0, "strong_convexity": surface.strong_convexity}
    beta = accelerated.momentum(**constants)
    states = follow(tw.Nesterov(), surface, surface.start, 300)
    expected = textbook(surface, surface.start, [beta] * 300)
    distance, gap0 = float(np.linalg.norm(surface.start)), surface.value(surface.start)
    for T, (state, x) in enumerate(zip(states, expected, strict=True)):
        np.testing.assert_allclose(state.x, x, atol=1e-12)
        bound = accelerated.linear_bound(gap0, distance, **constants, iterations=T)
        assert surface.value(state.x) <= bound


def test_restart_finds_the_linear_rate_without_knowing_it():
    objective = only_smoothness(tw.surfaces.Quadratic.conditioned(1e4, dim=6, rotation="random"))
    w0 = np.ones(6)
    again, never = (
        tw.minimize(objective, tw.Nesterov(restart=restart), w0, tol=1e-8, max_iter=50_000)
        for restart in (True, False)
    )
    assert again.outcome is tw.Outcome.CONVERGED
    assert 2 * again.iterations < never.iterations


def test_a_restart_forgets_the_momentum():
    objective = only_smoothness(tw.surfaces.Quadratic.conditioned(100.0))
    states = follow(tw.Nesterov(), objective, [1.0, 1.0], 200)
    restarts = 0
    for before, after in itertools.pairwise(states):
        uphill = before.gradient @ (after.x - before.x) > 0
        assert (after.theta == 1.0) == uphill
        if uphill:
            restarts += 1
            np.testing.assert_array_equal(after.w, after.x)
    assert restarts >= 3


def test_the_strongly_convex_form_needs_mu():
    objective = only_smoothness(tw.surfaces.Quadratic())
    with pytest.raises(tw.InputError) as caught:
        tw.minimize(objective, tw.Nesterov(momentum="strongly-convex"), [1.0, 1.0])
    assert str(caught.value) == (
        f"momentum 'strongly-convex' needs L and μ > 0, which {objective.name} does not state: "
        "use momentum='convex', or give a number"
    )


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("used", [0.99, 1.01])
def test_the_stability_limit_is_where_it_diverges(momentum, used):
    surface = tw.surfaces.Quadratic((1.0, 10.0))
    step = used * 2 * (1 + momentum) / (1 + 2 * momentum) / 10.0
    method = tw.Nesterov(step=step, momentum=momentum)
    states = follow(method, surface, [1.0, 1.0], 3000)
    formula, limit, in_use = method.stability(states[-1], surface.smoothness)
    assert formula == "2(1+β)/((1+2β)L)"
    assert in_use == step
    assert (states[-1].value > states[0].value) == (in_use > limit)


@pytest.mark.parametrize("momentum", [None, "convex", 0.9])
def test_the_minimum_is_a_fixed_point(momentum):
    surface = tw.surfaces.Quadratic((1.0, 10.0), center=(3.0, 4.0))
    states = follow(tw.Nesterov(momentum=momentum), surface, [3.0, 4.0], 2)
    np.testing.assert_array_equal(states[-1].w, states[0].w)


def test_reaches_the_end_of_a_curved_valley():
    run = tw.minimize(tw.surfaces.Rosenbrock(), "nesterov", W0)
    assert run.outcome is tw.Outcome.CONVERGED
    np.testing.assert_allclose(run.w, [1.0, 1.0], atol=0.01)


def test_a_look_ahead_out_of_the_domain_is_taken_back():
    # Σ(w − log w), whose minimizer is 1, is defined for w > 0 only.
    def value(w):
        with np.errstate(all="ignore"):
            return float(np.sum(w - np.log(w)))

    objective = tw.Objective(value, lambda w: 1 - 1 / w)
    run = tw.minimize(objective, "nesterov", [50.0, 0.01], tol=1e-8)
    assert run.converged
    np.testing.assert_allclose(run.w, 1.0, atol=1e-6)
