"""KL-sparsity: by hand, against autograd of the explicit penalty, reaching its target."""

import copy
import gc
import math
import weakref

import pytest
import torch
from torch import nn

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.nets.regularizers.kl_sparsity import EPSILON, divergence

SQUASHED = {
    nn.Sigmoid: lambda a: a,
    nn.Tanh: lambda a: (1 + a) / 2,
    nn.ReLU: lambda a: a / (1 + a),
}


def explicit(activations, kind, rho, strength):
    """The definition, for autograd; all axes but the second are places."""
    places = tuple(axis for axis in range(activations.ndim) if axis != 1)
    mean = SQUASHED[kind](activations).mean(places)
    each = rho * torch.log(rho / mean) + (1 - rho) * torch.log((1 - rho) / (1 - mean))
    return strength * each.sum()


def gradients(model):
    return [p.grad.clone() for p in model.parameters()]


def test_the_divergence_by_hand():
    value = float(divergence(0.25, torch.tensor(0.5, dtype=torch.float64)))
    assert value == pytest.approx(0.25 * math.log(0.5) + 0.75 * math.log(1.5))
    assert float(divergence(0.3, torch.tensor(0.3))) == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", SQUASHED)
@pytest.mark.parametrize("is_convolution", [False, True])
def test_gradients_equal_autograd_of_the_explicit_penalty(kind, is_convolution, dtype):
    torch.manual_seed(0)
    if is_convolution:
        body, X = nn.Conv2d(2, 5, 3), torch.randn(6, 2, 7, 7)
        head = nn.Sequential(nn.Flatten(), nn.Linear(125, 3))
    else:
        body, X, head = nn.Linear(4, 5), torch.randn(6, 4), nn.Linear(5, 3)
    model, X = nn.Sequential(body, kind(), head).to(dtype), X.to(dtype)
    regularizer = tw.nets.KLSparsity(0.1, strength=0.7)
    regularizer.attach(model)
    loss = model(X).square().mean()
    loss.backward()
    ours, value = gradients(model), regularizer.value
    model.zero_grad()
    (model(X).square().mean() + regularizer.penalty(model, 0.0)).backward()
    in_loss = gradients(model)
    regularizer.detach()

    model.zero_grad()
    a = model[1](model[0](X))
    penalty = explicit(a, kind, 0.1, 0.7)
    (model[2](a).square().mean() + penalty).backward()
    for on_the_way, added, theirs in zip(ours, in_loss, gradients(model), strict=True):
        torch.testing.assert_close(on_the_way, theirs)
        torch.testing.assert_close(added, theirs)
    torch.testing.assert_close(value, penalty.detach())
    assert not value.requires_grad


def test_detached_it_leaves_no_trace():
    torch.manual_seed(0)
    model, X = nn.Sequential(nn.Linear(4, 5), nn.Sigmoid()), torch.randn(6, 4)
    model(X).sum().backward()
    plain = gradients(model)
    regularizer = tw.nets.KLSparsity(strength=1.0)
    for attached in (True, False):
        regularizer.attach(model)
        if not attached:
            regularizer.detach()
        model.zero_grad()
        model(X).sum().backward()
        same = all(map(torch.equal, plain, gradients(model)))
        assert same is not attached
    assert not model._forward_pre_hooks
    assert not model[1]._forward_hooks


def test_a_model_can_be_copied_while_it_is_attached():
    model, X = nn.Sequential(nn.Linear(4, 5), nn.Sigmoid()), torch.ones(6, 4)
    tw.nets.KLSparsity().attach(model)
    out = model(X)
    assert torch.equal(copy.deepcopy(model)(X), out)


def test_attaching_twice_counts_once():
    torch.manual_seed(0)
    model, X = nn.Sequential(nn.Linear(4, 5), nn.Sigmoid()).double(), torch.randn(6, 4).double()
    regularizer = tw.nets.KLSparsity(0.1, strength=1.0)
    regularizer.attach(model)
    regularizer.attach(model)
    expected = explicit(model(X), nn.Sigmoid, 0.1, 1.0)
    torch.testing.assert_close(regularizer.penalty(model, 0.0), expected)


def test_in_the_loss_it_is_scaled_with_it_and_seen_by_second_derivatives():
    torch.manual_seed(0)
    model, X = nn.Sequential(nn.Linear(4, 5), nn.Sigmoid()).double(), torch.randn(6, 4).double()
    weight = model[0].weight
    regularizer = tw.nets.KLSparsity(0.1, strength=1.0)
    regularizer.attach(model)
    found = []
    for penalty in (
        lambda a: regularizer.penalty(model, 0.0),
        lambda a: explicit(a, nn.Sigmoid, 0.1, 1.0),
    ):
        a = model(X)
        loss = a.square().mean() + penalty(a)
        (gradient,) = torch.autograd.grad(1000 * loss, weight, create_graph=True)
        regularizer.detach()
        found.append((gradient.detach(), torch.autograd.grad(gradient.sum(), weight)[0]))
    for own, theirs in zip(*found, strict=True):
        torch.testing.assert_close(own, theirs)


def test_two_batches_in_flight_keep_apart():
    # The first is in the loss, the second is not: each has its gradient once.
    torch.manual_seed(0)
    model, X = nn.Sequential(nn.Linear(4, 5), nn.Sigmoid()).double(), torch.randn(6, 4).double()
    regularizer = tw.nets.KLSparsity(0.1, strength=1.0)
    regularizer.attach(model)
    first = model(X).sum() + regularizer.penalty(model, 0.0)
    second = model(X).sum()
    (first + second).backward()
    both = model[0].weight.grad.clone()
    model.zero_grad()
    model(X).sum().backward()
    torch.testing.assert_close(both, 2 * model[0].weight.grad)


@pytest.mark.parametrize("in_loss", [False, True])
def test_batches_are_let_go(in_loss):
    model = nn.Sequential(nn.Linear(3, 4), nn.Sigmoid(), nn.Linear(4, 1))
    sparsity = tw.nets.KLSparsity()
    sparsity.attach(model)
    seen = []
    model[1].register_forward_hook(lambda module, inputs, a: seen.append(weakref.ref(a)))
    for _ in range(3):
        loss = model(torch.ones(2, 3)).sum()
        (loss + sparsity.penalty(model, 0.0) if in_loss else loss).backward()
    gc.collect()
    assert [a() for a in seen] == [None, None, None]


def test_inference_is_not_penalised():
    model, X = nn.Sequential(nn.Linear(4, 5), nn.Sigmoid()), torch.randn(6, 4)
    regularizer = tw.nets.KLSparsity(strength=1.0)
    regularizer.attach(model)
    model.eval()(X)
    with torch.no_grad():
        model.train()(X)
    assert regularizer.penalty(model, 0.0) == regularizer.value == 0.0
    assert regularizer.activations == {}


@pytest.mark.parametrize("in_loss", [False, True])
def test_the_strength_is_that_of_the_progress_that_training_told_last(in_loss):
    torch.manual_seed(0)
    model, X = nn.Sequential(nn.Linear(4, 5), nn.Sigmoid()).double(), torch.randn(6, 4).double()
    regularizer = tw.nets.KLSparsity(0.1, 1.0, tw.nets.TowardsEnd(0.5))
    regularizer.attach(model)
    found = []
    for progress in (0.0, 0.4, 0.6):
        model.zero_grad()
        loss = 0.0 * model(X).sum()
        if in_loss:
            loss = loss + regularizer.penalty(model, progress)
        else:
            regularizer.after_step(model, progress, 0.1)
        loss.backward()
        found.append(float(model[0].weight.grad.abs().sum()))
    assert found[:2] == [0.0, 0.0]
    assert found[2] > 0.0


def test_a_module_that_is_used_twice_is_counted_twice():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two, self.act = nn.Linear(4, 5), nn.Linear(5, 3), nn.Sigmoid()

        def forward(self, x):
            return self.act(self.two(self.act(self.one(x))))

    torch.manual_seed(0)
    model, X = Twice().double(), torch.randn(6, 4).double()
    regularizer = tw.nets.KLSparsity(0.1, 1.0)
    regularizer.attach(model)
    for _ in range(2):  # and a second batch does not add to the first
        out = model(X)
        inner = torch.sigmoid(model.one(X))
        expected = explicit(inner, nn.Sigmoid, 0.1, 1.0) + explicit(out, nn.Sigmoid, 0.1, 1.0)
        torch.testing.assert_close(regularizer.penalty(model, 0.0), expected)


def test_an_activation_in_place_is_the_same():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 1)).double()
    X, found = torch.randn(6, 4).double(), []
    for inplace in (False, True):
        model[1] = nn.ReLU(inplace)
        tw.nets.KLSparsity(0.1, 1.0).attach(model)
        model.zero_grad()
        model(X).sum().backward()
        found.append(gradients(model))
    for first, second in zip(*found, strict=True):
        torch.testing.assert_close(first, second)


@pytest.mark.parametrize("value", [-100.0, 100.0])
@pytest.mark.parametrize("in_loss", [False, True])
def test_saturated_units_give_finite_gradients(value, in_loss):
    model = nn.Sequential(nn.Linear(4, 5), nn.Sigmoid())
    nn.init.constant_(model[0].bias, value)
    regularizer = tw.nets.KLSparsity(strength=1.0)
    regularizer.attach(model)
    loss = model(torch.ones(6, 4)).sum()
    (loss + regularizer.penalty(model, 0.0) if in_loss else loss).backward()
    assert math.isfinite(regularizer.value)
    assert all(g.isfinite().all() for g in gradients(model))
    kept = regularizer.activations["1"]
    assert float(kept.min()) >= 0.99 * EPSILON
    assert float(kept.max()) < 1.0


def test_the_mean_activation_reaches_its_target():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 20), nn.Sigmoid(), nn.Linear(20, 10))
    X = torch.randn(200, 10)
    regularizer = tw.nets.KLSparsity(0.05, strength=5.0)
    regularizer.attach(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for step in range(400):
        optimizer.zero_grad()
        (model(X) - X).square().mean().backward()
        optimizer.step()
        if step == 0:
            assert float(regularizer.activations["1"].mean()) > 0.3
    assert regularizer.activations["1"].tolist() == pytest.approx([0.05] * 20, abs=0.02)


def test_modules_by_name_or_themselves():
    model = nn.Sequential(nn.Linear(4, 5), nn.Sigmoid(), nn.Linear(5, 3), nn.Tanh())
    for chosen in (["3"], [model[3]]):
        regularizer = tw.nets.KLSparsity(modules=chosen)
        regularizer.attach(model)
        model(torch.randn(6, 4))
        regularizer.detach()
        assert list(regularizer.activations) == ["3"]


@pytest.mark.parametrize(
    ("modules", "sentence"),
    [
        (None, "model must have Sigmoid, Tanh or ReLU modules to hold, got Sequential with none"),
        (["hidden"], "modules must be part of the model, got 'hidden': Known: 0, 1"),
        ([nn.ReLU()], r"modules must be part of the model, got ReLU\(\)"),
        (["1"], "modules must be Sigmoid, Tanh or ReLU, whose range is known, got GELU at '1'"),
    ],
)
def test_modules_that_cannot_be_held(modules, sentence):
    model = nn.Sequential(nn.Linear(4, 5), nn.GELU())
    with pytest.raises(InputError, match=sentence):
        tw.nets.KLSparsity(modules=modules).attach(model)
    assert not model._forward_pre_hooks


def test_activations_without_units():
    model = nn.Sequential(nn.Flatten(0), nn.Linear(4, 1), nn.Sigmoid())
    tw.nets.KLSparsity().attach(model)
    with pytest.raises(InputError, match=r"activations must be \[samples, units, …\], got shape"):
        model(torch.ones(2, 2))


@pytest.mark.parametrize("target", [0.0, 1.0, -0.1])
def test_a_target_that_is_no_share(target):
    with pytest.raises(InputError, match=r"target must be in \(0, 1\), got"):
        tw.nets.KLSparsity(target)
