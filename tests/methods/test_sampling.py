import numpy as np
import pytest

from thalweg.methods.sampling import SAMPLINGS, sampler

L = np.array([1.0, 1.0, 2.0, 12.0])


def test_odds_and_smoothness_by_hand():
    # pᵢ = ½(1/4 + Lᵢ/16): npᵢ = ½ + Lᵢ/8.
    draw = sampler("lipschitz", L)
    np.testing.assert_allclose(draw.odds, [0.625, 0.625, 0.75, 2.0], rtol=1e-15)
    assert draw.smoothness(L) == pytest.approx(6.0)  # 12/2, below 2·mean = 8
    assert sampler("uniform", L).smoothness(L) == 12.0


def test_frequencies_are_the_probabilities():
    for kind in ("uniform", "lipschitz"):
        draw = sampler(kind, L)
        order = draw.order(40_000, np.random.default_rng(0))
        shares = np.bincount(order, minlength=4) / order.size
        np.testing.assert_allclose(shares, draw.odds / 4, atol=0.01)  # 4 deviations


def test_shuffled_is_a_new_permutation_a_pass_and_cyclic_the_same():
    rng = np.random.default_rng(0)
    shuffled, cyclic = sampler("shuffled", np.ones(30)), sampler("cyclic", np.ones(30))
    first, second = shuffled.order(60, rng).reshape(2, 30)
    assert sorted(first) == sorted(second) == list(range(30))
    assert list(first) != list(second)
    np.testing.assert_array_equal(cyclic.order(45, rng), [*range(30), *range(15)])


@pytest.mark.parametrize("kind", SAMPLINGS)
def test_as_many_as_asked_for_and_a_seed_replays(kind):
    draw = sampler(kind, L)
    orders = [draw.order(7, np.random.default_rng(5)) for _ in range(2)]
    assert orders[0].shape == (7,)
    assert orders[0].dtype == np.int64
    np.testing.assert_array_equal(*orders)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_every_sample_keeps_half_its_share_and_the_mean_bounds_the_smoothness(scale):
    rows = scale * 10.0 ** np.random.default_rng(0).uniform(-8, 8, 100)
    draw = sampler("lipschitz", rows)
    assert draw.odds.min() >= 0.5
    assert draw.odds.mean() == pytest.approx(1.0)
    assert draw.smoothness(rows) <= 2 * rows.mean() * (1 + 1e-12)


def test_equal_rows_and_rows_of_zero_are_drawn_alike():
    np.testing.assert_allclose(sampler("lipschitz", np.full(5, 3.0)).odds, 1.0)
    zero = sampler("lipschitz", np.zeros(5))
    assert (zero.kind, zero.odds.tolist()) == ("uniform", [1.0] * 5)
