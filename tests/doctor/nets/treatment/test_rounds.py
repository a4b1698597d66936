import pytest
import torch

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.nets.remedies.remedy import Remedy
from thalweg.doctor.nets.treatment.arms import Arm, Arms
from thalweg.doctor.nets.treatment.interval import paired_interval
from thalweg.doctor.nets.treatment.proof import helps
from thalweg.doctor.nets.treatment.rounds import Rounds, smallest
from thalweg.doctor.nets.treatment.treatment import Trial
from thalweg.nets.recipes.recipe import Recipe

X = torch.eye(4).repeat(50, 1)
PAIR = X, X.argmax(1)
LINEAR = Recipe(
    layers="linear", initializer="normal[sigma=1.0]", learning_rate=1e-9, epochs=3, batch_size=50
)
ILL = [Finding("x", Severity.ACT, "", 0.0, 0.0)]


def offer(name, asked, **changed):
    def change(recipe, data):
        asked.append(name)
        return recipe.changed(**changed)

    return Remedy(name, 1, change)


def rounds(remedies, budget=16.0, pairs=3):
    arms = Arms(LINEAR, PAIR, PAIR, budget)
    return Rounds(arms, pairs, 0, lambda *_: ILL, remedies)


def test_thesmallest_change_with_most_of_the_gain_is_preferred():
    def candidate(size, gain):
        return size, Trial(f"{size}", "x", "", gain), LINEAR

    small, middle, large = candidate(1, 0.80), candidate(3, 0.96), candidate(7, 1.0)
    assert smallest([small, middle, large]) is middle
    assert smallest([small, candidate(3, 0.81)]) is small
    assert smallest([small]) is small


def test_nothing_more_is_tried_once_nothing_could_be_chosen():
    asked = []
    under = rounds(
        lambda cause: (
            offer("useless", asked, learning_rate=1e-8),
            offer("perfect", asked, learning_rate=1.0),
            offer("late", asked, learning_rate=0.5),
        )
    )
    under.run(ILL)
    assert asked[:2] == ["useless", "perfect"]
    assert under.rejected[0].remedy == "useless"


def test_the_three_sets_of_seeds_are_apart():
    under = rounds(lambda cause: (), pairs=4)
    sets = [{under.first}, set(under.proof_seeds), set(under.fresh_seeds)]
    assert [len(each) for each in sets] == [1, 8, 8]
    assert len(set.union(*sets)) == 17


class Table:
    """Arms whose scores are written down: A has 0.5, B of a seed has `scores[seed]`."""

    def __init__(self, scores, budget):
        self.recipe, self.data, self.validation = LINEAR, PAIR, PAIR
        self.scores, self.budget, self.trained = scores, budget, []

    def length(self, recipe):
        return 1.0

    def left(self):
        return self.budget - len(self.trained)

    def charge(self, trainings):
        self.trained.append("examined")

    def has(self, recipe, seed):
        return (recipe == LINEAR, seed) in self.trained

    def train(self, recipe, seed, ahead=()):
        assert self.left() > 0
        if not self.has(recipe, seed):
            self.trained.append((recipe == LINEAR, seed))
        return Arm(0.5 if recipe == LINEAR else self.scores[seed], ())


def outcome_of(scores, budget=99):
    """What becomes of one remedy with these scores, by seed."""
    under = Rounds(
        Table(scores, budget), 3, 0, lambda *_: [], lambda cause: (offer("B", [], epochs=2),)
    )
    under.run(ILL)
    return under


GOOD, ERRATIC = [0.80, 0.81, 0.82, 0.80, 0.81, 0.82], [0.6, 0.9, 0.75, 0.8, 0.75, 0.8]


def test_what_is_proved_and_confirmed_is_kept():
    under = outcome_of([0.8, *GOOD, *GOOD])
    (trial,) = under.accepted
    assert helps(trial.proof)
    assert helps(trial.confirmation)
    assert under.current == LINEAR.changed(epochs=2)
    assert under.gain() == trial.confirmation


@pytest.mark.parametrize("fresh", [[0.5] * 6, [0.8, 0.81, 0.4, 0.8, 0.8, 0.8], [0.501] * 6])
def test_what_is_proved_and_not_confirmed_is_reverted(fresh):
    under = outcome_of([0.8, *GOOD, *fresh])
    (trial,) = under.rejected
    assert helps(trial.proof)
    assert not helps(trial.confirmation)
    assert trial.outcome.startswith("not confirmed: ")
    assert under.current == LINEAR
    assert under.accepted == []


def test_what_is_not_proved_is_not_confirmed_either():
    under = outcome_of([0.8, 0.9, 0.4, *GOOD, *GOOD])
    (trial,) = under.rejected
    assert trial.outcome.startswith("not proved: ")
    assert trial.confirmation is None
    assert not any(each[1] in under.fresh_seeds for each in under.arms.trained)


def test_an_experiment_leaves_the_budget_of_its_confirmation():
    """Two to screen, twelve to prove and confirm, six for pairs that scatter."""
    assert not helps(paired_interval([score - 0.5 for score in ERRATIC[:3]]))
    scores = [0.8, *ERRATIC, *GOOD]
    assert len(outcome_of(scores, 20).accepted[0].proof.differences) == 6
    (trial,) = outcome_of(scores, 19).rejected
    assert len(trial.proof.differences) == 3
    assert outcome_of(scores, 13).rejected[0].outcome == "no budget to prove it"


def test_what_was_kept_is_examined_again_before_anything_is_said_to_be_left():
    under = rounds(lambda cause: ())
    assert under.examine(LINEAR) == ILL == under.left
    assert under.gain() is None
