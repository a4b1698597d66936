from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from thalweg.kernels.lag import A_S, E_S, G, V, caught_up, cells_of, end_block, soft_threshold

TINY = np.finfo(float).tiny  # below it numbers have fewer digits


class Steps(NamedTuple):
    """The steps of a block, by their number from 1, and the penalties."""

    eta: np.ndarray
    m: np.ndarray
    l1: float
    l2: float


def sums(steps):
    """A, E and R of the docstring, from step 0 on."""
    R = np.cumprod(np.append(1.0, 1 - steps.eta * steps.l2))
    A = np.cumsum(np.append(0.0, steps.eta / (steps.m * R[1:])))
    E = np.cumsum(np.append(0.0, steps.eta / R[1:]))
    return A, E, R


def slow_path(w, g, steps):
    """w before the first step and after each, every step taken as it is written."""
    path = [w]
    for eta, m in zip(steps.eta, steps.m, strict=True):
        moved = (1 - eta * steps.l2) * path[-1] - eta * g / m
        path.append(np.sign(moved) * max(abs(moved) - eta * steps.l1, 0.0))
    return np.array(path)


def after_a_wait(w, g, steps, start, now):
    """The coefficient, w after step `start`, caught up at step `now`."""
    A, E, R = sums(steps)
    cells = np.array([[np.nan] * 4, [w / R[start], g, A[start], E[start]]])
    cells = cells[:, : cells_of(np.empty(0), np.empty(0), steps.l1).shape[1]].copy()
    v = caught_up(cells, 1, A, E, now, steps.l1)
    assert cells[1].tolist() == [v, g, A[now], E[now]][: cells.shape[1]]
    return R[now] * v


def check_every_wait(w, g, steps):
    path, total = slow_path(w, g, steps), len(steps.eta)
    # What rounding is relative to: all that was added up on the way. The sums A and E are
    # differenced, so of a step among many, as many units are lost; 10⁻¹² is some 4,000 units.
    size = abs(w) + np.sum(steps.eta * (abs(g) / steps.m + steps.l1))
    for start in range(total + 1):
        for now in range(start, total + 1):
            found = after_a_wait(path[start], g, steps, start, now)
            assert found == pytest.approx(path[now], rel=1e-12, abs=1e-12 * size)


def test_three_steps_by_hand():
    # ρ = ½: w = 8 → 4 − 1 − ½ = 2.5 → 1.25 − 1 − ½ → 0 (|−¼| ≤ ½) → 0 − ½ → 0
    steps = Steps(np.full(3, 0.5), np.array([1.0, 1.0, 2.0]), l1=1.0, l2=1.0)
    assert slow_path(8.0, 2.0, steps).tolist() == [8.0, 2.5, 0.0, 0.0]
    assert [after_a_wait(8.0, 2.0, steps, 0, now) for now in range(4)] == [8.0, 2.5, 0.0, 0.0]


def test_cells_begin_up_to_date():
    cells = cells_of(np.array([1.0, 2.0]), np.array([3.0, 4.0]), l1=0.5)
    assert cells[:, V].tolist() == [1, 2]
    assert cells[:, G].tolist() == [3, 4]
    assert not cells[:, [A_S, E_S]].any()
    without = cells_of(np.array([1.0, 2.0]), np.array([3.0, 4.0]), l1=0.0)
    assert without.tolist() == cells[:, [V, G, A_S]].tolist()


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_through_zero_and_back_to_it_while_waiting(side):
    # Every number of it is a fraction of a power of two, and R = 1: equality is exact.
    m = np.array([1.0, 2, 4, 8, 8, 8, 8, 8, 8])
    steps = Steps(np.ones(m.size), m, l1=2.0, l2=0.0)
    path = side * np.array([4.0, -2, -4, -4, -3, -2, -1, 0, 0, 0])
    assert slow_path(4.0 * side, 8.0 * side, steps).tolist() == path.tolist()
    for start in range(m.size + 1):
        for now in range(start, m.size + 1):
            assert after_a_wait(path[start], 8.0 * side, steps, start, now) == path[now]


def test_a_zero_leaves_if_the_first_of_the_steps_moves_it_and_returns_as_m_grows():
    steps = Steps(np.ones(8), np.array([1.0, 1, 8, 8, 8, 8, 8, 8]), l1=1.0, l2=0.0)
    path = [0.0, -1.0, -2.0, -1.25, -0.5, 0.0, 0.0, 0.0, 0.0]
    assert slow_path(0.0, 2.0, steps).tolist() == path
    assert [after_a_wait(0.0, 2.0, steps, 0, now) for now in range(9)] == path
    assert after_a_wait(0.0, 2.0, steps, 2, 8) == 0.0


def test_without_l1_any_wait_is_one_formula():
    rng = np.random.default_rng(0)
    m = np.sort(rng.integers(1, 9, 40)).astype(float)
    check_every_wait(-0.7, 1.3, Steps(rng.random(40), m, l1=0.0, l2=0.4))


def test_long_block_of_short_steps():
    # A wait of one step at the end of 16,384, where the sums A and E are largest.
    count = 16_384
    steps = Steps(np.full(count, 0.01), np.minimum(np.arange(1.0, count + 1), 300), l1=0.1, l2=0.01)
    path = slow_path(2.0, 45.0, steps)
    assert path.min() < -1
    for start, now in [(0, count), (7, 9000), (count - 1, count), (count - 9, count)]:
        found = after_a_wait(path[start], 45.0, steps, start, now)
        assert found == pytest.approx(path[now], rel=1e-10)


@given(
    pace=st.lists(
        st.tuples(st.floats(0.001, 1.0), st.sampled_from([0, 0, 0, 1, 3, 20])),
        min_size=1, max_size=14,
    ),
    w=st.one_of(st.just(0.0), st.floats(-10, 10)),
    g=st.one_of(st.just(0.0), st.floats(-100, 100)),
    l1=st.one_of(st.just(0.0), st.floats(0.001, 20)),
    l2=st.one_of(st.just(0.0), st.floats(0.001, 0.999)),
)  # fmt: skip
@settings(deadline=None)  # the first example may compile
@example([(1.0, 0)] * 9, 5.0, 0.5, 0.5, 0.0)  # comes to rest at zero exactly
@example([(1.0, 0), (1.0, 0), (1.0, 20)] * 4, 5.0, 40.0, 5.0, 0.999)
@example([(1.0, 3)] * 14, 0.0, 9.0, 1.0, 0.0)
def test_any_wait_is_the_steps_one_by_one(pace, w, g, l1, l2):
    eta, growth = np.array(pace).T
    check_every_wait(w, g, Steps(eta, 1 + np.cumsum(growth), l1, l2))


@pytest.mark.parametrize("l1", [0.0, 0.2])
def test_the_end_of_a_block_settles_all_cells(l1):
    rng = np.random.default_rng(1)
    steps = Steps(rng.random(9), np.repeat([1.0, 2.0, 9.0], 3), l1=l1, l2=0.5)
    A, E, R = sums(steps)
    w, g = rng.standard_normal(6), 3 * rng.standard_normal(6)
    cells = cells_of(w, g, steps.l1)
    caught_up(cells, 2, A, E, 4, steps.l1)  # one has been up to date in between
    end_block(cells, R[9], A, E, 9, steps.l1)
    expected = [slow_path(*pair, steps)[-1] for pair in zip(w, g, strict=True)]
    np.testing.assert_allclose(cells[:, V], expected, rtol=1e-12, atol=1e-14)
    assert cells[:, G].tolist() == g.tolist()
    assert not cells[:, A_S:].any()
    again = cells.copy()
    end_block(again, 1.0, A, E, 0, steps.l1)  # nothing has happened since
    assert again.tolist() == cells.tolist()


@pytest.mark.parametrize("l1", [0.0, 0.5])
@pytest.mark.parametrize(("w", "g"), [(np.nan, 1.0), (1.0, np.nan), (0.0, np.nan)])
def test_nan_is_not_hidden(w, g, l1):
    A, E, _ = sums(Steps(np.ones(5), np.ones(5), l1=l1, l2=0.0))
    assert np.isnan(caught_up(np.array([[w, g, 0.0, 0.0]]), 0, A, E, 5, l1))


def test_the_soft_threshold_is_the_rule():
    assert [soft_threshold(w, 1.0) for w in (-3.0, -1.0, 0.5, 2.5)] == [-2.0, 0.0, 0.0, 1.5]
