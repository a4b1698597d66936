import numpy as np
import pytest

import thalweg as tw
from stepping import follow

CURVED = tw.surfaces.Quadratic(
    np.geomspace(0.1, 10.0, 8), rotation="random", center=np.linspace(-2.0, 2.0, 8)
)


def soft(w, threshold):
    """argmin over u of threshold·|u| + ½(u − w)², from its three cases."""
    return np.where(w > threshold, w - threshold, np.where(w < -threshold, w + threshold, 0.0))


def ista(surface, l1, w, count):
    """Plain proximal gradient, run to death."""
    step = 1 / surface.smoothness
    for _ in range(count):
        w = soft(w - step * surface.gradient(w), step * l1)
    return w


def unknown(surface):
    """The same function, stating neither L nor μ."""
    return tw.Objective(surface.value, surface.gradient, dim=surface.dim, check_gradient=False)


def test_one_step_by_hand():
    # f = ½·2w², λ = 1, η = ½ = 1/L:  3 − ½·6 = 0 → 0;  with η = ¼:  3 − 1½ = 1½ → 1½ − ¼ = 1¼
    objective = tw.Regularized(tw.surfaces.Quadratic((2.0,)), l1=1.0)
    after = follow(tw.FISTA(step=0.25), objective, [3.0], 1)[1]
    assert after.w[0] == 1.25
    assert after.value == 1.25**2 + 1.25
    assert after.gradient[0] == (3.0 - 1.25) / 0.25


def test_without_momentum_it_is_proximal_gradient():
    states = follow(tw.FISTA(momentum=False), tw.Regularized(CURVED, l1=0.5), np.ones(8), 60)
    for t in (1, 2, 17, 60):
        np.testing.assert_allclose(states[t].w, ista(CURVED, 0.5, np.ones(8), t), rtol=1e-12)


def test_equals_beck_and_teboulle_step_for_step():
    states = follow(tw.FISTA(restart=False), tw.Regularized(CURVED, l1=0.5), np.ones(8), 100)
    L, x, y, theta = CURVED.smoothness, np.ones(8), np.ones(8), 1.0
    for t in range(1, 101):
        x, before = soft(y - CURVED.gradient(y) / L, 0.5 / L), x
        theta, old = (1 + (1 + 4 * theta**2) ** 0.5) / 2, theta
        y = x + (old - 1) / theta * (x - before)
        np.testing.assert_allclose(states[t].w, x, atol=1e-12)


@pytest.mark.parametrize("objective", [CURVED, unknown(CURVED)])
@pytest.mark.parametrize("l1", [0.05, 0.5, 3.0])
def test_agrees_with_ista_run_to_death(objective, l1):
    run = tw.minimize(tw.Regularized(objective, l1=l1), "fista", np.ones(8), tol=1e-10)
    assert run.outcome is tw.Outcome.CONVERGED
    expected = ista(CURVED, l1, np.ones(8), 20_000)
    np.testing.assert_allclose(run.w, expected, atol=1e-8)
    np.testing.assert_array_equal(run.w == 0.0, expected == 0.0)


def test_diagonal_problems_have_a_closed_form_with_exact_zeros():
    curvatures, center = np.array([0.5, 1.0, 2.0, 8.0]), np.array([3.0, -0.3, 0.1, -2.0])
    surface = tw.surfaces.Quadratic(curvatures, center=center)
    run = tw.minimize(tw.Regularized(surface, l1=0.4), "fista", np.ones(4), tol=1e-12)
    np.testing.assert_allclose(run.w, soft(center, 0.4 / curvatures), atol=1e-10)
    np.testing.assert_array_equal(run.w[1:3], [0.0, 0.0])


def test_a_ball_is_a_constraint():
    # Stationary on the sphere: (H + νI)w = Hc with the ν ≥ 0 that makes ‖w‖ = r, by bisection.
    radius = 1.5
    run = tw.minimize(tw.Regularized(CURVED, radius=radius), "fista", 9 * np.ones(8), tol=1e-10)
    H = np.stack([CURVED.hessian_vector(np.zeros(8), unit) for unit in np.eye(8)])
    low, high = 0.0, 1e3
    for _ in range(200):
        nu = 0.5 * (low + high)
        w = np.linalg.solve(H + nu * np.eye(8), H @ CURVED.center)
        low, high = (nu, high) if np.linalg.norm(w) > radius else (low, nu)
    assert run.outcome is tw.Outcome.CONVERGED
    np.testing.assert_allclose(run.w, w, atol=1e-7)


def test_every_iterate_is_feasible():
    objective = tw.Regularized(CURVED, radius=1.5)
    states = follow(tw.FISTA(), objective, 9 * np.ones(8), 50)
    np.testing.assert_allclose(states[0].w, 1.5 * np.ones(8) / np.sqrt(8), rtol=1e-12)
    assert all(np.linalg.norm(state.w) <= 1.5 * (1 + 1e-12) for state in states)


def test_the_bound_holds_at_every_step():
    objective = tw.Regularized(CURVED, l1=0.5)
    best = ista(CURVED, 0.5, np.ones(8), 20_000)
    squared = np.sum((np.ones(8) - best) ** 2)
    states = follow(tw.FISTA(restart=False), objective, np.ones(8), 300)
    for T, state in enumerate(states):
        bound = 2 * CURVED.smoothness * squared / (T + 1) ** 2
        assert state.value - objective.value(best) <= bound


@pytest.mark.parametrize("restart", [True, False])
@pytest.mark.parametrize("surface", [CURVED, unknown(CURVED)])
def test_without_a_penalty_it_is_nesterovs_convex_form(surface, restart):
    fista = follow(tw.FISTA(restart=restart), surface, np.ones(8), 150)
    nesterov = follow(tw.Nesterov(momentum="convex", restart=restart), surface, np.ones(8), 150)
    for mine, other in zip(fista, nesterov, strict=True):
        np.testing.assert_allclose(mine.w, other.x, atol=1e-9)


def test_restart_helps_when_ill_conditioned():
    surface = tw.surfaces.Quadratic.conditioned(1e4, dim=6, rotation="random")
    objective = tw.Regularized(surface, l1=1e-6)
    again, never = (
        tw.minimize(objective, tw.FISTA(restart=restart), np.ones(6), tol=1e-8, max_iter=50_000)
        for restart in (True, False)
    )
    assert again.outcome is tw.Outcome.CONVERGED
    assert 2 * again.iterations < never.iterations


@pytest.mark.parametrize("surface", [CURVED, unknown(CURVED)])
def test_the_minimizer_is_a_fixed_point(surface):
    best = ista(CURVED, 0.5, np.ones(8), 20_000)
    states = follow(tw.FISTA(), tw.Regularized(surface, l1=0.5), best, 3)
    np.testing.assert_allclose(states[-1].w, best, atol=1e-13)


def test_far_from_the_origin_a_small_move_is_not_taken_for_none():
    # At 1.5e8 neighbouring float32 numbers are 16 apart: w − (w − ηg) rounds to zero there.
    surface = tw.surfaces.Quadratic((1e-8, 1e-7))
    w0 = np.array([1.5e8, -1.5e8], dtype=np.float32)
    run = tw.minimize(unknown(surface), "fista", w0, tol=1e-4)
    assert run.iterations > 0
    np.testing.assert_array_less(np.abs(surface.gradient(run.w)), 2e-3)


def test_a_look_ahead_out_of_the_domain_is_taken_back():
    # Σ(w − log w), whose minimizer is 1, is defined for w > 0 only.
    def value(w):
        with np.errstate(all="ignore"):
            return float(np.sum(w - np.log(w)))

    objective = tw.Objective(value, lambda w: 1 - 1 / w)
    run = tw.minimize(objective, "fista", [50.0, 0.01], tol=1e-8)
    assert run.converged
    np.testing.assert_allclose(run.w, 1.0, atol=1e-6)
