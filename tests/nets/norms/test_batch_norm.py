import copy

import pytest
import torch
from torch import nn

import thalweg as tw

SHAPES = {2: (8, 3), 3: (4, 3, 5), 4: (4, 3, 2, 5), 5: (2, 3, 2, 2, 3)}
THEIRS = {2: nn.BatchNorm1d, 3: nn.BatchNorm1d, 4: nn.BatchNorm2d, 5: nn.BatchNorm3d}


def sample(axes, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(SHAPES[axes], generator=generator, dtype=dtype) * 3 + 1


def learnt(norm):
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([0.5, 2.0, -1.0]))
        norm.bias.copy_(torch.tensor([1.0, 0.0, 3.0]))
    return norm


def algorithm_1(x, gamma, beta, eps):
    """The paper's, channel by channel."""
    y = torch.empty_like(x)
    for k in range(x.shape[1]):
        values = x[:, k]
        mean = values.sum() / values.numel()
        variance = ((values - mean) ** 2).sum() / values.numel()
        y[:, k] = gamma[k] * (values - mean) / torch.sqrt(variance + eps) + beta[k]
    return y


def test_by_hand():
    norm = tw.nets.BatchNorm(1, eps=0.25)
    y = norm(torch.tensor([[1.0], [4.0]]))  # μ = 2.5, σ² = 2.25, √(σ² + ε) = √2.5
    torch.testing.assert_close(y, torch.tensor([[-1.5], [1.5]]) / 2.5**0.5)
    assert norm.running_mean.item() == pytest.approx(0.25)
    assert norm.running_var.item() == pytest.approx(0.9 + 0.1 * 4.5)


@pytest.mark.parametrize("axes", SHAPES)
def test_equals_the_definition(axes):
    x = sample(axes)
    norm = learnt(tw.nets.BatchNorm(3, dtype=torch.float64))
    expected = algorithm_1(x, norm.weight.detach(), norm.bias.detach(), norm.eps)
    torch.testing.assert_close(norm(x).detach(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("momentum", [0.1, 0.7, None])
@pytest.mark.parametrize("axes", SHAPES)
def test_equals_torch_in_both_modes_with_gradients_and_averages(axes, momentum, dtype):
    ours = learnt(tw.nets.BatchNorm(3, momentum=momentum, dtype=dtype))
    theirs = learnt(THEIRS[axes](3, momentum=momentum, dtype=dtype))
    for step in range(6):
        if step == 4:
            ours.eval()
            theirs.eval()
        sides = []
        for norm in (ours, theirs):
            x = sample(axes, dtype, seed=step).requires_grad_()
            norm.zero_grad()
            y = norm(x)
            (y**3).sum().backward()
            sides.append((y, x.grad, norm.weight.grad, norm.bias.grad))
        for mine, other in zip(*sides, strict=True):
            torch.testing.assert_close(mine, other, rtol=1e-6, atol=1e-6)
        for name, buffer in theirs.named_buffers():
            torch.testing.assert_close(getattr(ours, name), buffer, rtol=1e-6, atol=1e-6)


def test_cumulative_averages_are_plain_means_over_batches():
    norm = tw.nets.BatchNorm(3, momentum=None, dtype=torch.float64)
    batches = [sample(2, seed=seed) for seed in range(5)]
    for batch in batches:
        norm(batch)
    means = torch.stack([batch.mean(0) for batch in batches])
    variances = torch.stack([batch.var(0) for batch in batches])  # m/(m − 1)·σ_B²
    torch.testing.assert_close(norm.running_mean, means.mean(0))
    torch.testing.assert_close(norm.running_var, variances.mean(0))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("axes", [2, 3, 4])
def test_gradient_goes_through_the_statistics(axes, training):
    norm = learnt(tw.nets.BatchNorm(3, momentum=0.0, dtype=torch.float64)).train(training)
    x = sample(axes).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x, g, b: torch.func.functional_call(norm, {"weight": g, "bias": b}, (x,)),
        (x, norm.weight, norm.bias),
    )


def test_gamma_and_beta_can_give_the_identity_back():
    x = sample(4)
    norm = tw.nets.BatchNorm(3, dtype=torch.float64)
    with torch.no_grad():
        norm.weight.copy_(torch.sqrt(x.var((0, 2, 3), correction=0) + norm.eps))
        norm.bias.copy_(x.mean((0, 2, 3)))
    torch.testing.assert_close(norm(x).detach(), x)


@pytest.mark.parametrize("axes", SHAPES)
def test_state_goes_to_torch_and_back(axes):
    ours = learnt(tw.nets.BatchNorm(3))
    ours(sample(axes, torch.float32))
    theirs = THEIRS[axes](3)
    theirs.load_state_dict(ours.state_dict())
    again = tw.nets.BatchNorm(3)
    again.load_state_dict(theirs.state_dict())
    x = sample(axes, torch.float32, seed=1)
    assert torch.equal(again.eval()(x), ours.eval()(x))
    assert torch.equal(theirs.eval()(x), ours(x))


def test_non_contiguous_input_and_copies():
    x = sample(4).transpose(2, 3)
    norm = learnt(tw.nets.BatchNorm(3, dtype=torch.float64))
    assert torch.allclose(copy.deepcopy(norm)(x), norm(x.contiguous()))


def test_is_a_norm_to_the_optimizers():
    model = nn.Sequential(nn.Linear(3, 3), tw.nets.BatchNorm(3))
    decayed, kept_out = tw.nets.no_decay_groups(model)
    assert len(decayed["params"]) == 1
    assert len(kept_out["params"]) == 3


@pytest.mark.parametrize("shape", [(1, 3), (1, 3, 1), (1, 3, 1, 1)])
def test_training_needs_more_than_one_value_a_channel(shape):
    norm = tw.nets.BatchNorm(3)
    with pytest.raises(tw.InputError, match="more than 1 values a channel in training, got shape"):
        norm(torch.ones(shape))
    assert norm.num_batches_tracked.item() == 0
    assert norm.eval()(torch.ones(shape)).shape == shape
    without = tw.nets.BatchNorm(3, track_running_stats=False).eval()
    with pytest.raises(tw.InputError, match="more than 1 values a channel here"):
        without(torch.ones(shape))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: tw.nets.BatchNorm(3)(torch.ones(3)), r"input must have shape \[N, 3\]"),
        (lambda: tw.nets.BatchNorm(3)(torch.ones(5, 4)), r"or \[N, 3, …\], got \(5, 4\)"),
        (lambda: tw.nets.BatchNorm(3).eval()(torch.ones(0, 3)), "the batch is empty"),
        (lambda: tw.nets.BatchNorm(0), "num_features must be a whole number, at least 1, got 0"),
        (lambda: tw.nets.BatchNorm(3, eps=0.0), "eps must be above 0, got 0.0"),
        (lambda: tw.nets.BatchNorm(3, momentum=2), r"momentum must be in \[0, 1\], got 2.0"),
    ],
)
def test_bad_input(call, said):
    with pytest.raises(tw.InputError, match=said):
        call()
