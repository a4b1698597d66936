"""Checkpoints: written in one step, of one training alone, resumed to the same bits."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

import thalweg as tw
from small_nets import Jitter, Stopping, digits, mlp, weights
from thalweg.core.errors import InputError, StorageError
from thalweg.nets.training import checkpoint as storage

X, Y = digits()
HELD = (X[400:], Y[400:])


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def train(checkpoint=None, probes=(), seed=0, epochs=6, lr=0.05, data=None, model=None, **changed):
    """A training with everything that can remember something."""
    model = model or mlp(dropout=0.2)
    stopping = Stopping(patience=2)
    asked = {
        "validation": HELD, "early_stopping": stopping, "augmentation": Jitter(),
        "checkpoint": checkpoint, "probes": probes, "seed": seed, "batch_size": 32, **changed,
    }  # fmt: skip
    run = tw.nets.fit(model, data or (X[:400], Y[:400]), f"adam[lr={lr}]", epochs=epochs, **asked)
    return model, stopping, run


def columns(run):
    keep = [k for k, name in enumerate(run.trace.columns) if name != "seconds"]
    return run.trace.rows[:, keep]


def same(one, other):
    (model, stopping, run), (model2, stopping2, run2) = one, other
    assert torch.equal(weights(model), weights(model2))
    np.testing.assert_array_equal(columns(run), columns(run2))
    assert (stopping.best, stopping.best_epoch, stopping.waited) == (
        stopping2.best, stopping2.best_epoch, stopping2.waited,
    )  # fmt: skip
    assert run.outcome is run2.outcome
    np.testing.assert_array_equal(run.w0, run2.w0)


def stop_at(step):
    return lambda moment: moment.step == step


@pytest.mark.parametrize("step", [1, 13, 14, 30])
def test_stopped_and_resumed_is_as_never_stopped(tmp_path, step):
    whole = train()
    file = tmp_path / "training"
    first = train(file, [stop_at(step)])
    assert first[2].outcome is tw.Outcome.INTERRUPTED
    assert first[2].iterations == step
    same(train(file, model=mlp(seed=9, dropout=0.2)), whole)


def test_a_training_that_has_ended_is_not_trained_further(tmp_path):
    file = tmp_path / "training"
    first = train(file, epochs=2)
    again = train(file, epochs=2)
    same(first, again)
    assert again[2].outcome is tw.Outcome.FINISHED
    further = train(file, epochs=3)
    same(further, train(epochs=3))


def test_early_stopping_is_remembered(tmp_path):
    file = tmp_path / "training"
    first = train(file, lr=0.5, epochs=30)
    assert first[2].outcome is tw.Outcome.EARLY_STOPPED
    same(train(file, lr=0.5, epochs=30), first)


@pytest.mark.parametrize("step", [8, 26, 30])
def test_the_schedule_of_the_rate_goes_on(tmp_path, step):
    def wave(optimizer):
        return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 3)

    whole = train(epochs=4, scheduler=wave)
    file = tmp_path / "training"
    train(file, [stop_at(step)], epochs=4, scheduler=wave)
    same(train(file, epochs=4, scheduler=wave), whole)


@pytest.mark.parametrize("accumulate", [1, 3])
def test_a_loader_in_the_middle_of_an_epoch(tmp_path, accumulate):
    def loader():
        return DataLoader(TensorDataset(X[:400], Y[:400]), 32, shuffle=True)

    asked = {"accumulate": accumulate, "epochs": 3}
    whole = train(data=loader(), **asked)
    file = tmp_path / "training"
    train(file, [stop_at(6)], data=loader(), **asked)
    same(train(file, data=loader(), **asked), whole)


# Forks children that kill themselves at a step; each goes on from the file that the last one left.
VICTIMS = """
import os, signal, sys
sys.path.insert(0, {tests!r})
import torch
torch.set_num_threads(1)
import thalweg as tw
from nets.training.test_checkpoint import train

def die_at(step):
    def die(moment):
        if moment.step == step:
            os.kill(os.getpid(), signal.SIGKILL)
    return die

for step in (18, 37):
    child = os.fork()
    if child == 0:
        train(tw.Checkpoint({file!r}, every=5), [die_at(step)], lr=0.1, epochs=12)
        os._exit(1)
    _, status = os.waitpid(child, 0)
    print(os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_killed_in_the_middle_of_an_epoch_and_resumed_gives_the_same_bits(tmp_path):
    file = str(tmp_path / "training")
    whole = train(lr=0.1, epochs=12)
    assert whole[2].outcome is tw.Outcome.EARLY_STOPPED
    code = VICTIMS.format(tests=str(Path(__file__).parents[2]), file=file)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["True", "True"], done.stderr
    saved = storage.read(file)
    assert (saved.state["step"], saved.state["position"]) == (35, 35 % 13)
    same(train(tw.Checkpoint(file, every=5), lr=0.1, epochs=12), whole)


def test_parameters_stay_where_they_are_when_loaded(tmp_path):
    file = tmp_path / "training"
    train(file, epochs=1)
    model = mlp(dropout=0.2)
    places = [p.data_ptr() for p in model.parameters()]
    train(file, epochs=1, model=model)
    assert [p.data_ptr() for p in model.parameters()] == places


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"seed": 1}, "its seed is 0, this one's is 1"),
        ({"model": mlp(hidden=8, dropout=0.2)},
         r"its model has 0.weight \[16, 64\] torch.float32, this one's has it \[8, 64\]"),
        ({"model": mlp(dropout=0.3)}, "its model is built of other layers"),
        ({"data": (X[:400] + 1.0, Y[:400])}, "its data is"),
        ({"batch_size": 16}, "its batch size is 32, this one's is 16"),
        ({"augmentation": None}, "its augmentation is 'Jitter', this one's is 'NoneType'"),
    ],
)  # fmt: skip
def test_another_training_is_refused(tmp_path, changed, says):
    file = tmp_path / "training"
    train(file, epochs=1)
    with pytest.raises(InputError, match=f"belongs to another training: {says}"):
        train(file, epochs=1, **changed)


def test_files_that_are_no_checkpoints(tmp_path):
    file = tmp_path / "training"
    file.write_bytes(b"nonsense")
    with pytest.raises(StorageError, match="is not a checkpoint of a training"):
        train(file)
    torch.save({"format": 99}, file)
    with pytest.raises(StorageError, match="has format 99, this version of Thalweg reads 1"):
        train(file)
    torch.save(Path("somewhere"), file)  # an object: reading it would execute something
    with pytest.raises(StorageError, match="is not a checkpoint of a training"):
        train(file)
    with pytest.raises(StorageError, match="cannot be written"):
        train("/proc/training")


def test_only_what_can_be_read_back_is_written(tmp_path):
    kept = {"a": np.float64(1.5), "b": (1, [2.0]), "c": np.ones(2), "d": torch.ones(1), "e": None}
    storage.write(tmp_path / "x", {}, kept)
    state = storage.read(tmp_path / "x").state
    assert (state["a"], state["b"], state["e"]) == (1.5, (1, [2.0]), None)
    assert state["c"].tolist() == [1.0, 1.0]
    with pytest.raises(InputError, match="holds tensors, numbers and words, got <object"):
        storage.write(tmp_path / "x", {}, {"a": object()})
    assert storage.read(tmp_path / "nothing") is None


def test_a_watch_that_was_kept_as_a_regularizer_is_read_as_a_probe(tmp_path):
    """Checkpoints of before probes had a state."""
    identity = {"seed": 0, "regularizers": ["L1", "Memory", "L2"]}
    parts = [None, "stopping", None, {"a": 1}, {"seen": 2}, None]
    storage.write(tmp_path / "x", identity, {"parts": parts})
    saved = storage.read(tmp_path / "x")
    assert saved.identity == {"seed": 0, "regularizers": ["L1", "L2"], "probes": ["Memory"]}
    assert saved.state == {
        "parts": [None, "stopping", None, {"a": 1}, None],
        "probes": [{"seen": 2}],
    }


def test_a_disk_that_fills_up_is_a_finding(tmp_path, monkeypatch):
    written = []

    def write(*args):
        written.append(args)
        if len(written) > 1:
            raise StorageError("no room")

    monkeypatch.setattr(storage, "write", write)
    _, _, run = train(tw.Checkpoint(tmp_path / "training", every=3), epochs=1)
    assert run.outcome is tw.Outcome.FINISHED
    assert [finding.name for finding in run.findings] == ["checkpoint not written"]
