import copy

import pytest
import torch
from torch import nn

import thalweg as tw

BatchNorm = tw.nets.BatchNorm


def sample(*shape, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=dtype) * 2 + 1


def mlp(norm=BatchNorm):
    model = nn.Sequential(
        nn.Linear(4, 6), norm(6), nn.ReLU(), nn.Dropout(0.5),
        nn.Linear(6, 5), norm(5), nn.Tanh(), nn.Linear(5, 3), norm(3),
    ).double()  # fmt: skip
    tw.nets.initialize(model, "he", seed=1)
    return model


def conv_net():
    model = nn.Sequential(
        nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 3, 2), BatchNorm(3),
    ).double()  # fmt: skip
    tw.nets.initialize(model, "he", seed=1)
    return model


def brute_force(model, batches):
    """Algorithm 2 layer by layer, on activations that are kept whole; of a Sequential."""
    activations, found = list(batches), {}
    for name, layer in model.eval().named_children():
        if isinstance(layer, nn.modules.batchnorm._BatchNorm):
            means, variances = [], []
            for x in activations:
                values = x.transpose(0, 1).flatten(1)  # one row a channel
                m = values.shape[1]
                mean = values.sum(1) / m
                means.append(mean)
                variances.append(m / (m - 1) * ((values - mean[:, None]) ** 2).sum(1) / m)
            mean, variance = sum(means) / len(means), sum(variances) / len(variances)
            found[name] = mean, variance
            shape = [1, -1] + [1] * (activations[0].ndim - 2)
            scale = layer.weight / torch.sqrt(variance + layer.eps)
            activations = [
                (x - mean.view(shape)) * scale.view(shape) + layer.bias.view(shape)
                for x in activations
            ]
        else:
            activations = [layer(x) for x in activations]
    return found, activations


def test_by_hand():
    norm = nn.Sequential(BatchNorm(1, momentum=None))
    batches = [torch.tensor([[0.0], [2.0]]), torch.tensor([[5.0], [9.0]])]
    found = tw.nets.population_statistics(norm, batches)["0"]
    assert found.mean.item() == 4.0  # of 1 and 7
    assert found.variance.item() == 5.0  # twice the mean of 1 and 4
    assert found.batches == 2
    assert norm[0].running_mean.item() == 4.0
    assert norm[0].running_var.item() == 5.0
    assert norm[0].num_batches_tracked.item() == 2


@pytest.mark.parametrize("make", [mlp, lambda: mlp(nn.BatchNorm1d), conv_net])
@torch.no_grad()
def test_equals_the_definition_by_brute_force(make):
    model = make()
    shape = (10, 4) if isinstance(model[0], nn.Linear) else (10, 2, 6, 6)
    batches = [sample(*shape, seed=seed) for seed in range(4)]
    expected, outputs = brute_force(copy.deepcopy(model), batches)
    found = tw.nets.population_statistics(model, batches)
    assert found.keys() == expected.keys()
    for name, (mean, variance) in expected.items():
        norm = model.get_submodule(name)
        torch.testing.assert_close(found[name].mean, mean, rtol=1e-10, atol=1e-12)
        torch.testing.assert_close(norm.running_mean, mean, rtol=1e-10, atol=1e-12)
        torch.testing.assert_close(norm.running_var, variance, rtol=1e-10, atol=1e-12)
    for batch, output in zip(batches, outputs, strict=True):
        torch.testing.assert_close(model.eval()(batch), output, rtol=1e-9, atol=1e-10)


def test_norms_before_are_frozen_first():
    """Measured in one pass in training mode, later norms would see other inputs."""
    model, other = mlp(), mlp()
    batches = [sample(10, 4, seed=seed) for seed in range(4)]
    tw.nets.population_statistics(model, batches)
    for norm in (other[1], other[5], other[8]):
        norm.momentum = None
    other[3].p = 0.0
    for batch in batches:
        other.train()(batch)
    torch.testing.assert_close(model[1].running_var, other[1].running_var)
    assert not torch.allclose(model[5].running_var, other[5].running_var, rtol=1e-3)


def test_a_tensor_is_cut_into_batches_by_a_seed():
    X = sample(50, 4)
    first, second = mlp(), mlp()
    tw.nets.population_statistics(first, X, batch_size=10, seed=3)
    order = torch.randperm(50, generator=torch.Generator().manual_seed(3))
    tw.nets.population_statistics(second, [X[rows] for rows in order.split(10)])
    assert torch.equal(first[8].running_var, second[8].running_var)


def test_unequal_batches_count_by_their_size_and_single_rows_not_at_all():
    model = nn.Sequential(BatchNorm(2, dtype=torch.float64))
    X = sample(7, 2)
    found = tw.nets.population_statistics(model, [X[:4], X[4:6], X[6:]])["0"]
    torch.testing.assert_close(found.mean, X[:6].mean(0))
    torch.testing.assert_close(found.variance, (4 * X[:4].var(0) + 2 * X[4:6].var(0)) / 6)
    assert found.batches == 2


def test_a_norm_that_runs_twice_is_measured_over_both():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = BatchNorm(2, dtype=torch.float64)

        def forward(self, x):
            return self.norm(x) + self.norm(2.0 * x)

    model, X = Twice(), sample(8, 2)
    found = tw.nets.population_statistics(model, [X])["norm"]
    torch.testing.assert_close(found.mean, 1.5 * X.mean(0))
    torch.testing.assert_close(found.variance, 2.5 * X.var(0))


def test_order_is_that_of_running_not_of_registering():
    class Backwards(nn.Module):
        def __init__(self):
            super().__init__()
            self.second = BatchNorm(2, dtype=torch.float64)
            self.first = BatchNorm(2, dtype=torch.float64)
            self.unused = BatchNorm(2, dtype=torch.float64)

        def forward(self, x):
            return self.second(3.0 * self.first(x))

    model = Backwards()
    found = tw.nets.population_statistics(model, [sample(30, 2)])
    assert list(found) == ["first", "second"]
    torch.testing.assert_close(
        model.second.running_var, torch.full((2,), 9.0).double(), rtol=1e-4, atol=0.0
    )
    assert model.unused.num_batches_tracked.item() == 0


def test_modes_hooks_gradients_and_weights_are_left_as_they_were():
    model = mlp()
    model[5].eval()
    before = {name: p.clone() for name, p in model.named_parameters()}
    modes = [module.training for module in model.modules()]
    rng = torch.random.get_rng_state()
    tw.nets.population_statistics(model, sample(40, 4), batch_size=8)
    assert [module.training for module in model.modules()] == modes
    assert all(torch.equal(p, before[name]) for name, p in model.named_parameters())
    assert all(not module._forward_pre_hooks for module in model.modules())
    assert not model[1].running_mean.requires_grad
    assert torch.equal(torch.random.get_rng_state(), rng)


def bad_last(X):
    X = X.clone()
    X[-1, 2] = torch.nan
    return [X[:20], X[20:]]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (bad_last(sample(40, 4)), "got NaN or infinity in channel 0 at '1'"),
        ([sample(1, 4)], "batches of more than one value a channel, got none for '1'"),
        ([], "data must have at least one batch"),
    ],
)
def test_on_an_error_statistics_and_modes_are_restored(data, said):
    model = mlp()
    model(sample(10, 4))
    before = {name: b.clone() for name, b in model.named_buffers()}
    with pytest.raises(tw.InputError, match=said):
        tw.nets.population_statistics(model, data)
    assert all(torch.equal(b, before[name]) for name, b in model.named_buffers())
    assert all(module.training for module in model.modules())


def test_an_error_of_a_later_norm_restores_the_earlier():
    model = mlp()
    with torch.no_grad():
        model[4].weight[3] = torch.inf
    before = model[1].running_mean.clone()
    with pytest.raises(tw.InputError, match="in channel 3 at '5'"):
        tw.nets.population_statistics(model, sample(40, 4))
    assert torch.equal(model[1].running_mean, before)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (nn.Linear(4, 2), "model must have a batch norm, got none"),
        (BatchNorm(4, track_running_stats=False), "got '' with track_running_stats=False"),
    ],
)
def test_models_that_cannot_be_measured(model, said):
    with pytest.raises(tw.InputError, match=said):
        tw.nets.population_statistics(model, sample(10, 4))
