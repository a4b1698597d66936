import sys

import pytest
import torch

from thalweg.core.errors import InputError
from thalweg.runs.network_builder import built, maker

CODE = """
import os
import beside
from torch import nn

class Net(nn.Module):
    def __init__(self, hidden=3, depth=2):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, hidden), nn.ReLU(), nn.Linear(hidden, 2))
    def forward(self, x):
        return self.layers(x)

def build(shape, count):
    return nn.Linear(shape[0], count)

def named(hidden=3, *, outputs):
    return nn.Linear(4, outputs)

def images(input_shape, outputs):
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.LazyLinear(outputs))

def none():
    return nn.Linear(4, 2)

def asks(width):
    return nn.Linear(width, 2)

def fails(input_shape, outputs):
    raise ValueError("no such size\\nsecond line")

def words():
    return "a network"

def three():
    return nn.Linear(4, 3)

def narrow():
    return nn.Linear(5, 2)

def empty():
    return nn.Identity()

number = 7
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "beside.py").write_text("")
    (tmp_path / "net.py").write_text(CODE)
    yield str(tmp_path / "net.py")
    sys.modules.pop("beside", None)


@pytest.mark.parametrize("name", ["build", "Net", "named", "none"])
def test_functions_and_classes(file, name):
    path = list(sys.path)
    model = built(f"{file}:{name}", (4,), 2, seed=0)
    assert model(torch.zeros(3, 4)).shape == (3, 2)
    assert model.training
    assert sys.path == path


def test_first_weights_are_drawn_from_the_seed_and_no_generator_moves(file):
    state = torch.random.get_rng_state()
    one, two, other = (built(f"{file}:build", (4,), 2, seed=k).weight for k in (1, 1, 2))
    assert torch.equal(one, two)
    assert not torch.equal(one, other)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_a_module_by_its_name(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_network.py").write_text(CODE)
    assert built("own_network:build", (4,), 2, seed=0).weight.shape == (2, 4)
    sys.modules.pop("own_network")


@pytest.mark.parametrize(
    ("name", "shape", "sentence"),
    [
        ("biuld", (4,), "has no function 'biuld': did you mean 'build'"),
        ("number", (4,), "must be a function or a Module class, got 7"),
        ("asks", (4,), "must take input_shape and outputs, or nothing, got one that needs width"),
        ("fails", (4,), r"got ValueError: no such size from fails\(\(4,\), 2\)$"),
        ("words", (4,), "must return a torch.nn.Module, got"),
        ("three", (4,), r"must have outputs \[n, 2\], one a class, got \[n, 3\]"),
        ("narrow", (4,), r"model cannot take samples of shape \[n, 4\]"),
        ("images", (1, 6, 6), "model must know its sizes"),
        ("empty", (4,), "model must have at least one parameter"),
    ],
)
def test_bad_functions(file, name, shape, sentence):
    with pytest.raises(InputError, match=sentence):
        built(f"{file}:{name}", shape, 2, seed=0)


@pytest.mark.parametrize(
    ("builder", "sentence"),
    [
        ("net.py", "model must read file.py:build"),
        (":build", "model must read file.py:build"),
        ("net.py:", "model must read file.py:build"),
        ("none.py:build", "model must be a file that is there, got 'none.py'"),
        ("no_such_package:build", "got ModuleNotFoundError: No module named 'no_such_package'"),
        ("bad.py:build", "got SyntaxError: .* from bad.py"),
        ("ends.py:build", "got SystemExit: 3 from ends.py"),
    ],
)
def test_bad_places(tmp_path, monkeypatch, builder, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.py").write_text("def build(:")
    (tmp_path / "ends.py").write_text("raise SystemExit(3)")
    with pytest.raises(InputError, match=sentence):
        maker(builder)
