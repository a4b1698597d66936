"""R* against its definition, a supremum."""

import numpy as np
import pytest
import scipy.optimize

from terms import elastic, group_lasso, lasso, non_negative
from thalweg.certificates.dual_penalty import DualPenalty, OwnDualPenalty, dual_penalty
from thalweg.objectives.linear import LinearProblem

V = np.array([0.7, -1.5, 0.2])


def slow(u, l1, l2):
    """The supremum over each coordinate by itself."""
    found = [
        scipy.optimize.minimize_scalar(
            lambda w, each=each: 0.5 * l2 * w * w + l1 * abs(w) - each * w,
            bounds=(-100.0, 100.0),
            method="bounded",
            options={"xatol": 1e-12},
        )
        for each in u
    ]
    return -sum(each.fun for each in found)


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.5), (0.4, 0.5), (3.0, 0.5)])
@pytest.mark.parametrize("s", [0.3, 1.0, 2.0])
def test_with_l2_it_is_the_supremum_everywhere(l1, l2, s):
    held = DualPenalty(l1, l2)
    expected = slow(-s * V, l1, l2)
    assert held.largest(V) == np.inf
    assert held.value(V, s) == pytest.approx(expected, abs=1e-8)
    assert held.with_rounding(V, s, np.zeros(3), 1.0) == (pytest.approx(expected, abs=1e-8), 0.0)


def test_without_l2_it_is_zero_up_to_an_edge():
    held = DualPenalty(0.5, 0.0)
    assert held.largest(V) == pytest.approx(0.5 / 1.5)
    assert np.abs(held.largest(V) * V).max() <= 0.5
    assert held.largest(np.zeros(3)) == np.inf
    assert held.value(V, held.largest(V)) == 0.0


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.5), (0.4, 0.5)])
def test_rounding_covers_what_an_error_of_v_does(l1, l2):
    held, error = DualPenalty(l1, l2), np.array([1e-3, 2e-3, 5e-4])
    value, rounding = held.with_rounding(V, 1.0, error, 1.0)
    worst = max(held.value(V + signs * error, 1.0) for signs in (np.sign(V), -np.sign(V), 1.0))
    assert 0.0 < worst - value <= rounding * (1 + 1e-12)


def test_the_problem_has_its_own():
    assert dual_penalty(LinearProblem([[1.0]], [1.0], l1=0.1, l2=0.2)) == (0.1, 0.2)


ERROR = np.array([1e-9, 2e-9, 5e-10])


@pytest.mark.parametrize(("l1", "l2"), [(0.4, 0.0), (0.4, 0.5), (3.0, 0.5)])
def test_a_restated_lasso_has_the_same_conjugate_and_the_same_rounding(l1, l2):
    own, built_in = OwnDualPenalty(lasso(l1), l2), DualPenalty(l1, l2)
    assert own.largest(V) == pytest.approx(built_in.largest(V))
    for s in (0.1, min(own.largest(V), 1.5)):
        assert own.value(V, s) == pytest.approx(built_in.value(V, s), abs=1e-14)
        found, expected = (each.with_rounding(V, s, ERROR, 2.0) for each in (own, built_in))
        assert found[0] == pytest.approx(expected[0], abs=1e-14)
        assert found[1] == pytest.approx(expected[1], rel=1e-6, abs=1e-20)


def test_a_penalty_with_a_conjugate_needs_no_l2():
    # λ₁‖w‖₁ + (λ₂/2)‖w‖² is the built-in elastic net.
    own, built_in = OwnDualPenalty(elastic(0.4, 0.5), 0.0), DualPenalty(0.4, 0.5)
    assert own.largest(V) == np.inf
    assert own.value(V, 0.7) == pytest.approx(built_in.value(V, 0.7))
    value, rounding = own.with_rounding(V, 0.7, ERROR, 1.0)
    assert value == own.value(V, 0.7)
    assert 0.0 < rounding < 1e-7


def test_a_conjugate_with_an_edge_is_gone_to_it():
    ball = elastic(0.4, 0.5, conjugate=lambda u: 0.0 if np.abs(u).max() <= 1.0 else np.inf)
    own = OwnDualPenalty(ball, 0.0)
    assert own.largest(V) == pytest.approx(1 / 1.5, rel=1e-9)
    assert np.isfinite(own.value(V, own.largest(V)))
    # No multiple but 0 is inside where one entry has the wrong sign.
    assert OwnDualPenalty(non_negative(), 0.0).largest(np.array([-1.0, 1.0])) == 0.0
    assert OwnDualPenalty(non_negative(), 0.0).largest(np.array([1.0, 1.0])) == np.inf


def test_a_direction_that_nothing_holds_has_no_multiple():
    free = lasso(0.4, dual=lambda u: np.inf)
    assert OwnDualPenalty(free, 0.0).largest(V) == 0.0


def test_the_problem_has_that_of_its_own():
    X, y, own = np.eye(4), np.arange(4.0), group_lasso(0.3)
    assert dual_penalty(LinearProblem(X, y, l2=0.2, penalty=own)) == (own, 0.2)
