"""Early stopping: when it stops, which weights it keeps, that it always puts them back."""

import copy
import io
import math

import pytest
import torch
from torch import nn

import thalweg as tw
from thalweg.core.errors import InputError


def network(value=0.0):
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    mark(model, value)
    return model


def mark(model, value):
    """Weights and buffers that tell the epoch."""
    with torch.no_grad():
        for entry in model.state_dict().values():
            entry.fill_(value)


def epoch_of(model):
    (value,) = {float(entry.flatten()[0]) for entry in model.state_dict().values()}
    return value


def run(stopping, values, model=None, first=0):
    """One epoch a value; the epoch at which it was told to stop, or None."""
    model = network() if model is None else model
    for epoch, value in enumerate(values, first):
        mark(model, epoch)
        if stopping.update(value, model, epoch):
            return epoch
    return None


def test_stops_after_patience_epochs_without_a_better_one():
    stopping = tw.nets.EarlyStopping(patience=2)
    assert run(stopping, [0.1, 0.5, 0.4, 0.6, 0.6, 0.5, 0.9]) == 5
    assert (stopping.best, stopping.best_epoch) == (0.6, 3)


@pytest.mark.parametrize("values", [[0.1, 0.7, 0.3, 0.2], [0.1, 0.7, 0.3, 0.5, 0.6, 0.2]])
def test_restores_weights_and_buffers_of_the_best_epoch_however_training_ended(values):
    stopping, model = tw.nets.EarlyStopping(patience=4), network()
    run(stopping, values, model)
    pointer = model[0].weight.data_ptr()
    assert stopping.restore(model)
    assert epoch_of(model) == 1.0
    assert model[0].weight.data_ptr() == pointer
    assert stopping.restore(model)
    assert epoch_of(model) == 1.0


def test_smaller_is_better_for_a_loss():
    stopping, model = tw.nets.EarlyStopping(2, "validation loss"), network()
    assert run(stopping, [3.0, 1.0, 2.0, 1.5], model) == 3
    stopping.restore(model)
    assert epoch_of(model) == 1.0


def test_ties_keep_the_earlier():
    stopping = tw.nets.EarlyStopping(patience=3)
    run(stopping, [0.5, 0.5, 0.5])
    assert (stopping.best_epoch, stopping.waited) == (0, 2)


def test_min_delta_is_what_an_improvement_must_exceed():
    stopping = tw.nets.EarlyStopping(patience=9, min_delta=0.25)
    run(stopping, [0.25, 0.5, 0.375, 0.75, 0.8125])
    assert (stopping.best, stopping.best_epoch) == (0.75, 3)


@pytest.mark.parametrize("monitor", ["validation accuracy", "validation loss"])
def test_nan_is_never_better(monitor):
    stopping, model = tw.nets.EarlyStopping(3, monitor), network()
    assert run(stopping, [math.nan, 0.5, math.nan, math.nan, math.nan], model) == 4
    assert stopping.best_epoch == 1
    stopping.restore(model)
    assert epoch_of(model) == 1.0


def test_nothing_but_nan_leaves_the_model_as_it_is():
    stopping, model = tw.nets.EarlyStopping(2), network()
    assert run(stopping, [math.nan, math.nan], model) == 1
    assert not stopping.restore(model)
    assert epoch_of(model) == 1.0


def test_the_copy_is_out_of_reach_of_later_steps():
    stopping, model = tw.nets.EarlyStopping(), network(7.0)
    stopping.update(0.5, model, 0)
    mark(model, 9.0)
    stopping.restore(model)
    assert epoch_of(model) == 7.0
    mark(model, 9.0)  # the restored weights are not the copy either
    stopping.restore(model)
    assert epoch_of(model) == 7.0


@pytest.mark.parametrize("stop_at", range(1, 6))
def test_a_run_that_resumes_ends_as_one_that_was_never_stopped(stop_at):
    values = [0.1, 0.6, 0.3, 0.5, 0.2, 0.4, 0.1]
    whole = tw.nets.EarlyStopping(patience=4)
    end = run(whole, values)
    first, second = tw.nets.EarlyStopping(patience=4), tw.nets.EarlyStopping(patience=4)
    run(first, values[:stop_at])
    file = io.BytesIO()
    torch.save(first.state_dict(), file)
    file.seek(0)
    second.load_state_dict(torch.load(file, weights_only=True))
    model = network()
    assert run(second, values[stop_at:], model, stop_at) == end == 5
    second.restore(model)
    assert epoch_of(model) == 1.0
    assert (second.best, second.best_epoch, second.waited) == (0.6, 1, 4)


def test_a_tensor_is_a_value_and_other_names_say_their_direction():
    stopping = tw.nets.EarlyStopping(1, "perplexity", higher_is_better=False)
    assert not stopping.update(torch.tensor(3.0), network(), 0)
    assert not stopping.update(torch.tensor(2.0), network(), 1)
    assert stopping.update(torch.tensor(2.5), network(), 2)


def test_a_copied_state_shares_nothing_that_changes():
    stopping = tw.nets.EarlyStopping()
    stopping.update(0.5, network(1.0), 0)
    state = stopping.state_dict()
    kept = copy.deepcopy(state)
    stopping.update(0.9, network(2.0), 1)
    assert state["best"] == kept["best"] == 0.5
    assert all(
        torch.equal(state["weights"][name], kept["weights"][name]) for name in kept["weights"]
    )


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: tw.nets.EarlyStopping(0), "patience must be a whole number, at least 1, got 0"),
        (
            lambda: tw.nets.EarlyStopping(monitor="F1"),
            "'F1' does not tell whether larger is better",
        ),
        (lambda: tw.nets.EarlyStopping(monitor=max), "monitor must be the name of a value"),
        (lambda: tw.nets.EarlyStopping(min_delta=-1.0), "min_delta must be at least 0"),
        (
            lambda: tw.nets.EarlyStopping().load_state_dict({"best": 1.0}),
            "state must come from EarlyStopping.state_dict, got one without 'best_epoch'",
        ),
    ],
)
def test_arguments_that_make_no_sense(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()
