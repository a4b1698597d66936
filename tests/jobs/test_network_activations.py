import torch
from torch import nn

from thalweg.jobs.network_activations import activation_bytes


def test_by_hand():
    # Kept: tanh's 5 outputs, and the 3 logarithms of shares; x, y and weights are there anyway.
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
    data = torch.rand(8, 4), torch.arange(8) % 3
    found = activation_bytes(model, "cross-entropy", data)
    assert 4 * 8 <= found <= 4 * 8 + 4  # one number a batch is the weights' sum
    assert activation_bytes(model, "cross-entropy", (data[0][:2], data[1][:2])) <= 4 * 8 + 4


def test_nothing_is_changed():
    model = nn.Sequential(nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 1)).eval()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    data = torch.rand(8, 4), torch.rand(8, 1)
    state = torch.random.get_rng_state()
    activation_bytes(model, "squared", data)
    assert not model.training
    assert torch.equal(state, torch.random.get_rng_state())
    assert all(torch.equal(before[name], t) for name, t in model.state_dict().items())
