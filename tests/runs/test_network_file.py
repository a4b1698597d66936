import pytest
import torch
from torch import nn

from thalweg.core.errors import InputError, StorageError
from thalweg.runs.network_file import read_module, write_module


def network(hidden=3, seed=0):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(2, hidden), nn.BatchNorm1d(hidden), nn.Linear(hidden, 1))


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "model.safetensors"
    file.write_bytes(write_module(network()))
    return file


def test_there_and_back(file):
    other = network(seed=1)
    read_module(file, other)
    for name, tensor in network().state_dict().items():
        assert torch.equal(other.state_dict()[name], tensor), name
    other(torch.ones(4, 2)).sum().backward()  # weights are its own: they may be trained on
    with torch.no_grad():
        other[0].weight += 1.0
    read_module(file, other)
    assert torch.equal(other[0].weight, network()[0].weight)


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (network(4), r"0.weight is \[3, 2\] there and \[4, 2\] here"),
        (network().double(), "0.weight is torch.float32 there and torch.float64 here"),
        (network()[:2], "it has 2.weight, which the network has not"),
        (nn.Sequential(*network(), nn.Linear(1, 1)), "3.weight is not in it"),
    ],
)
def test_weights_of_another_network(file, other, sentence):
    before = {name: tensor.clone() for name, tensor in other.state_dict().items()}
    with pytest.raises(InputError, match=sentence):
        read_module(file, other)
    assert all(torch.equal(tensor, before[name]) for name, tensor in other.state_dict().items())


def test_a_damaged_file(file):
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(StorageError, match="whole safetensors file"):
        read_module(file, network())
    file.unlink()
    with pytest.raises(StorageError, match="cannot be read"):
        read_module(file, network())


def test_a_state_that_is_no_tensor():
    class Odd(nn.Linear):
        def get_extra_state(self):
            return {"words": 1}

    with pytest.raises(InputError, match="model must have a state of tensors alone"):
        write_module(Odd(1, 1))
