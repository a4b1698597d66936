import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
import torch

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.core.finding import Finding, Severity
from thalweg.doctor.nets.facts.examination import Examination
from thalweg.doctor.nets.facts.measured import Measured
from thalweg.doctor.nets.watch import Watch
from thalweg.jobs import network_training
from thalweg.jobs.network_training import fit_network, ready, relevant
from thalweg.jobs.rows import rows_of
from thalweg.runs.job import Job
from thalweg.runs.network_model import build_network, outputs

SMALL = {"layers": "mlp:6", "epochs": 2, "batch_size": 30, "keep": 0.8}
STEPS = 8  # 2 epochs of 120 rows


def job_of(recipe=SMALL, source="@iris", **more):
    return Job(source, recipe=recipe, **{"standardize": True, "validation": 0.2, **more})


def material(job, X=None):
    table = tw.read(job.source)
    if X is not None:
        table = replace(table, X=X(table.X))
    return job, rows_of(job, table), table.encoding


def trained(job, rows, encoding, checkpoint=None):
    made = ready(job, rows, encoding)
    return fit_network(made, job.time_limit, checkpoint=checkpoint, progress=False)


@pytest.fixture
def no_facts(monkeypatch):
    """What the doctor asks of the data before the first step takes longer than these trainings."""
    monkeypatch.setattr(Examination, "before", lambda *_: Measured())


@pytest.fixture(scope="module")
def whole():
    """A training that nothing ended."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Examination, "before", lambda *_: Measured())
        return trained(*material(job_of()))


def state_of(model):
    return {name: tensor.numpy().tobytes() for name, tensor in model.state_dict().items()}


def trace_of(run):
    """All columns but the seconds."""
    names = [name for name in run.trace.columns if name != "seconds"]
    return np.column_stack([run.trace[name] for name in names])


def test_it_is_the_training_of_its_recipe():
    job, rows, encoding = material(job_of())
    made = trained(job, rows, encoding)
    X, y = rows.X.astype(np.float32), rows.y
    plain = made.recipe.train((X, y), (rows.held.X.astype(np.float32), rows.held.y), progress=False)
    assert state_of(made.model) == state_of(plain.model)
    assert np.array_equal(trace_of(made.run), trace_of(plain.run), equal_nan=True)
    assert made.recipe.scaling == "z-score"
    assert made.record.scalars["steps"] == STEPS
    assert made.record.scalars["validated_skill"] > -1.0
    told = outputs(made.model, rows.held.X).argmax(1)
    assert (told == rows.held.y).mean() == pytest.approx(made.run.trace["validation_accuracy"][-1])


def test_a_seed_replays_and_another_does_not(whole, no_facts):
    job, rows, encoding = material(job_of())
    again = trained(job, rows, encoding)
    assert state_of(again.model) == state_of(whole.model)
    for name, column in whole.record.columns.items():
        if name != "seconds":
            assert np.array_equal(column, again.record[name], equal_nan=True), name
    other = trained(job.changed(seed=1), rows, encoding)
    assert state_of(other.model) != state_of(whole.model)


@pytest.mark.parametrize("killed_at", [1, 3, 4, 5, STEPS])
def test_a_training_that_was_ended_anywhere_goes_on_to_the_same_bits(
    killed_at, whole, tmp_path, monkeypatch, no_facts
):
    monkeypatch.setattr(network_training, "PAUSE", 0.0)
    job, rows, encoding = material(job_of())
    call = Watch.__call__

    def killed(self, moment):
        if moment.step == killed_at:
            raise MemoryError("as if the process had ended")
        call(self, moment)

    monkeypatch.setattr(Watch, "__call__", killed)
    file = tmp_path / "checkpoint.pt"
    with pytest.raises(MemoryError):
        trained(job, rows, encoding, checkpoint=file)
    monkeypatch.setattr(Watch, "__call__", call)
    resumed = trained(job, rows, encoding, checkpoint=file)
    assert state_of(resumed.model) == state_of(whole.model)
    assert np.array_equal(trace_of(resumed.run), trace_of(whole.run), equal_nan=True)
    assert np.array_equal(resumed.record["loss"], whole.record["loss"])
    assert np.array_equal(resumed.record["step"], np.arange(1, STEPS + 1))
    assert [each.name for each in resumed.findings] == [each.name for each in whole.findings]


def test_a_training_that_was_killed_goes_on_to_the_same_bits(whole, tmp_path, no_facts):
    file = tmp_path / "checkpoint.pt"
    code = f"""
import os, signal, torch
from pathlib import Path
import thalweg as tw
from thalweg.doctor.nets.facts.measured import Measured
from thalweg.jobs import network_training as network
from thalweg.runs.job import Job
from thalweg.jobs.rows import rows_of

def killed(self, moment):
    if moment.step == 6:
        os.kill(os.getpid(), signal.SIGKILL)
    call(self, moment)

network.PAUSE = 0.0
network.Examination.before = lambda *_: Measured()
call, tw.doctor.Watch.__call__ = tw.doctor.Watch.__call__, killed
torch.set_num_threads(1)
job = Job.from_dict({job_of().to_dict()!r})
table = tw.read(job.source)
made = network.ready(job, rows_of(job, table), table.encoding)
network.fit_network(made, checkpoint=Path({str(file)!r}), progress=False)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -9, done.stderr
    job, rows, encoding = material(job_of())
    for _ in range(2):  # the second time nothing is left to do but to look at the end
        resumed = trained(job, rows, encoding, checkpoint=file)
        assert state_of(resumed.model) == state_of(whole.model)
        assert np.array_equal(trace_of(resumed.run), trace_of(whole.run), equal_nan=True)
        assert np.array_equal(resumed.record["loss"], whole.record["loss"])
        assert [each.name for each in resumed.findings] == [each.name for each in whole.findings]
        for name in ("steps", "trained_loss", "validated_skill"):
            assert resumed.record.scalars[name] == whole.record.scalars[name], name


def test_a_time_limit_ends_it_and_without_one_it_goes_on(whole, tmp_path, no_facts):
    job, rows, encoding = material(job_of(time_limit=1e-9))
    file = tmp_path / "checkpoint.pt"
    stopped = trained(job, rows, encoding, checkpoint=file)
    assert stopped.run.outcome.name == "TIME_LIMIT"
    job = job.changed(time_limit=None)
    resumed = trained(job, rows, encoding, checkpoint=file)
    assert resumed.run.outcome.name == "FINISHED"
    assert state_of(resumed.model) == state_of(whole.model)


def test_classes_and_numbers():
    made = ready(*material(job_of()))
    assert made.recipe.loss == "cross-entropy"
    assert made.data[0].dtype == torch.float32
    assert made.data[1].dtype == torch.int64
    assert outputs(made.model, made.data[0].numpy()).shape == (120, 3)
    assert (made.steps, made.every, made.curvature_every) == (STEPS, 1, STEPS // 2)
    made = ready(*material(job_of(source="@diabetes")))
    assert (made.recipe.loss, made.recipe.monitor) == ("squared", "validation loss")
    assert made.data[1].dtype == torch.float32
    assert outputs(made.model, made.data[0].numpy()).shape == made.data[1].shape
    made = ready(*material(job_of({**SMALL, "loss": "binary-cross-entropy"}, "@cancer")))
    assert outputs(made.model, made.data[0].numpy()).shape == made.data[1].shape


def test_looks_at_curvature_are_few_in_short_trainings_and_seven_in_long_ones():
    made = ready(*material(job_of({**SMALL, "epochs": 10_000})))
    assert made.every == 800
    assert -(-made.steps // made.curvature_every) == 7
    made = ready(*material(job_of({**SMALL, "epochs": 1600})))  # 192,000 rows, 20 looks' time
    assert -(-made.steps // made.curvature_every) == 4


def test_inputs_are_scaled_by_the_training_rows_alone():
    made = ready(*material(job_of()))
    scaled = made.model[0](made.data[0]).double()
    assert torch.allclose(scaled.mean(0), torch.zeros(4, dtype=torch.float64), atol=1e-5)
    assert torch.allclose(scaled.std(0, correction=0), torch.ones(4, dtype=torch.float64))
    assert not torch.allclose(made.model[0](made.held[0]).mean(0), torch.zeros(4), atol=1e-2)


def test_images_have_a_channel_and_flat_rows_are_understood(no_facts):
    job, rows, encoding = material(
        job_of(
            {"layers": "conv:2", "epochs": 1, "augmentation": ["rotation[degrees=5]"]}, "@digits"
        )
    )
    made = ready(job, rows, encoding)
    assert made.data[0].shape == (len(rows.y), 1, 8, 8)
    done = fit_network(made, progress=False)
    flat, images = outputs(done.model, rows.X[:700]), outputs(done.model, made.data[0][:700])
    assert np.array_equal(flat, images)
    assert flat.dtype == np.float64


def test_sparse_rows_train_as_dense_ones_do(whole, no_facts):
    job, rows, encoding = material(job_of(), X=scipy.sparse.csr_array)
    sparse = trained(job, rows, encoding)
    assert state_of(sparse.model) == state_of(whole.model)
    assert np.array_equal(outputs(sparse.model, rows.X), outputs(whole.model, rows.X.toarray()))


def test_outputs_leave_the_mode_alone_and_need_no_particular_batch():
    made = ready(*material(job_of({**SMALL, "keep": 0.5, "norm": "batch"})))
    made.model.train()
    X = np.tile(made.data[0].numpy(), (10, 1))  # more than one batch
    told = outputs(made.model, X)
    assert made.model.training
    # BLAS may add up a row otherwise at another place of a batch.
    np.testing.assert_allclose(told[:120], told[120:240], rtol=1e-5, atol=1e-6)


def test_code_of_ones_own_is_scaled_too_and_has_its_own_first_weights(tmp_path, no_facts):
    (tmp_path / "net.py").write_text(
        "from torch import nn\n"
        "def build(input_shape, outputs):\n"
        "    return nn.Sequential(nn.Linear(input_shape[0], 5), nn.Tanh(), nn.Linear(5, outputs))\n"
    )
    builder = f"{tmp_path / 'net.py'}:build"
    job = job_of({"epochs": 2}, builder=builder)
    made = ready(*material(job))
    assert type(made.model[0]).__name__ == "Scaling"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        first = torch.nn.Linear(4, 5)
    assert torch.equal(made.model[1][0].weight, first.weight)
    done = fit_network(made, progress=False)
    assert done.run.counts["epochs"] == 2
    again = build_network(done.recipe, material(job)[2], builder)
    assert list(again.state_dict()) == list(done.model.state_dict())
    plain = job.changed(standardize=False, recipe=None)
    assert isinstance(ready(*material(plain)).model[0], torch.nn.Linear)


def test_scaled_networks_are_not_told_to_scale():
    findings = [
        Finding(name, Severity.NOTE, "", 0.0, 0.0) for name in ("unscaled inputs", "underfitting")
    ]
    assert relevant(tw.nets.Recipe(), findings) == findings
    assert relevant(tw.nets.Recipe(scaling="z-score"), findings) == findings[1:]


def test_options_that_an_optimizer_does_not_take_are_said_before_training():
    with pytest.raises(InputError, match=r"optimizer 'sgd' cannot be made.*rho"):
        ready(*material(job_of(method="sgd[rho=0.9]")))
    with pytest.raises(InputError, match="patience needs rows that are held out, got 2 and none"):
        ready(*material(job_of({**SMALL, "patience": 2}, validation=None)))
    job, rows, encoding = material(job_of({**SMALL, "augmentation": ["rotation[degrees=5]"]}))
    with pytest.raises(InputError, match=r"augmentation needs images, got samples of shape \[4\]"):
        ready(job, rows, encoding)
    with pytest.raises(
        InputError, match="y must have two values at least, got the same in all 120"
    ):
        ready(job_of(), rows._replace(y=0 * rows.y), encoding)
