"""For the tests of optimizers: gradients recorded from two networks, fed to two optimizers."""

import copy
import functools

import torch
from sklearn.datasets import load_digits
from torch import nn

STEPS = 500


def mlp():
    """64-20-10."""
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 20), nn.Tanh(), nn.Linear(20, 10))


def conv_net():
    """One convolution, one linear layer."""
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10))


def digits():
    """Images float64[1797, 1, 8, 8], noisy so that no pixel is constant, and labels."""
    X, y = load_digits(return_X_y=True)
    X = torch.tensor(X / 16.0).reshape(-1, 1, 8, 8)
    noise = torch.randn(X.shape, generator=torch.Generator().manual_seed(0), dtype=X.dtype)
    return X + 0.1 * noise, torch.tensor(y)


@functools.cache
def recorded(make):
    """The network that `make` made, and its gradients over 500 batches under plain SGD."""
    X, y = digits()
    torch.manual_seed(0)
    model = make().double()
    first = copy.deepcopy(model)
    steps = torch.optim.SGD(model.parameters(), lr=0.05)
    gradients = []
    for _ in range(STEPS):
        rows = torch.randint(len(X), (16,))
        steps.zero_grad()
        nn.functional.cross_entropy(model(X[rows]), y[rows]).backward()
        gradients.append([p.grad.clone() for p in model.parameters()])
        steps.step()
    return first, gradients


def fed(make, optimizer, *, clip=None, steps=STEPS):
    """The weights after the recorded gradients went through `optimizer(parameters)`."""
    first, gradients = recorded(make)
    model = copy.deepcopy(first)
    chosen = optimizer(model.parameters())
    for step in gradients[:steps]:
        for parameter, gradient in zip(model.parameters(), step, strict=True):
            parameter.grad = gradient.clone()
        if clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        chosen.step()
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def distance(make, ours, theirs, options, *, clip=None, steps=STEPS):
    """‖own − other‖/‖other‖ after the recorded gradients, clipping theirs by torch's function."""
    recorded(make)  # in float32's default, as the networks are made
    torch.set_default_dtype(torch.float64)  # torch keeps Nadam's product of momenta in it
    try:
        own = fed(make, lambda p: ours(p, clip_norm=clip, **options), steps=steps)
        other = fed(make, lambda p: theirs(p, **options), clip=clip, steps=steps)
    finally:
        torch.set_default_dtype(torch.float32)
    return float((own - other).norm() / other.norm())


def one(value=2.0, gradient=3.0):
    """A weight with its gradient."""
    weight = nn.Parameter(torch.tensor([value], dtype=torch.float64))
    weight.grad = torch.tensor([gradient], dtype=torch.float64)
    return weight
