import numpy as np
import pytest
import torch

import thalweg as tw
from thalweg.core.record import Record
from thalweg.doctor.nets.facts.examination import Examination
from thalweg.doctor.nets.facts.measured import Measured
from thalweg.jobs.network import train_network
from thalweg.jobs.network_training import ready
from thalweg.jobs.rows import rows_of
from thalweg.jobs.train import resume, train
from thalweg.nets.recipes.recipe import Recipe
from thalweg.runs.job import Job
from thalweg.runs.network_model import load_network
from thalweg.runs.saved import load

SMALL = {"layers": "mlp:6", "epochs": 2, "batch_size": 30, "learning_rate": 0.01}


@pytest.fixture(autouse=True)
def no_facts(monkeypatch):
    monkeypatch.setattr(Examination, "before", lambda *_: Measured())


def trained(job, folder=None):
    table = tw.read(job.source)
    made = ready(job, rows_of(job, table), table.encoding)
    return train_network(job, made, table.encoding, folder=folder, progress=False), table


@pytest.fixture
def folder(tmp_path):
    """A run's folder with what a network leaves there."""
    job = Job("@iris", recipe=SMALL, standardize=True)
    done, table = trained(job, tmp_path)
    for name, content in done.files.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path, job, done, table


def test_the_folder_gives_the_same_network_again(folder):
    place, job, done, table = folder
    assert sorted(file.name for file in place.iterdir()) == [
        "checkpoint.pt", "model.safetensors", "recipe.toml", "record.npz", "spectrum.npz",
    ]  # fmt: skip
    model = load_network(place, job, table.encoding)
    assert not model.module.training
    for one, two in zip(model.answers(table.X), done.model.answers(table.X), strict=True):
        assert np.array_equal(one, two)
    assert model.classes == table.encoding.target.classes
    assert Record.load(place / "record.npz").scalars["steps"] == 10
    assert Recipe.from_toml(place / "recipe.toml").scaling == "z-score"
    weights = torch.cat([p.detach().flatten() for p in model.module.parameters()])
    assert np.array_equal(weights.numpy(), done.run.w)


def test_a_job_is_trained_ended_resumed_and_asked(tmp_path):
    job = Job("@iris", recipe=SMALL, standardize=True, validation=0.2, time_limit=1e-9)
    stopped = train(job, tmp_path / "run", progress=False, report=False)
    assert stopped.result["outcome"] == "TIME_LIMIT"
    resumed = resume(tmp_path / "run", time_limit=60.0, progress=False, report=False)
    assert resumed.result["outcome"] == "FINISHED"
    saved = load(tmp_path / "run")
    whole = train(job.changed(time_limit=None), tmp_path / "whole", progress=False, report=False)
    assert np.array_equal(saved.run.w, whole.run.w)
    assert saved.scores == whole.scores
    told = saved.predict("@iris")
    assert told.probabilities.shape == (150, 3)
    assert saved.module()(torch.zeros(2, 4)).shape == (2, 3)
    assert saved.scores["held out"]["accuracy"] == pytest.approx(
        saved.run.trace["validation_accuracy"][-1]
    )
    assert not list((tmp_path / "run").glob("checkpoint.*"))


def test_numbers(tmp_path):
    job = Job("@diabetes", recipe=SMALL, standardize=True)
    done, table = trained(job)
    values, odds = done.model.answers(table.X)
    assert values.shape == (442,)
    assert odds is None
