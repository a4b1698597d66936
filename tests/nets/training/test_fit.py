import math
import os
import signal

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import thalweg as tw
from small_nets import Jitter, Ridge, Stopping, digits, mlp, weights
from thalweg.core.clock import COMPILING
from thalweg.core.errors import InputError

X, Y = digits()


def by_hand(model, optimizer, epochs, seed, batch_size=64, penalty=0.0):
    """The loop that `fit` is to equal, written out."""
    order_seed, _ = np.random.SeedSequence(seed).generate_state(2).tolist()
    generator = torch.Generator().manual_seed(order_seed)
    means = []
    for _ in range(epochs):
        order, total = torch.randperm(len(X), generator=generator), 0.0
        for start in range(0, len(X), batch_size):
            rows = order[start : start + batch_size]
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(X[rows]), Y[rows])
            loss = loss + 0.5 * penalty * sum((p**2).sum() for p in model.parameters())
            loss.backward()
            optimizer.step()
            total += len(rows) * loss.item()
        means.append(total / len(X))
    return means


@pytest.mark.parametrize("penalty", [0.0, 0.01])
def test_equals_the_loop_written_out(penalty):
    ours, theirs = mlp(), mlp()
    regularizers = [Ridge(penalty)] if penalty else []
    run = tw.nets.fit(ours, (X, Y), "adam[lr=0.01]", epochs=3, seed=4, regularizers=regularizers)
    means = by_hand(theirs, tw.nets.Adam(theirs, lr=0.01), 3, 4, penalty=penalty)
    assert torch.equal(weights(ours), weights(theirs))
    assert run.trace["value"][1:].tolist() == pytest.approx(means, rel=1e-12)
    assert run.outcome is tw.Outcome.FINISHED
    np.testing.assert_array_equal(run.w, weights(theirs).numpy())


def test_it_learns_digits():
    model, held_out = mlp(hidden=32), (X[500:], Y[500:])
    run = tw.nets.fit(model, (X[:500], Y[:500]), "adam[lr=0.02]", epochs=15, validation=held_out)
    assert run.trace.last["validation_accuracy"] > 0.75
    score = tw.nets.evaluate(model, (X[500:], Y[500:]))
    assert run.trace.last["validation_loss"] == pytest.approx(score.loss)
    assert run.trace["epoch"].tolist() == list(range(16))
    assert run.trace["iteration"].tolist() == [8 * k for k in range(16)]
    assert run.trace["passes"].tolist() == list(range(16))


def test_the_run_survives_the_disk(tmp_path):
    run = tw.nets.fit(mlp(), (X, Y), epochs=2, validation=(X, Y))
    again = tw.Run.load(run.save(tmp_path / "run"))
    np.testing.assert_array_equal(again.trace.rows, run.trace.rows)
    assert again.trace.columns == run.trace.columns
    assert again.outcome is tw.Outcome.FINISHED
    assert repr(again) == repr(run)


@pytest.mark.parametrize("kind", ["tensors", "float64", "uint8", "dataset", "loader", "list"])
def test_any_form_of_data_trains_alike(kind):
    whole = (16 * X).round().to(torch.uint8)
    data = {
        "tensors": (X, Y),
        "float64": (X.double().numpy(), Y.numpy().astype(np.uint8)),
        "uint8": (whole.numpy(), Y.double().numpy()),
        "dataset": TensorDataset(X, Y),
        "loader": DataLoader(TensorDataset(X, Y), 100),
        "list": [(X[k : k + 100], Y[k : k + 100]) for k in range(0, 600, 100)],
    }[kind]
    model, expected = mlp(), mlp()
    tw.nets.fit(model, data, "sgd[lr=0.1]", epochs=2, batch_size=100, shuffle=False)
    x = whole / 255.0 if kind == "uint8" else X
    sgd = torch.optim.SGD(expected.parameters(), lr=0.1)
    for start in [*range(0, 600, 100)] * 2:
        sgd.zero_grad()
        rows = slice(start, start + 100)
        nn.functional.cross_entropy(expected(x[rows]), Y[rows]).backward()
        sgd.step()
    torch.testing.assert_close(weights(model), weights(expected), rtol=1e-5, atol=1e-6)


def test_a_seed_decides_everything_and_nothing_outside_is_touched():
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    results = []
    for seed in (0, 0, 1):
        torch.rand(3)
        now = torch.random.get_rng_state()
        model = mlp(dropout=0.3).eval()
        tw.nets.fit(model, (X, Y), epochs=1, seed=seed, augmentation=Jitter())
        results.append(weights(model))
        assert torch.equal(torch.random.get_rng_state(), now)
        assert not model.training
    assert torch.equal(results[0], results[1])
    assert not torch.equal(results[0], results[2])
    torch.random.set_rng_state(before)


def test_parameters_stay_where_they_are_and_layers_frozen_in_eval_mode_stay_so():
    model = nn.Sequential(nn.BatchNorm1d(64), *mlp())
    model[0].eval()
    places = [p.data_ptr() for p in model.parameters()]
    tw.nets.fit(model, (X, Y), epochs=1)
    assert [p.data_ptr() for p in model.parameters()] == places
    assert model[0].running_mean.abs().max() == 0
    assert (model.training, model[0].training) == (True, False)


def test_accumulated_batches_are_one_large_batch():
    results = []
    for size, accumulate in ((100, 1), (25, 4)):
        model = mlp().double()
        tw.nets.fit(model, (X, Y), "sgd[lr=0.1]", epochs=2, batch_size=size, accumulate=accumulate)
        results.append(weights(model))
    torch.testing.assert_close(*results, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["lbfgs", "truncated-newton"])
def test_the_newton_family_trains_and_resumes(name, tmp_path):
    whole, halves = mlp(), mlp()
    run = tw.nets.fit(whole, (X, Y), name, epochs=4, batch_size=None)
    values = run.trace["value"][1:]  # after the one at the start
    assert (np.diff(values) < 0.0).all()
    assert values[-1] < 0.8 * values[0]
    file = tmp_path / "training"
    stop = lambda moment: moment.step == 2  # noqa: E731
    tw.nets.fit(halves, (X, Y), name, epochs=4, batch_size=None, probes=[stop], checkpoint=file)
    tw.nets.fit(halves, (X, Y), name, epochs=4, batch_size=None, checkpoint=file)
    assert torch.equal(weights(whole), weights(halves))


def test_all_rows_at_once_for_an_optimizer_with_a_closure():
    model = mlp()
    lbfgs = torch.optim.LBFGS(model.parameters(), line_search_fn="strong_wolfe")
    run = tw.nets.fit(model, (X, Y), lbfgs, epochs=3, batch_size=None)
    assert run.iterations == 3
    assert run.trace["passes"][-1] > 20
    assert tw.nets.evaluate(model, (X, Y)).loss < 0.1


def test_regularizers_are_attached_told_and_let_go():
    ridge = Ridge(0.0)
    run = tw.nets.fit(mlp(), (X, Y), "sgd[lr=0.25]", epochs=2, regularizers=[ridge])
    assert ridge.attached == 0
    assert len(ridge.told) == run.iterations == 20
    assert ridge.told[0] == (pytest.approx(1 / 20), 0.25)
    assert ridge.told[-1][0] == 1.0


def test_probes_see_steps_with_their_gradients_and_may_stop():
    seen = []

    def probe(moment):
        seen.append((moment.step, moment.model[0].weight.grad is not None, len(moment.batch.x)))
        return moment.step == 9

    probe.every = 3
    run = tw.nets.fit(mlp(), (X, Y), epochs=2, batch_size=100, probes=[probe])
    assert seen == [(3, True, 100), (6, True, 100), (9, True, 100)]
    assert run.outcome is tw.Outcome.INTERRUPTED
    assert run.trace["epoch"].tolist() == [0, 1, 1]


def test_early_stopping_restores_the_best_weights():
    model, stopping = mlp(), Stopping(2, "validation accuracy")
    run = tw.nets.fit(model, (X[:64], Y[:64]), "adam[lr=0.1]", epochs=100,
                      validation=(X[300:], Y[300:]), early_stopping=stopping)  # fmt: skip
    assert run.outcome is tw.Outcome.EARLY_STOPPED
    measured = run.trace["validation_accuracy"]
    assert stopping.best_epoch == np.nanargmax(measured)
    assert tw.nets.evaluate(model, (X[300:], Y[300:])).accuracy == np.nanmax(measured)
    assert run.value == run.trace["value"][stopping.best_epoch]
    np.testing.assert_array_equal(run.w, weights(model).numpy())


def test_a_scheduler_is_stepped_after_every_epoch():
    def halve(optimizer):
        return torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)

    model = mlp()
    run = tw.nets.fit(model, (X, Y), "sgd[lr=0.4]", epochs=4, scheduler=halve)
    assert run.trace["rate"].tolist() == [0.4, 0.4, 0.2, 0.1, 0.05]
    sgd = tw.nets.SGD(model, lr=0.1)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(sgd, patience=0, threshold=10.0)
    run = tw.nets.fit(model, (X, Y), sgd, epochs=3, scheduler=plateau, validation=(X, Y))
    assert run.trace["rate"].tolist() == pytest.approx([0.1, 0.1, 0.01, 0.001])


def test_time_limit():
    model = mlp()
    run = tw.nets.fit(model, (X, Y), epochs=10**6, time_limit=0.05)
    assert run.outcome is tw.Outcome.TIME_LIMIT
    assert run.seconds < 2


def test_compiling_is_no_part_of_a_training(wait, tmp_path):
    def compile_and_work(moment):
        with COMPILING:
            wait(100.0)
        wait(1.0)

    asked = {"probes": [compile_and_work], "checkpoint": tmp_path / "kept"}
    for limit in (3.0, 5.0):  # the second goes on with the first
        run = tw.nets.fit(mlp(), (X, Y), epochs=2, time_limit=limit, **asked)
        assert run.outcome is tw.Outcome.TIME_LIMIT
        assert (run.iterations, run.seconds, run.compiled) == (limit, limit, 100.0 * limit)


def test_ctrl_c_ends_the_run_and_keeps_it(tmp_path):
    def press(moment):
        if moment.step == 4:
            os.kill(os.getpid(), signal.SIGINT)

    file = tmp_path / "kept"
    run = tw.nets.fit(mlp(), (X, Y), epochs=2, probes=[press], checkpoint=file)
    assert run.outcome is tw.Outcome.INTERRUPTED
    assert run.iterations == 4
    assert tw.nets.fit(mlp(), (X, Y), epochs=2, checkpoint=file).iterations == 20


class Root(nn.Module):
    def forward(self, x):
        return torch.sqrt(x * (x > 0))  # its slope at 0 is infinite, and times 0 no number


def test_a_loss_that_is_no_number_names_layer_and_step_and_keeps_finite_weights():
    model = nn.Sequential(nn.Linear(64, 8), Root(), nn.Linear(8, 10))
    run = tw.nets.fit(model, (X, Y), "sgd[lr=0.1]", epochs=5)
    assert run.outcome is tw.Outcome.DIVERGED
    assert "at step 2, in epoch 1: the output of layer '0' (Linear(in_features=64" in run.reason
    assert "weight and bias no longer are" in run.reason
    assert "those it began with" in run.reason
    np.testing.assert_array_equal(run.w, run.w0)
    assert torch.isfinite(weights(model)).all()
    assert math.isfinite(run.value)


def test_weights_that_overflow_in_the_last_step_are_noticed():
    model = nn.Linear(64, 10)
    run = tw.nets.fit(model, (X, Y), "sgd[lr=1e300]", epochs=1, batch_size=None)
    assert run.outcome is tw.Outcome.DIVERGED
    assert "is not finite after step 1" in run.reason


def test_diverged_later_goes_back_to_the_last_epoch():
    kept = []

    def spoil(moment):
        if moment.step == 10:
            kept.append(weights(moment.model))
        if moment.step == 15:
            moment.model[2].bias.data[0] = torch.inf

    model = mlp()
    run = tw.nets.fit(model, (X, Y), "sgd[lr=0.1]", epochs=3, probes=[spoil])
    assert "at step 16, in epoch 2: the output of layer '2'" in run.reason
    assert "those of the end of epoch 1" in run.reason
    assert torch.equal(weights(model), kept[0])
    assert run.value == run.trace["value"][1]


def test_bfloat16_when_asked():
    plain, coarse = mlp(), mlp()
    tw.nets.fit(plain, (X, Y), "sgd[lr=0.1]", epochs=2)
    tw.nets.fit(coarse, (X, Y), "sgd[lr=0.1]", epochs=2, precision="bfloat16")
    assert coarse[0].weight.dtype == torch.float32
    assert 0 < (weights(plain) - weights(coarse)).abs().max() < 0.05


def test_float64_stays_float64():
    run = tw.nets.fit(mlp().double(), (X, Y), epochs=1)
    assert run.w.dtype == np.float64


def test_nothing_is_printed_for_a_short_training(capfd):
    tw.nets.fit(mlp(), (X, Y), epochs=1)
    assert capfd.readouterr() == ("", "")


def test_progress_tells_loss_accuracy_rate_and_time_left(capfd, monkeypatch):
    monkeypatch.setattr("thalweg.running.progress.FIRST_LINE", 0.0)
    tw.nets.fit(mlp(), (X, Y), "adam[lr=0.01]", epochs=2, validation=(X, Y))
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("adam: 1/20 iterations, 0 s, epoch 1/2, loss 2.")
    assert "rate 0.01" in err
    assert "s left" in err


def pairs():
    yield X, Y


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"data": (X, Y + 1)}, "in 0 … 9, as the model has 10 outputs, got 10 in row 9"),
        ({"validation": (X, Y + 1)}, "labels of validation must be in 0 … 9"),
        ({"data": (X[:, :3], Y)}, "model cannot take samples of shape"),
        (
            {"data": (X, Y.float()[:, None]), "loss": "squared"},
            r"\[n, 1\] for outputs of \[n, 10",
        ),
        ({"data": []}, "at least one batch"),
        ({"data": pairs()}, "got a generator, which ends after the first"),
        ({"optimizer": torch.optim.SGD(mlp().parameters(), lr=1.0)}, "with none of them"),
        ({"early_stopping": Stopping()}, "early_stopping needs validation data"),
        ({"early_stopping": Stopping(1, "loss"), "validation": (X, Y)}, "must monitor one of"),
        ({"epochs": 0}, "epochs must be a whole number, at least 1"),
        ({"accumulate": 0}, "accumulate must be"),
        ({"time_limit": -1}, "time_limit must be at least 0"),
        ({"checkpoint": 3}, "checkpoint must be a file name"),
        ({"probes": [3]}, "probes must be a function of a Moment"),
        (
            {"scheduler": torch.optim.lr_scheduler.StepLR(torch.optim.SGD(mlp().parameters()), 1)},
            "scheduler must be of the optimizer that trains",
        ),
        ({"scheduler": 3}, "scheduler must be of the optimizer that trains, got 3"),
        ({"model": 3}, "model must be a torch.nn.Module"),
    ],
)
def test_sentences(asked, says):
    model, data = asked.pop("model", None) or mlp(), asked.pop("data", (X, Y))
    with pytest.raises(InputError, match=says):
        tw.nets.fit(model, data, **asked)


def test_labels_outside_the_classes_in_a_later_batch():
    bad = Y.clone()
    bad[250] = 17
    loader = DataLoader(TensorDataset(X, bad), 100)
    with pytest.raises(InputError, match="got 17 in row 250"):
        tw.nets.fit(mlp(), loader, accumulate=4)


def test_one_epoch_of_a_generator():
    assert tw.nets.fit(mlp(), pairs(), epochs=1).iterations == 1
