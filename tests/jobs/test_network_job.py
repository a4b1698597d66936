import json

import numpy as np
import pytest
import torch

from thalweg.core.errors import InputError, StorageError
from thalweg.jobs.job import Job
from thalweg.jobs.network_job import RECIPE, load_network, recipe_of
from thalweg.jobs.saved import load
from thalweg.jobs.train import resume, train

QUIET = {"progress": False, "report": False}
JOB = Job("@iris", recipe={"layers": "mlp:8", "epochs": 3, "keep": 0.9}, standardize=True)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return train(JOB, tmp_path_factory.mktemp("nets") / "a", **QUIET)


def test_a_folder_of_plain_files(saved):
    assert sorted(path.name for path in saved.folder.iterdir()) == [
        "encoding.json", "job.json", "model.safetensors", "recipe.toml", "record.npz",
        "result.json", "run.json", "spectrum.npz", "trace.csv", "weights.npz",
    ]  # fmt: skip
    assert saved.result["verdict"] == "FINISHED"
    assert recipe_of(saved.folder).keep == 0.9
    assert saved.result["point"]["kind"]


def test_the_module_comes_back_and_answers_alike(saved):
    again = load(saved.folder)
    X = again.encoding.apply("@iris")
    module = again.module()
    assert not module.training
    with torch.no_grad():
        z = module(torch.tensor(X, dtype=torch.float32))
    told = again.predict("@iris")
    assert told.values.tolist() == z.argmax(1).tolist()
    assert told.probabilities == pytest.approx(torch.softmax(z.double(), 1).numpy(), abs=1e-6)
    assert told.scores["accuracy"] == again.scores["training"]["accuracy"]
    with pytest.raises(InputError, match="must be a linear model"):
        again.estimator()


def test_the_subject_has_what_a_network_has(saved):
    subject = load(saved.folder).subject()
    assert subject.record.scalars["steps"] == 9
    assert subject.point.kind == saved.result["point"]["kind"]
    assert np.isclose(subject.spectrum.weights.sum(), 1.0)


def test_stopped_by_the_clock_it_goes_on_to_the_same_bits(saved, tmp_path):
    first = train(JOB.changed(time_limit=1e-9), tmp_path / "b", **QUIET)
    assert first.result["verdict"] == "TIME LIMIT"
    again = resume(tmp_path / "b", time_limit=100.0, **QUIET)
    for name in ("model.safetensors", "recipe.toml"):
        assert (tmp_path / "b" / name).read_bytes() == (saved.folder / name).read_bytes(), name
    assert again.scores == saved.scores


def test_quantities_and_folds(tmp_path):
    job = Job("@diabetes", recipe={"layers": "mlp:4", "epochs": 1}, standardize=True, folds=2)
    found = train(job, tmp_path / "a", **QUIET)
    assert "R²" in found.scores["mean over folds"]
    assert found.predict("@diabetes").classes == ()


def test_code_is_named_again_before_it_runs(tmp_path):
    file = tmp_path / "net.py"
    file.write_text("from torch import nn\ndef build():\n    return nn.Linear(4, 3)\n")
    job = Job("@iris", recipe={"epochs": 1}, builder=f"{file}:build")
    found = train(job, tmp_path / "a", **QUIET)
    with pytest.raises(InputError, match="not run unasked: --model"):
        found.predict("@iris")
    assert len(found.predict("@iris", builder=f"{file}:build").values) == 150
    with pytest.raises(InputError, match="must be left out"):
        load_network(tmp_path / "a", JOB, found.encoding, "net.py:build")


@pytest.mark.parametrize("name", ["model.safetensors", RECIPE, "record.npz"])
def test_damage_is_a_sentence(saved, tmp_path, name):
    import shutil

    shutil.copytree(saved.folder, tmp_path / "a")
    content = (tmp_path / "a" / name).read_bytes()
    (tmp_path / "a" / name).write_bytes(b"\x00" + content[: len(content) // 2])
    again = load(tmp_path / "a")
    with pytest.raises((StorageError, InputError)):
        (again.predict("@iris"), again.subject())


def test_a_race_of_optimizers(tmp_path):
    from thalweg.jobs.race import train_race

    race = train_race(JOB, ["adam[lr=0.1]", "sgd[lr=1e-6]"], tmp_path / "r", **QUIET)
    assert race.best.job.method == "adam[lr=0.1]"
    assert json.loads((tmp_path / "r" / "race.json").read_text())["methods"]
