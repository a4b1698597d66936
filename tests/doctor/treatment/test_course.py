import torch

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.remedies.remedy import Remedy
from thalweg.doctor.treatment.arms import Arms
from thalweg.doctor.treatment.course import Course, smallest
from thalweg.doctor.treatment.proof import helps
from thalweg.doctor.treatment.verdict import Trial
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


def course(remedies, budget=16.0, pairs=3):
    arms = Arms(LINEAR, PAIR, PAIR, budget)
    return Course(arms, pairs, 0, lambda *_: ILL, remedies)


def test_thesmallest_change_with_most_of_the_gain_is_preferred():
    def candidate(size, gain):
        return size, Trial(f"{size}", "x", "", gain), LINEAR

    small, middle, large = candidate(1, 0.80), candidate(3, 0.96), candidate(7, 1.0)
    assert smallest([small, middle, large]) is middle
    assert smallest([small, candidate(3, 0.81)]) is small
    assert smallest([small]) is small


def test_nothing_more_is_tried_once_nothing_could_be_chosen():
    asked = []
    under = course(
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
    under = course(lambda cause: (), pairs=4)
    sets = [{under.first}, set(under.proof_seeds), set(under.fresh_seeds)]
    assert [len(each) for each in sets] == [1, 8, 8]
    assert len(set.union(*sets)) == 17


def test_an_experiment_leaves_the_budget_of_its_confirmation():
    """Pairs that scatter ask for more, but not for those of the confirmation."""
    arms = []
    under = course(lambda cause: (offer("better", [], learning_rate=1.0),), budget=14.0)
    train = under.arms.train

    def counted(recipe, seed, ahead=()):
        arms.append((recipe.learning_rate, seed))
        return train(recipe, seed, ahead)

    under.arms.train = counted
    under.run(ILL)
    fresh = [each for each in arms if each[1] in under.fresh_seeds]
    proved = [trial for trial in under.accepted if trial.proof]
    rejected = [trial for trial in under.rejected if trial.proof and helps(trial.proof)]
    assert not rejected or rejected[0].confirmation is not None
    assert bool(proved or rejected) == bool(fresh)
    assert under.arms.spent <= 14.0


def test_what_was_kept_is_examined_again_before_anything_is_said_to_be_left():
    under = course(lambda cause: ())
    assert under.examine(LINEAR) == ILL == under.left
    assert under.gain() is None
