"""R* against its definition, a supremum."""

import numpy as np
import pytest
import scipy.optimize

from thalweg.certificates.dual_penalty import DualPenalty, dual_penalty
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
