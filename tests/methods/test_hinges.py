"""Hinges seen from inside: a step by hand, and that it is Newton's."""

import numpy as np
import pytest

from thalweg.methods.hinges import Hinges, Moves, most


def drawn(seed, n=5):
    rng = np.random.default_rng(seed)
    share, kappa = rng.uniform(0.2, 0.8, n), 1.0
    ahead, behind = rng.uniform(0.1, 2.0, (2, n))
    return rng, Hinges(np.stack([share, kappa - share, ahead, behind]), rng.standard_normal(n))


def test_a_middle_by_hand():
    four = Hinges.around(np.array([3.0, -2.0]), 4.0, 1.0)
    assert four.tolist() == [[2.0, 2.0], [2.0, 2.0], [4.0, 1.0], [1.0, 3.0]]
    hinges = Hinges(four, np.array([3.0, -2.0]))
    # 1/D = p/λ̄ + q/λ, and without a Δg the residuals are those of the products alone.
    assert hinges.D.tolist() == [1.0 / 2.5, 1.0 / 2.0]
    aim = hinges.aim(0.0, None)
    assert aim.over.tolist() == [-8.0, -2.0]
    assert aim.under.tolist() == [-2.0, -6.0]
    assert aim.h.tolist() == [3.0, -2.0]  # g itself: 4 − 1, and 1 − 3


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_moves_solve_the_linearised_conditions(seed, mu):
    rng, hinges = drawn(seed)
    along = rng.standard_normal(5)
    first = Moves(*rng.standard_normal((3, 5)))
    for before in (None, first):
        step = hinges.moves(hinges.aim(mu, before), along)
        extra = 0.0 if before is None else before.share * before.behind
        more = 0.0 if before is None else -before.share * before.ahead
        np.testing.assert_allclose(
            hinges.share * step.behind + hinges.behind * step.share,
            mu - hinges.share * hinges.behind - extra,
            atol=1e-12,
        )
        np.testing.assert_allclose(
            hinges.rest * step.ahead - hinges.ahead * step.share,
            mu - hinges.rest * hinges.ahead - more,
            atol=1e-12,
        )
        np.testing.assert_allclose(
            hinges.ahead + step.ahead - hinges.behind - step.behind, hinges.g + along, atol=1e-12
        )


@pytest.mark.parametrize("seed", range(4))
def test_the_longest_step_ends_at_a_boundary(seed):
    rng, hinges = drawn(seed)
    moves = Moves(*(10.0 * rng.standard_normal((3, 5))))
    far, wide = hinges.reach(moves)
    share, rest, ahead, behind = hinges.moved(moves, far, wide)
    assert min(ahead.min(), behind.min()) == pytest.approx(0.0, abs=1e-12)
    assert min(share.min(), rest.min()) == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(share + rest, 1.0)
    np.testing.assert_allclose(
        hinges.products(moves, far, wide), share * behind + rest * ahead, atol=1e-12
    )


def test_none_goes_down_by_nothing():
    assert most(np.empty(0), np.empty(0)) == 0.0
    assert most(np.array([1.0, -3.0]), np.array([1.0, 2.0])) == 1.5
