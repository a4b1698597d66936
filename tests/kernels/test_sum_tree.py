import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from thalweg.kernels.sum_tree import sum_tree, tree_draw, tree_update

WEIGHT = st.one_of(st.just(0.0), st.floats(1e-300, 1e300))


def check_sums(tree, weights):
    """Every node is the sum of its children, bit for bit, and the leaves are the weights."""
    size = tree.size // 2
    assert size >= len(weights) > size // 2
    assert tree[size : size + len(weights)].tolist() == list(weights)
    assert not tree[size + len(weights) :].any()
    for node in range(1, size):
        assert tree[node] == tree[2 * node] + tree[2 * node + 1]


def test_three_weights_by_hand():
    tree = sum_tree(np.array([1.0, 2.0, 4.0]))
    assert tree[1:].tolist() == [7, 3, 4, 1, 2, 4, 0]
    assert [tree_draw(tree, target) for target in (0.0, 0.9, 1.0, 2.9, 3.0, 6.9)] == [
        0, 0, 1, 1, 2, 2,
    ]  # fmt: skip
    tree_update(tree, 0, 3.0)
    assert tree[1:].tolist() == [9, 5, 4, 3, 2, 4, 0]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 9, 100])
def test_sums(n):
    weights = np.random.default_rng(n).random(n)
    check_sums(sum_tree(weights), weights)


@pytest.mark.parametrize("n", [1, 2, 5, 8, 100])
def test_each_is_drawn_over_its_share_of_the_total(n):
    # Whole numbers: sums are exact, and so is the place of every share.
    weights = np.random.default_rng(n).integers(0, 4, n).astype(float)
    weights[-1] = 2.0
    tree = sum_tree(weights)
    targets = np.arange(4 * weights.sum()) / 4
    expected = np.searchsorted(np.cumsum(weights), targets, side="right")
    assert [tree_draw(tree, target) for target in targets] == expected.tolist()
    np.testing.assert_array_equal(np.bincount(expected, minlength=n), 4 * weights)


@settings(deadline=None)  # the first example may compile
@given(st.lists(WEIGHT, min_size=1, max_size=40).filter(any), st.floats(0.0, 1.0))
@example([1.0, 0.0], 1.0)
@example([0.1, 0.2, 0.3], 1.0)
def test_nothing_of_weight_zero_is_drawn_nor_beyond_the_end(weights, share):
    tree = sum_tree(np.array(weights))
    # Up to the total itself, which rounding can make of a number below it.
    drawn = tree_draw(tree, share * tree[1])
    assert drawn < len(weights)
    assert weights[drawn] > 0


@pytest.mark.parametrize("n", [1, 6, 64])
def test_many_updates_leave_the_sums_of_a_fresh_tree(n):
    rng = np.random.default_rng(n)
    weights = rng.random(n)
    tree = sum_tree(weights)
    for i in rng.integers(n, size=3000):
        weights[i] = rng.choice([0.0, 1e-8, 1.0, 1e8]) * rng.random()
        tree_update(tree, i, weights[i])
    assert tree.tolist() == sum_tree(weights).tolist()
    check_sums(tree, weights)
