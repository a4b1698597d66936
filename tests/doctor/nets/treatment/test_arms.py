import signal

import pytest
import torch

from small_nets import digits
from thalweg.doctor.nets.score import floor, score
from thalweg.doctor.nets.treatment.arms import LOOKS, Arm, Arms, OutOfBudgetError, _Look
from thalweg.nets.recipes.recipe import Recipe

X, Y = digits()
DATA, HELD = (X[:200], Y[:200]), (X[200:400], Y[200:400])
FAIR = Recipe(layers="mlp:16", learning_rate=0.01, epochs=4, batch_size=25)


def arms(budget=10.0):
    return Arms(FAIR, DATA, HELD, budget)


def test_an_arm_is_the_recipe_trained_with_the_seed():
    under = arms()
    arm = under.train(FAIR, 5)
    model, _ = FAIR.changed(seed=5).train(DATA)
    assert arm.score == score(FAIR, model, HELD)
    assert len(arm.curve) == len(LOOKS)
    assert under.spent == 1.0
    assert under.train(FAIR, 5) is arm  # and is trained once
    assert under.spent == 1.0
    assert under.train(FAIR, 6).score != arm.score


def test_a_training_is_as_long_as_its_steps():
    under = arms()
    assert under.length(FAIR) == 1.0
    assert under.length(FAIR.changed(epochs=6)) == 1.5
    assert under.length(FAIR.changed(batch_size=50)) == 0.5
    assert under.length(FAIR.changed(batch_size=None)) == 1 / 8


def test_nothing_goes_beyond_the_budget():
    under = arms(2.5)
    under.train(FAIR, 1)
    under.train(FAIR, 2)
    with pytest.raises(OutOfBudgetError):
        under.train(FAIR, 3)
    assert under.spent == 2.0
    under.train(FAIR.changed(epochs=2), 3)
    assert under.spent == under.budget


def test_a_hopeless_arm_is_ended_half_way_and_counts_by_half():
    under = arms()
    good = under.train(FAIR, 1)
    slow = under.train(FAIR.changed(learning_rate=1e-6), 1, [good])
    assert slow.is_ended
    assert len(slow.curve) == 1
    assert "ended at 50 %" in slow.note
    assert under.spent == pytest.approx(1.5, abs=0.05)
    # Without anybody ahead it goes to its end.
    assert not under.train(FAIR.changed(learning_rate=1e-6), 1).is_ended


def test_what_comes_to_nothing_has_the_floor():
    under, lowest = arms(), floor(FAIR, HELD[1])
    wild = under.train(FAIR.changed(optimizer="sgd", learning_rate=1e30), 1)
    assert (wild.score, wild.note) == (lowest, "diverged")
    assert under.spent < 1.0
    spent = under.spent
    refused = under.train(FAIR.changed(loss="binary-cross-entropy"), 1)
    assert refused.score == lowest
    assert refused.note.startswith("refused: labels")
    assert under.spent == spent


def test_early_stopping_sees_the_validation_rows():
    arm = arms().train(FAIR.changed(patience=1, monitor="validation loss"), 1)
    assert isinstance(arm, Arm)
    assert not arm.note


def test_it_leaves_the_generator_alone():
    before = torch.random.get_rng_state()
    arms().train(FAIR.changed(keep=0.5), 1)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_ctrl_c_ends_it(monkeypatch):
    monkeypatch.setattr(_Look, "__call__", lambda look, moment: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        arms().train(FAIR, 1)
