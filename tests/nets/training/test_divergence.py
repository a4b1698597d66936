import torch
from torch import nn

from thalweg.nets.training.divergence import first_bad_parameter, is_finite, origin


class Log(nn.Module):
    def forward(self, x):
        return torch.log(x)


def net():
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))
    for p in model.parameters():
        nn.init.constant_(p, 1.0)
    return model


def test_the_layer_whose_weights_are_not_finite():
    model = net()
    model[2].bias.data[1] = torch.inf
    found = origin(model, torch.ones(4, 2))
    assert found.layer == "2"
    assert "layer '2' (Linear(in_features=3" in found.cause
    assert found.cause.endswith("its bias no longer is")
    assert first_bad_parameter(model) == "2.bias"


def test_the_first_of_several():
    model = net()
    model[0].weight.data[0, 0] = torch.nan
    model[2].weight.data[0, 0] = torch.nan
    assert origin(model, torch.ones(4, 2)).layer == "0"


def test_a_layer_that_overflows_tells_its_largest_weight():
    model = net()
    model[0].weight.data.fill_(3e38)
    found = origin(model, torch.ones(4, 2))
    assert found.layer == "0"
    assert "its largest weight is 3e+38" in found.cause


def test_a_layer_without_weights_inside_another_module():
    model = nn.Sequential(net(), nn.Sequential(nn.ReLU(), Log()))
    model[0][2].weight.data.fill_(-1.0)
    assert origin(model, torch.ones(4, 2)).layer == "1.1"


def test_inputs_and_losses_are_named_as_well():
    assert "samples" in origin(net(), torch.full((1, 2), torch.nan)).cause
    found = origin(net(), torch.ones(1, 2))
    assert found.layer == ""
    assert "the loss of them is not" in found.cause
    assert first_bad_parameter(net()) is None


def test_nothing_is_left_on_the_model_and_the_generator_is_as_before():
    model = nn.Sequential(net(), nn.Dropout(0.5))
    state = torch.random.get_rng_state()
    origin(model, torch.ones(4, 2))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not any(module._forward_hooks for module in model.modules())


def test_large_numbers_whose_sum_overflows_are_finite():
    assert is_finite(torch.full((4,), 3e38))
    assert not is_finite(torch.tensor([1.0, torch.inf]))
    assert is_finite(torch.tensor([1, 2]))
