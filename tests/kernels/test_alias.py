import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.kernels.alias import alias_draws, alias_table


def masses(threshold, alias):
    """What each index is drawn with, added up over the cells."""
    own = np.minimum(threshold, 1.0)
    return (own + np.bincount(alias, weights=1.0 - own, minlength=own.size)) / own.size


def check_table(probabilities):
    threshold, alias = alias_table(probabilities)
    assert (threshold >= 0).all()
    assert ((alias >= 0) & (alias < probabilities.size)).all()
    # Each cell is filled to rounding, and a rich one gives away at most n times.
    allowance = 4e-16 * probabilities.size
    np.testing.assert_allclose(masses(threshold, alias), probabilities, rtol=1e-12, atol=allowance)


def test_two_cells_by_hand():
    threshold, alias = alias_table(np.array([0.25, 0.75]))
    assert threshold.tolist() == [0.5, 1.0]
    assert alias.tolist() == [1, 1]
    draws = alias_draws(threshold, alias, np.array([0.0, 0.24, 0.25, 0.49, 0.5, 0.99]))
    assert draws.tolist() == [0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize(
    "weights",
    [
        [1.0],
        [1.0] * 7,
        [0.0, 0.0, 1.0],
        [1e-300, 1.0, 1e-300, 1.0],
        [1e12, 1.0, 1.0, 0.0, 1e-12],
        np.geomspace(1e-15, 1e15, 200),
        np.geomspace(1e15, 1e-15, 200),
        np.r_[np.zeros(50), np.ones(3), np.zeros(50)],
        np.random.default_rng(0).random(2000),
        np.random.default_rng(1).pareto(0.3, 999),
    ],
    ids=lambda weights: f"{len(weights)} weights",
)
def test_the_cells_add_up_to_the_probabilities(weights):
    check_table(np.array(weights) / np.sum(weights))


@settings(deadline=None)  # the first example may compile
@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=40))
def test_the_cells_of_any_weights_add_up(weights):
    check_table(np.array(weights) / np.sum(weights))


@pytest.mark.parametrize("n", [1, 3, 49, 1000])
def test_evenly_spread_numbers_give_the_probabilities(n):
    probabilities = np.random.default_rng(n).dirichlet(np.full(n, 0.5))
    count = 400_000
    uniforms = (np.arange(count) + 0.5) / count
    draws = alias_draws(*alias_table(probabilities), uniforms)
    # A cell begins and changes between two of the numbers: at most two wrong a cell that holds i.
    found = np.bincount(draws, minlength=n) / count
    assert np.abs(found - probabilities).sum() <= 4 * n / count


def test_the_largest_number_below_one_stays_within():
    for n in (1, 3, 7, 10**5 + 1):
        table = alias_table(np.full(n, 1.0 / n))
        assert alias_draws(*table, np.array([np.nextafter(1.0, 0.0)])).tolist() == [n - 1]


def test_what_has_no_weight_is_never_drawn():
    probabilities = np.array([0.0, 0.3, 0.0, 0.7, 0.0])
    uniforms = np.r_[0.0, np.arange(5) / 5, np.random.default_rng(2).random(10_000)]
    assert set(alias_draws(*alias_table(probabilities), uniforms)) == {1, 3}
