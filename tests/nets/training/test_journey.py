import pytest
import torch

from small_nets import Ridge, digits, mlp, weights
from thalweg.nets.training.asked import Companions
from thalweg.nets.training.batches import Batches
from thalweg.nets.training.choice import optimizer_of
from thalweg.nets.training.evaluate import Score
from thalweg.nets.training.inputs import Inputs
from thalweg.nets.training.journey import Training, attached, own_randomness
from thalweg.nets.training.losses import loss_of
from thalweg.nets.training.step import Taken


def training(**asked):
    model, (x, y) = mlp(), digits()
    given = {"epochs": 4, "seed": 0, **asked}
    return Training(
        model, optimizer_of("sgd[lr=0.5]", model), loss_of("cross-entropy"), Inputs(model),
        Batches(x[:100], y[:100], 30), **given,
    )  # fmt: skip


def test_sums_become_a_row_and_begin_anew():
    journey = training()
    journey.count(1, Taken(value=3.0, loss=2.0, rows=30, looks=30))
    journey.count(1, Taken(value=1.0, loss=1.0, rows=10, looks=20))
    assert journey.progress == pytest.approx(2 / 4 / 4)
    journey.note(Score(0.25, 0.9))
    row = journey.trace.last
    assert (row["iteration"], row["passes"], row["rate"]) == (2, 0.5, 0.5)
    assert row["value"] == pytest.approx(2.5)
    assert row["training_loss"] == pytest.approx(1.75)
    assert (row["validation_loss"], row["validation_accuracy"]) == (0.25, 0.9)
    assert journey.rows == 0


def test_groups_are_augmented_and_gathered():
    journey = training(accumulate=3, companions=Companions(augmentation=lambda x: 0 * x))
    groups = list(journey.groups())
    assert [len(group) for group in groups] == [3, 1]
    assert groups[0][0].x.abs().max() == 0


def test_going_back():
    journey = training()
    first = weights(journey.model)
    with torch.no_grad():
        journey.model[0].weight.add_(1.0)
    journey.epoch = 1
    journey.remember()
    second = weights(journey.model)
    with torch.no_grad():
        journey.model[0].weight.fill_(torch.nan)
    journey.go_back()
    assert torch.equal(weights(journey.model), second)
    assert journey.last_finite_epoch == 1
    assert journey.w0.tolist() == first.tolist()


def test_randomness_is_its_own_and_comes_back():
    before = torch.random.get_rng_state()
    drawn = []
    for _ in range(2):
        with own_randomness(3, torch.device("cpu")):
            drawn.append(torch.rand(2).tolist())
    assert drawn[0] == drawn[1]
    assert torch.equal(torch.random.get_rng_state(), before)


def test_regularizers_are_let_go_even_if_one_cannot_attach():
    class Broken(Ridge):
        def attach(self, model):
            raise RuntimeError("no")

    first = Ridge(0.1)
    with pytest.raises(RuntimeError), attached([first, Broken(0.1)], mlp()):
        pass
    assert first.attached == 0
