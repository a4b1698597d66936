import copy

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

import thalweg as tw

BatchNorm = tw.nets.BatchNorm


def sample(*shape, seed=0, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def lived(model, x):
    """A network whose norms have seen data and learnt something."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.affine:
                module.weight.copy_(torch.rand(module.num_features, generator=generator) + 0.5)
                module.bias.copy_(torch.randn(module.num_features, generator=generator))
        for _ in range(3):
            model.train()(x * 2 + 1)
    return model


LAYERS = [
    (nn.Linear(4, 6), (9, 4), 6),
    (nn.Linear(4, 6, bias=False), (9, 4), 6),
    (nn.Conv1d(4, 6, 3), (5, 4, 9), 6),
    (nn.Conv2d(4, 6, 3, padding=1, groups=2), (5, 4, 8, 8), 6),
    (nn.Conv2d(4, 6, 3, padding=1, padding_mode="circular", bias=False), (5, 4, 8, 8), 6),
    (nn.Conv3d(2, 4, 2), (2, 2, 4, 4, 4), 4),
    (nn.ConvTranspose1d(4, 6, 3, stride=2), (5, 4, 9), 6),
    (nn.ConvTranspose2d(4, 6, 3, stride=2, groups=2), (5, 4, 5, 5), 6),
    (nn.ConvTranspose2d(4, 6, 3, bias=False), (5, 4, 5, 5), 6),
    (nn.ConvTranspose3d(2, 4, 2, groups=2), (2, 2, 4, 4, 4), 4),
]


def test_by_hand():
    model = nn.Sequential(nn.Linear(1, 1), BatchNorm(1, eps=1.0))
    state = {
        "0.weight": [[2.0]], "0.bias": [5.0], "1.weight": [4.0], "1.bias": [7.0],
        "1.running_mean": [1.0], "1.running_var": [3.0],
    }  # fmt: skip
    model.load_state_dict(
        {name: torch.tensor(value) for name, value in state.items()}, strict=False
    )
    folded = tw.nets.fold(model)  # s = 4/√(3 + 1) = 2
    assert folded[0].weight.item() == pytest.approx(4.0)
    assert folded[0].bias.item() == pytest.approx(2 * (5 - 1) + 7)
    assert isinstance(folded[1], nn.Identity)


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize(("layer", "shape", "channels"), LAYERS, ids=str)
def test_every_layer_gives_the_same_outputs(layer, shape, channels, affine):
    x = sample(*shape)
    model = lived(nn.Sequential(copy.deepcopy(layer), BatchNorm(channels, affine=affine)), x)
    folded = tw.nets.fold(model, x)
    other = sample(*shape, seed=1)
    expected = model.eval()(other)
    assert not any(isinstance(m, BatchNorm) for m in folded.modules())
    assert (folded(other) - expected).abs().max() <= 1e-5 * max(1.0, expected.abs().max().item())
    assert folded.folding.folded == {"1": "0"}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_after_population_statistics_outputs_agree_to_1e_5(dtype):
    """Digits through a small network that was trained."""
    from sklearn.datasets import load_digits

    digits, labels = load_digits(return_X_y=True)
    X = torch.tensor(digits / 16.0, dtype=dtype).reshape(-1, 1, 8, 8)[:600]
    y = torch.tensor(labels)[:600]
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(),
        nn.Conv2d(8, 8, 3, stride=2), BatchNorm(8), nn.ReLU(),
        nn.Flatten(), nn.Linear(72, 32), BatchNorm(32), nn.ReLU(), nn.Dropout(0.3),
        nn.Linear(32, 10),
    ).to(dtype)  # fmt: skip
    tw.nets.initialize(model, "he")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for rows in torch.arange(600).split(50):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(X[rows]), y[rows]).backward()
        optimizer.step()
    running = model[8].running_var.clone()
    tw.nets.population_statistics(model, X, batch_size=60)
    assert not torch.allclose(model[8].running_var, running, rtol=0.05)
    folded = tw.nets.fold(model, X[:16])
    assert folded.folding.folded == {"1": "0", "4": "3", "8": "7"}
    with torch.no_grad():
        assert (folded(X) - model.eval()(X)).abs().max() < 1e-5
    if dtype == torch.float64:
        assert folded.folding.difference < 1e-13


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 3, 3, padding=1), BatchNorm(3)
        self.again, self.again_norm = nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3)

    def forward(self, x):
        h = torch.relu(self.norm(self.conv(x)))
        return x + self.again_norm(self.again(h))


def test_a_network_of_ones_own_class_keeps_it():
    x = sample(4, 3, 8, 8)
    model = lived(nn.Sequential(Residual(), Residual()), x)
    before = copy.deepcopy(model.state_dict())
    folded = tw.nets.fold(model, x)
    assert isinstance(folded[1], Residual)
    assert folded.folding.folded == {
        "0.norm": "0.conv",
        "0.again_norm": "0.again",
        "1.norm": "1.conv",
        "1.again_norm": "1.again",
    }
    assert torch.allclose(folded(x), model.eval()(x), atol=1e-5)
    assert all(torch.equal(model.state_dict()[name], before[name]) for name in before)
    assert not folded.training


def test_what_cannot_be_folded_stays_and_is_said():
    x = sample(9, 4)
    model = lived(nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 4), nn.ReLU(), BatchNorm(4)), x)
    folded = tw.nets.fold(model, x)
    assert folded.folding.folded == {}
    assert str(folded.folding).splitlines() == [
        "kept '0': before it comes the network's input, no Linear or convolution",
        "kept '3': before it comes ReLU, no Linear or convolution",
        "outputs differ by 0.0e+00 at most",
    ]
    assert isinstance(folded[3], BatchNorm)


def test_obstacles_of_the_pair():
    forgetful = BatchNorm(4, track_running_stats=False)
    cases = {
        "it keeps no statistics": (nn.Linear(4, 4), forgetful),
        "is parametrized": (parametrizations.weight_norm(nn.Linear(4, 4)), BatchNorm(4)),
    }
    for why, layers in cases.items():
        assert why in tw.nets.fold(nn.Sequential(*layers), sample(9, 4)).folding.kept["1"]
    rows = lived(nn.Sequential(nn.Linear(4, 4), BatchNorm(4)), sample(9, 4, 4))  # axis 1 is no unit
    kept = tw.nets.fold(rows, sample(9, 4, 4)).folding.kept
    assert kept == {"1": "its channels are not the units of the layer before it"}


def test_a_shared_weight_keeps_its_values_elsewhere():
    model = nn.Sequential(nn.Linear(4, 4), BatchNorm(4), nn.Linear(4, 4))
    model[2].weight = model[0].weight
    x = sample(9, 4)
    lived(model, x)
    folded = tw.nets.fold(model, x)
    assert folded.folding.folded == {"1": "0"}
    assert torch.allclose(folded(x), model.eval()(x), atol=1e-5)


def test_a_norm_under_two_names_goes_from_both():
    class Alias(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.norm = nn.Linear(4, 4), BatchNorm(4)
            self.alias = self.norm

        def forward(self, x):
            return self.alias(self.layer(x))

    x = sample(9, 4)
    folded = tw.nets.fold(lived(Alias(), x), x)
    assert isinstance(folded.norm, nn.Identity)
    assert isinstance(folded.alias, nn.Identity)


@pytest.mark.parametrize(
    "model",
    [
        nn.Sequential(nn.Linear(5, 3), BatchNorm(3)),
        nn.Sequential(nn.Conv2d(1, 2, 3), BatchNorm(2), nn.Flatten(), nn.Linear(2 * 26 * 26, 3)),
        nn.Sequential(nn.Conv1d(1, 2, 3), BatchNorm(2)),
    ],
)
def test_a_batch_is_made_where_the_first_layer_tells_its_size(model):
    assert tw.nets.fold(model).folding.folded == {"1": "0"}


def test_bad_input():
    odd = nn.Sequential(nn.Conv2d(1, 2, 3), BatchNorm(2), nn.Flatten(), nn.Linear(7, 3))
    with pytest.raises(tw.InputError, match="batch must be given, got None"):
        tw.nets.fold(odd)
    with pytest.raises(tw.InputError, match="tol must be above 0"):
        tw.nets.fold(odd, tol=0)
    with pytest.raises(tw.InputError, match=r"got torch\.bfloat16 in"):
        tw.nets.fold(odd.bfloat16())


def test_a_use_that_tracing_does_not_see_is_caught_by_the_comparison():
    class Peeks(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(4, 4), BatchNorm(4))

        def forward(self, x):
            extra = self.body[0](x) if x.sum() > -1e9 else 0.0  # cannot be traced
            return self.body(x) + extra

    x = sample(9, 4)
    with pytest.raises(tw.ThalwegError, match="folding must not change outputs by more than 1e-05"):
        tw.nets.fold(lived(Peeks(), x), x)


def test_outputs_of_any_nesting_are_compared():
    class Pair(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.norm = nn.Linear(4, 4), BatchNorm(4)

        def forward(self, x):
            h = self.norm(self.layer(x))
            return {"hidden": h, "answers": (h.argmax(1), [h * 2])}

    x = sample(9, 4)
    assert tw.nets.fold(lived(Pair(), x), x).folding.difference > 0.0
