"""Networks small enough for tests, and stand-ins for what `fit` takes by protocol."""

import copy
import functools

import torch
from torch import nn


@functools.cache
def digits(count=600):
    """x float32[count, 64] in [0, 1], y int64[count]."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return torch.tensor(X[:count] / 16.0, dtype=torch.float32), torch.tensor(y[:count])


def mlp(seed=0, hidden=16, dropout=0.0, inputs=64, outputs=10):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        parts = [nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, outputs)]
        if dropout:
            parts.insert(2, nn.Dropout(dropout))
        return nn.Sequential(*parts)


def weights(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()])


class Stopping:
    """Early stopping as `fit` knows it."""

    def __init__(self, patience=2, monitor="validation loss"):
        self.patience, self.monitor = patience, monitor
        self.best, self.best_epoch, self.waited, self.kept = float("inf"), 0, 0, None

    def update(self, value, model, epoch):
        value = -value if self.monitor.endswith("accuracy") else value
        if value < self.best:
            self.best, self.best_epoch, self.waited = value, epoch, 0
            self.kept = copy.deepcopy(dict(model.state_dict()))
        else:
            self.waited += 1
        return self.waited >= self.patience

    def restore(self, model):
        model.load_state_dict(self.kept)

    def state_dict(self):
        return {name: getattr(self, name) for name in ("best", "best_epoch", "waited", "kept")}

    def load_state_dict(self, state):
        for name, value in state.items():
            setattr(self, name, value)


class Jitter:
    """An augmentation with a generator of its own."""

    def __init__(self, size=0.05, seed=0):
        self.size, self.generator = size, torch.Generator().manual_seed(seed)

    def __call__(self, x):
        return x + self.size * torch.rand(x.shape, generator=self.generator)

    def state_dict(self):
        return {"generator": self.generator.get_state()}

    def load_state_dict(self, state):
        self.generator.set_state(state["generator"])


class Ridge:
    """(λ/2)‖w‖² as a regularizer, which notes what it is told."""

    def __init__(self, strength):
        self.strength, self.attached, self.told = strength, 0, []

    def attach(self, model):
        self.attached += 1

    def detach(self):
        self.attached -= 1

    def penalty(self, model, progress):
        return 0.5 * self.strength * sum((p**2).sum() for p in model.parameters())

    def after_step(self, model, progress, lr):
        self.told.append((progress, lr))
