"""Max-norm: by hand, the right axis of every layer, always inside the ball."""

import pytest
import torch
from torch import nn

import thalweg as tw
from thalweg.core.errors import InputError

LAYERS = {
    "linear": (lambda: nn.Linear(7, 5), lambda w: w),
    "conv1d": (lambda: nn.Conv1d(4, 6, 3, groups=2), lambda w: w.flatten(1)),
    "conv2d": (lambda: nn.Conv2d(3, 5, 3), lambda w: w.flatten(1)),
    "transposed": (lambda: nn.ConvTranspose2d(4, 6, 3), lambda w: w.transpose(0, 1).flatten(1)),
    "transposed, groups": (
        lambda: nn.ConvTranspose1d(4, 6, 3, groups=2),
        # Inputs 0 and 1 feed outputs 0 to 2, inputs 2 and 3 the others.
        lambda w: torch.stack(
            [w[2 * g : 2 * g + 2, o].flatten() for g in (0, 1) for o in range(3)]
        ),
    ),
    "channels last": (
        lambda: nn.Conv2d(3, 5, 3).to(memory_format=torch.channels_last),
        lambda w: w.flatten(1),
    ),
}


def test_by_hand():
    model = nn.Linear(2, 2).double()
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[3.0, 4.0], [0.3, 0.4]]))
        model.bias.fill_(9.0)
    tw.nets.MaxNorm(1.0).after_step(model, 0.0, 0.1)
    assert model.weight.flatten().tolist() == pytest.approx([0.6, 0.8, 0.3, 0.4])
    assert model.bias.tolist() == [9.0, 9.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", LAYERS)
def test_every_unit_is_projected_and_no_other(name, dtype):
    torch.manual_seed(0)
    make, units = LAYERS[name]
    layer = make().to(dtype)
    with torch.no_grad():
        layer.weight.mul_(torch.rand(()) + 1)
    before = units(layer.weight.detach()).clone()
    c = float(before.norm(dim=1).median())
    tw.nets.MaxNorm(c).after_step(layer, 0.0, 0.1)
    after = units(layer.weight.detach())
    norms = before.norm(dim=1, keepdim=True)
    torch.testing.assert_close(after, before * (c / norms).clamp(max=1.0))
    inside = norms[:, 0] < c
    assert torch.equal(after[inside], before[inside])
    assert 0 < int(inside.sum()) < len(inside)


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.Adam])
def test_holds_after_every_step_of_any_optimizer(optimizer):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.ReLU(), nn.Linear(144, 10))
    X, y = torch.randn(20, 1, 8, 8), torch.randint(0, 10, (20,))
    steps, limit = optimizer(model.parameters(), lr=0.5), tw.nets.MaxNorm(0.7)
    grew = 0
    for _ in range(30):
        steps.zero_grad()
        nn.functional.cross_entropy(model(X), y).backward()
        steps.step()
        grew += model[3].weight.norm(dim=1).max().item() > 0.7
        limit.after_step(model, 0.0, 0.5)
        for layer in (model[0], model[3]):
            assert layer.weight.double().flatten(1).norm(dim=1).max().item() <= 0.7 * (1 + 1e-6)
    assert grew > 10


def test_a_schedule_closes_the_ball():
    limit, norms = tw.nets.MaxNorm(1.0, "linear"), []
    for progress in (0.0, 0.5, 1.0):
        model = nn.Linear(4, 1)
        nn.init.constant_(model.weight, 4.0)
        limit.after_step(model, progress, 0.1)
        norms.append(model.weight.norm().item())
    assert norms == pytest.approx([8.0, 2.0, 1.0])


def test_frozen_weights_stay():
    model = nn.Linear(4, 1)
    nn.init.constant_(model.weight, 4.0)
    model.weight.requires_grad_(False)
    tw.nets.MaxNorm(1.0).after_step(model, 0.0, 0.1)
    assert model.weight.norm().item() == 8.0


def test_a_radius_that_is_none():
    with pytest.raises(InputError, match=r"radius must be above 0, got 0.0"):
        tw.nets.MaxNorm(0.0)
