"""SAG's figures, and its bounds against plain runs of the definition."""

import math

import numpy as np
import pytest

from thalweg.theory import accelerated, gradient_descent, sag

N, D, SEEDS = 8, 2, 300


def least_squares(l2):
    """fᵢ(x) = ½(aᵢᵀx − bᵢ)² + (l2/2)‖x‖²: all that the bound asks for."""
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((N, D)), rng.standard_normal(N)
    H = A.T @ A / N + l2 * np.eye(D)
    optimum = np.linalg.solve(H, A.T @ b / N)
    smoothness = float(np.max(np.sum(A**2, axis=1)) + l2)
    return A, b, H, optimum, smoothness, float(np.linalg.eigvalsh(H)[0])


def run(A, b, l2, step, steps, start):
    """SAG as the lecture writes it, for many seeds at once; yields x, float[SEEDS, D]."""
    rng = np.random.default_rng(1)
    x = np.tile(start, (SEEDS, 1))
    memory, total = np.zeros((SEEDS, N, D)), np.zeros((SEEDS, D))
    rows = np.arange(SEEDS)
    for _ in range(steps + 1):
        yield x
        i = rng.integers(N, size=SEEDS)
        fresh = (np.sum(A[i] * x, axis=1) - b[i])[:, None] * A[i] + l2 * x
        total = total - memory[rows, i] + fresh
        memory[rows, i] = fresh
        x = x - step / N * total


def constant_of(A, b, l2, H, optimum, smoothness, start):
    gap = 0.5 * (start - optimum) @ H @ (start - optimum)
    gradients = (A @ optimum - b)[:, None] * A + l2 * optimum
    return sag.constant(
        gap,
        np.linalg.norm(start - optimum),
        np.mean(np.sum(gradients**2, axis=1)),
        samples=N,
        smoothness=smoothness,
    )


@pytest.mark.parametrize("l2", [0.01, 1.0, 100.0])
def test_bound_holds_in_the_mean_over_seeds_at_every_step(l2):
    A, b, H, optimum, smoothness, mu = least_squares(l2)
    start = np.array([2.0, -1.0])
    C = constant_of(A, b, l2, H, optimum, smoothness, start)
    steps = 800
    gaps = [
        np.mean(0.5 * np.einsum("sd,de,se->s", x - optimum, H, x - optimum))
        for x in run(A, b, l2, sag.step(smoothness), steps, start)
    ]
    bounds = sag.value_bound(
        C,
        samples=N,
        smoothness=smoothness,
        strong_convexity=mu,
        iterations=np.arange(steps + 1),
    )
    assert np.all(np.array(gaps) <= bounds)


def test_lectures_figures_and_sag_beats_two_lower_bounds():
    n = 700_000
    problem = {"smoothness": 0.25, "strong_convexity": 1 / n}
    per_pass = sag.rate_per_pass(samples=n, **problem)
    assert round(per_pass, 5) == 0.88250
    assert round(gradient_descent.rate(**problem), 5) == 0.99998
    assert round(accelerated.rate(**problem), 5) == 0.99761
    assert round(accelerated.fastest_rate(**problem), 5) == 0.99048
    assert per_pass < accelerated.fastest_rate(**problem)


def test_per_pass_is_per_step_N_times():
    problem = {"samples": 50, "smoothness": 3.0, "strong_convexity": 0.01}
    assert sag.rate_per_pass(**problem) == pytest.approx(sag.rate_per_step(**problem) ** 50)


@pytest.mark.parametrize("samples", [1, 10, 10**6])
def test_well_conditioned_problems_lose_at_least_an_eighth_of_an_e_fold_a_pass(samples):
    rate = sag.rate_per_pass(samples=samples, smoothness=1.0, strong_convexity=1.0)
    # At N = 1 the conditioning term, 1/16, is the smaller one.
    assert rate <= (math.exp(-1 / 8) if samples > 1 else 15 / 16)


def test_ill_conditioned_problems_shrink_a_step_like_gradient_descent_but_for_a_constant():
    problem = {"smoothness": 1.0, "strong_convexity": 1e-6}
    shrink = 1 - sag.rate_per_step(samples=100, **problem)
    assert shrink == pytest.approx((1 - gradient_descent.safe_rate(**problem)) / 16, rel=1e-6)


def test_constant_by_hand_and_iterations_are_the_first_that_suffice():
    C = sag.constant(1.0, 2.0, 32.0, samples=4, smoothness=2.0)
    assert C == 1.0 + 8.0 + 1.0
    problem = {"samples": 4, "smoothness": 2.0, "strong_convexity": 0.5}
    T = sag.iterations(C, 1e-3, **problem)
    assert sag.value_bound(C, iterations=T, **problem) <= 1e-3
    assert sag.value_bound(C, iterations=T - 1, **problem) > 1e-3
