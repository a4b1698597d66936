import torch
from torch import nn

from thalweg.doctor.nets.instruments.origin import (
    Place,
    first_bad_output,
    last_bad_gradient,
    nothing_left,
)


class Log(nn.Module):
    def forward(self, x):
        return torch.log(x)


def net():
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))
    for p in model.parameters():
        nn.init.constant_(p, 1.0)
    return model


def test_the_first_layer_whose_output_is_not_finite():
    model = nn.Sequential(net(), nn.Sequential(nn.Identity(), Log()))
    x = torch.ones(4, 2)
    assert first_bad_output(model, (x,), {}) is None
    model[0][2].weight.data.fill_(-1.0)
    assert first_bad_output(model, (x,), {}) == Place("forward", "1.1")
    model[0][0].bias.data.fill_(torch.inf)
    assert first_bad_output(model, (x,), {}) == Place("forward", "0.0")


def test_inputs_that_are_not_finite():
    assert first_bad_output(net(), (torch.full((1, 2), torch.nan),), {}) == Place("inputs", "")


def test_a_model_that_is_one_layer():
    assert first_bad_output(Log(), (torch.zeros(1),), {}) == Place("forward", "Log")


def test_words_for_arguments():
    class Scaled(nn.Module):
        def forward(self, x, *, by):
            return x * by

    assert first_bad_output(Scaled(), (torch.ones(1),), {"by": 2.0}) is None
    assert first_bad_output(Scaled(), (torch.ones(1),), {"by": torch.inf}).where == "forward"


def test_nothing_is_left_behind():
    model = nn.Sequential(nn.BatchNorm1d(2), nn.Dropout(0.5), Log())
    before = {name: b.clone() for name, b in model.named_buffers()}
    state = torch.random.get_rng_state()
    first_bad_output(model, (torch.randn(8, 2, generator=torch.Generator().manual_seed(0)),), {})
    assert all(torch.equal(b, before[name]) for name, b in model.named_buffers())
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not any(module._forward_hooks for module in model.modules())


def test_buffers_come_back_after_an_error_too():
    model = nn.BatchNorm1d(2)
    try:
        with nothing_left(model):
            model(torch.ones(4, 2))
            raise ValueError
    except ValueError:
        pass
    assert model.num_batches_tracked == 0
    assert model.running_mean.tolist() == [0, 0]


def test_the_gradient_that_was_reached_first_backwards():
    model = net()
    layers = {name: list(model[int(name)].parameters()) for name in ("0", "2")}
    assert last_bad_gradient(layers) is None
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    assert last_bad_gradient(layers) is None
    model[0].bias.grad[0] = torch.nan
    assert last_bad_gradient(layers) == Place("gradient", "0")
    model[2].weight.grad[0, 0] = torch.inf
    assert last_bad_gradient(layers) == Place("gradient", "2")
