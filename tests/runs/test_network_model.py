import numpy as np
import pytest
import torch
from scipy.special import expit, softmax

import thalweg as tw
from thalweg.core.errors import InputError, StorageError
from thalweg.doctor.nets.facts.examination import Examination
from thalweg.doctor.nets.facts.measured import Measured
from thalweg.jobs.network import train_network
from thalweg.jobs.network_training import ready
from thalweg.jobs.rows import rows_of
from thalweg.nets.initializers.safetensors import safetensors_bytes
from thalweg.nets.recipes.recipe import Recipe
from thalweg.runs.job import Job
from thalweg.runs.network_model import NetworkModel, load_network, outputs_of

SMALL = {"layers": "mlp:6", "epochs": 2, "batch_size": 30, "learning_rate": 0.01}
CODE = """
from torch import nn
def build(input_shape, outputs):
    return nn.Linear(input_shape[0], outputs)
"""


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


def test_answers_by_hand():
    module = torch.nn.Linear(2, 3, bias=False)
    torch.nn.init.ones_(module.weight)
    X = np.array([[1.0, 2.0], [0.0, -3.0]])
    z = X.sum(1)
    codes, odds = NetworkModel(module, "cross-entropy", ("a", "b", "c")).answers(X)
    assert np.array_equal(odds, softmax(np.tile(z[:, None], 3), axis=1))
    assert codes.tolist() == [0, 0]
    module = torch.nn.Linear(2, 1, bias=False)
    torch.nn.init.ones_(module.weight)
    codes, odds = NetworkModel(module, "binary-cross-entropy", ("a", "b")).answers(X)
    assert codes.tolist() == [1, 0]
    assert np.allclose(odds, np.column_stack([expit(-z), expit(z)]))
    values, odds = NetworkModel(module, "squared", ()).answers(X)
    assert values.tolist() == [3.0, -3.0]
    assert odds is None


def test_outputs_that_are_no_numbers_are_answered_without_a_warning():
    module = torch.nn.Linear(1, 2, bias=False)
    module.weight.data[:] = torch.tensor([[3e38], [-3e38]])
    codes, odds = NetworkModel(module, "cross-entropy", ("a", "b")).answers(np.array([[9.0]]))
    assert (codes.tolist(), odds.tolist()) == ([0], [[1.0, 0.0]])


def test_weights_that_are_not_there(folder):
    place, job, _, table = folder
    (place / "model.safetensors").unlink()
    with pytest.raises(StorageError, match="cannot be read"):
        load_network(place, job, table.encoding)
    (place / "recipe.toml").unlink()
    with pytest.raises(StorageError, match="recipe"):
        load_network(place, job, table.encoding)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["weight", "bias"])
def test_weights_that_are_not_finite_predict_nothing(folder, number, name):
    place, job, done, table = folder
    state = done.model.module.state_dict()
    key = next(each for each in state if each.endswith(name))
    state[key].view(-1)[0] = number
    (place / "model.safetensors").write_bytes(safetensors_bytes(state))
    with pytest.raises(StorageError, match=f"numbers in {key} that are not finite"):
        load_network(place, job, table.encoding)


def test_code_is_run_only_where_it_is_named(tmp_path):
    (tmp_path / "net.py").write_text(CODE)
    builder = f"{tmp_path / 'net.py'}:build"
    job = Job("@iris", builder=builder, recipe={"epochs": 1})
    done, table = trained(job, tmp_path)
    for name, content in done.files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=r"name it again, --model .*net.py:build"):
        load_network(tmp_path, job, table.encoding)
    model = load_network(tmp_path, job, table.encoding, builder)
    assert np.array_equal(model.answers(table.X)[0], done.model.answers(table.X)[0])
    with pytest.raises(InputError, match="model must be left out"):
        load_network(tmp_path, Job("@iris", recipe=SMALL), table.encoding, builder)


def test_outputs():
    iris, cancer, diabetes = (tw.read(name).encoding for name in ("@iris", "@cancer", "@diabetes"))
    assert outputs_of(Recipe(), iris) == 3
    assert outputs_of(Recipe(), cancer) == 2
    assert outputs_of(Recipe(loss="binary-cross-entropy"), cancer) == 1
    assert outputs_of(Recipe(loss="squared"), diabetes) == 1
