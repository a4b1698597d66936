import pytest

from thalweg.doctor.nets.treatment.arms import Arm
from thalweg.doctor.nets.treatment.interval import paired_interval
from thalweg.doctor.nets.treatment.proof import MINIMUM, helps, prove, reserve
from thalweg.nets.recipes.recipe import Recipe

A, B = Recipe(), Recipe(learning_rate=0.1)


class Table:
    """Arms whose scores are written down: seed → (A, B)."""

    def __init__(self, rows, budget=100.0):
        self.rows, self.budget, self.trained = rows, budget, []

    def length(self, recipe):
        return 1.0

    def left(self):
        return self.budget - len(self.trained)

    def has(self, recipe, seed):
        return (recipe.learning_rate, seed) in self.trained

    def train(self, recipe, seed):
        if not self.has(recipe, seed):
            self.trained.append((recipe.learning_rate, seed))
        return Arm(self.rows[seed][recipe == B], ())


def table(gains, **asked):
    return Table([(0.5, 0.5 + gain) for gain in gains], **asked)


def test_three_pairs_that_agree_are_enough():
    arms = table([0.30, 0.31, 0.32, 9.0, 9.0, 9.0])
    interval = prove(arms, A, B, range(6))
    assert interval.differences == pytest.approx((0.30, 0.31, 0.32))
    assert helps(interval)


def test_erratic_pairs_ask_for_as_many_again():
    gains = [0.1, 0.5, 0.9, 0.4, 0.6, 0.5]
    assert not helps(paired_interval(gains[:3]))
    interval = prove(table(gains), A, B, range(6))
    assert len(interval.differences) == 6
    assert helps(interval)
    # Where the budget has no room for more, it stays at three and is not proved.
    short = prove(table(gains, budget=11.0), A, B, range(6))
    assert len(short.differences) == 3
    assert not helps(short)
    # Nor where that room is for something else.
    assert len(prove(table(gains, budget=12.0), A, B, range(6)).differences) == 6
    assert len(prove(table(gains, budget=12.0), A, B, range(6), spare=1.0).differences) == 3


@pytest.mark.parametrize("gains", [[0.0] * 6, [-0.1] * 6, [0.3, -0.01, 0.3, 0.3, 0.3, 0.3]])
def test_a_pair_without_gain_ends_it(gains):
    arms = table(gains)
    interval = prove(arms, A, B, range(6))
    assert interval.differences[-1] <= 0.0
    assert len(arms.trained) == 2 * len(interval.differences) <= 4
    assert not helps(interval)


@pytest.mark.parametrize("pairs", [3, 4])
def test_one_pair_without_gain_cannot_exclude_zero(pairs):
    for others in (1e-3, 0.2, 0.9):
        assert paired_interval([0.0] + [others] * (pairs - 1)).low <= 0.0


def test_a_gain_must_be_worth_it():
    assert not helps(paired_interval([MINIMUM / 2] * 3))  # of no width, and too small
    assert helps(paired_interval([MINIMUM] * 3))
    assert not helps(paired_interval([0.1]))


def test_what_is_trained_already_is_not_reserved():
    arms = table([0.1] * 6)
    assert reserve(arms, A, B, range(6)) == 12.0
    arms.train(A, 0)
    assert reserve(arms, A, B, range(6)) == 11.0
