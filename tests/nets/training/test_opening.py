import pytest
import torch
from torch import nn

from small_nets import Stopping, digits, mlp
from thalweg.core.errors import InputError
from thalweg.nets.training.asked import Companions, Goal, Rows
from thalweg.nets.training.batches import Batches
from thalweg.nets.training.choice import optimizer_of
from thalweg.nets.training.inputs import Inputs
from thalweg.nets.training.journey import Training
from thalweg.nets.training.losses import loss_of
from thalweg.nets.training.opening import begin, training_of, validation_of

X, Y = digits()


def training(data, **asked):
    model = mlp(dropout=0.5)
    return Training(
        model, optimizer_of("sgd", model), loss_of("cross-entropy"), Inputs(model),
        Batches(*data, 32, seed=1), 2, 0, **asked,
    )  # fmt: skip


def test_the_first_row_is_the_loss_of_the_first_batch_before_any_step():
    journey = training((X, Y.double()))
    generator = torch.random.get_rng_state()
    begin(journey, None)
    rows = torch.randperm(600, generator=torch.Generator().manual_seed(1))[:32]
    model = journey.model.eval()
    expected = nn.functional.cross_entropy(model(X[rows]), Y[rows]).item()
    assert journey.trace["value"].tolist() == [expected]
    assert torch.equal(torch.random.get_rng_state(), generator)
    first = next(journey.batches.epoch())
    assert first.y.tolist() == Y[rows].tolist()  # it is still the first


def test_all_labels_are_checked_not_only_those_of_the_first_batch():
    labels = Y.clone()
    labels[577] = 12
    with pytest.raises(InputError, match=r"labels of data must be in 0 … 9.* got 12 in row 577"):
        begin(training((X, labels)), None)
    held_out = Batches(X, labels, 64, name="validation")
    with pytest.raises(InputError, match=r"labels of validation .* got 12 in row 577"):
        begin(training((X, Y), validation=held_out), None)


def test_what_stands_for_what():
    assert validation_of(None, None, 64) is None
    assert validation_of((X, Y), None, 64).size == 512
    assert validation_of((X, Y), Stopping(), None).name == "validation"


def test_sentences():
    with pytest.raises(InputError, match="early_stopping needs validation data"):
        validation_of(None, Stopping(), 64)
    with pytest.raises(InputError, match="must monitor one of validation loss, validation acc"):
        validation_of((X, Y), Stopping(1, "loss"), 64)


def test_what_was_asked_becomes_a_training():
    model, stop = mlp(), Stopping()
    goal = Goal("sgd[lr=0.5]", "squared", 3, 7, "bfloat16")
    rows = Rows((X, Y), (X, Y), 32, False, True, 2)
    journey = training_of(
        model, goal, rows, Companions(("a", "b"), early_stopping=stop), order_seed=1
    )
    assert (journey.epochs, journey.seed, journey.accumulate, journey.rate) == (3, 7, 2, 0.5)
    assert journey.companions == Companions(("a", "b"), early_stopping=stop)
    assert (journey.loss.name, journey.inputs.precision) == ("squared", "bfloat16")
    assert len(journey.batches) == 600 // 32
    assert next(journey.batches.epoch()).y.tolist() == Y[:32].tolist()
    assert journey.validation.name == "validation"
