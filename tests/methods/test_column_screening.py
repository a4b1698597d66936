"""What is screened out is zero at the optimum, by signs too; and it is much where signs tell."""

import numpy as np
import pytest

import thalweg as tw
from column_problems import HELD, drawn
from l1_problems import begun
from thalweg.methods.column_screening import column_interval, zero_columns


@pytest.mark.parametrize("name", ["positive", "negative", "box", "weights and bounds"])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_out_is_zero_at_the_optimum(name, seed):
    held = dict(HELD[name])
    if held.get("weight") == "drawn":
        held["weight"] = 1.0 + np.arange(60) % 3
    problem = drawn(seed, 30, 60, "squared", held, l1=0.05)
    best = tw.minimize(problem, "newton", tol=1e-13, progress=False).w[:-1]
    seen, method, state = begun(problem.centred)
    for _ in range(8):
        assert np.all(np.abs(best[state.is_out]) <= 1e-9)
        state = method.advance(seen, state)
    assert np.count_nonzero(state.is_out) > 10


def test_the_interval_holds_the_optimal_slopes():
    problem = drawn(5, 40, 20, "squared", HELD["positive"], l1=0.03).centred
    run = tw.minimize(problem, "newton", tol=1e-14, progress=False)
    theta = problem.scores(run.w) - problem.y
    u = -problem.transpose(theta)
    w = 0.9 * run.w
    slopes = problem.scores(w) - problem.y
    v, spread = problem.transpose(slopes), np.sqrt(problem.column_squares)
    everything = np.ones(20, dtype=bool)
    found = column_interval(problem, problem.value(w), slopes, v, spread, everything)
    radius = spread * np.sqrt(2.0 * found.gap)
    assert np.all(u <= found.high + radius + 1e-12)
    assert np.all(u >= found.low - radius - 1e-12)


def test_where_the_domain_ends_at_zero_nothing_is_known():
    problem = drawn(5, 40, 20, "squared", {"weight": np.arange(20.0)}, l1=0.03).centred
    slopes = -problem.y
    v, everything = problem.transpose(slopes), np.ones(20, dtype=bool)
    found = column_interval(problem, problem.value(problem.start), slopes, v, v, everything)
    assert found.gap == np.inf
    assert not zero_columns(problem, found, v, everything).any()
