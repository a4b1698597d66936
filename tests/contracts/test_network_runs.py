"""A network from a job to a folder and back, as its user sees it."""

import json
import shutil

import numpy as np
import pytest

from thalweg.core.errors import InputError, StorageError
from thalweg.jobs.race import train_race
from thalweg.jobs.train import train
from thalweg.runs.job import Job
from thalweg.runs.network_model import RECIPE, recipe_of
from thalweg.runs.saved import load

QUIET = {"progress": False, "report": False}
JOB = Job("@iris", recipe={"layers": "mlp:8", "epochs": 3, "keep": 0.9}, standardize=True)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return train(JOB, tmp_path_factory.mktemp("nets") / "a", **QUIET)


def test_a_folder_of_plain_files(saved):
    assert sorted(path.name for path in saved.folder.iterdir()) == [
        "encoding.json", "explanation.json", "job.json", "model.safetensors", "recipe.toml",
        "record.npz", "result.json", "run.json", "spectrum.npz", "trace.csv", "weights.npz",
    ]  # fmt: skip
    assert saved.result["verdict"] == "FINISHED"
    assert recipe_of(saved.folder).keep == 0.9
    assert saved.result["point"]["kind"]


def test_the_subject_has_what_a_network_has(saved):
    subject = load(saved.folder).subject()
    assert subject.record.scalars["steps"] == 9
    assert subject.point.kind == saved.result["point"]["kind"]
    assert np.isclose(subject.spectrum.weights.sum(), 1.0)


def test_quantities_and_folds(tmp_path):
    job = Job("@diabetes", recipe={"layers": "mlp:4", "epochs": 1}, standardize=True, folds=2)
    found = train(job, tmp_path / "a", **QUIET)
    assert "R²" in found.scores["mean over folds"]
    assert found.predict("@diabetes").classes == ()


@pytest.mark.parametrize("name", ["model.safetensors", RECIPE, "record.npz"])
def test_damage_is_a_sentence(saved, tmp_path, name):
    shutil.copytree(saved.folder, tmp_path / "a")
    content = (tmp_path / "a" / name).read_bytes()
    (tmp_path / "a" / name).write_bytes(b"\x00" + content[: len(content) // 2])

    def used():
        again = load(tmp_path / "a")
        again.predict("@iris"), again.subject()

    with pytest.raises((StorageError, InputError)):
        used()


def test_a_race_of_optimizers(tmp_path):
    race = train_race(JOB, ["adam[lr=0.1]", "sgd[lr=1e-6]"], tmp_path / "r", **QUIET)
    assert race.best.job.method == "adam[lr=0.1]"
    assert json.loads((tmp_path / "r" / "race.json").read_text())["methods"]
