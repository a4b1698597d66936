"""Can it fit sixteen samples? What cannot learn a handful by heart will not learn the rest.

    small_fit            loss of a copy of the network after 200 steps of its own optimizer on 16
                         samples, from 1 for no better than a constant to 0 for as low as can be
    small_fit_standard   the same with Adam at 0.003

    (loss − reachable_loss)/(constant_loss − reachable_loss) on the sixteen, cut to [0, 2]

If the second is small and the first is not, the optimizer's settings are at fault, and neither the
network nor its loss is. If both are large, it is one of these. Dropout is on: what it costs counts.

Left out where 200 steps would take more than ten seconds, going by the second step.
"""

from __future__ import annotations

import copy
import inspect
import math
import time
from typing import Any

import torch
from torch import nn

from thalweg.doctor.nets.facts.loss import Criterion, last_activation, least_loss
from thalweg.doctor.nets.facts.measured import Measured
from thalweg.doctor.nets.instruments.origin import nothing_left

SAMPLES = 16
STEPS = 200
STANDARD = 3e-3
LEAST = 10  # steps at the end whose median counts
SECONDS = 10.0


def small_fit(
    model: nn.Module,
    criterion: Criterion,
    x: torch.Tensor,
    y: torch.Tensor,
    optimizer: torch.optim.Optimizer | None,
) -> Measured:
    """Trains copies; nothing is left changed. Nothing where the model cannot be copied."""
    rows = _rows(y)
    x, y = x[rows], y[rows]
    try:
        with nothing_left(model), torch.no_grad():
            output = copy.deepcopy(model)(x)
        tail = last_activation(model, output, criterion, y)
        constant = least_loss(criterion, y, tail, output[:1])
        reachable = least_loss(criterion, y, tail, output)
    except (RuntimeError, ValueError, TypeError):
        return Measured()
    scale = constant - reachable
    if not (math.isfinite(scale) and scale > 0):
        return Measured()

    def share(value: float | None) -> float | None:
        if value is None or not math.isfinite(value):
            return None if value is None else 2.0
        return min(max((value - reachable) / scale, 0.0), 2.0)

    with nothing_left(model), torch.enable_grad():
        fresh = copy.deepcopy(model)
        own = None if optimizer is None else _same(optimizer, fresh)
        by_own = None if own is None else _train(fresh, own, criterion, x, y)
        fresh = copy.deepcopy(model)
        trained = [p for p in fresh.parameters() if p.requires_grad]
        adam = torch.optim.Adam(trained, lr=STANDARD)
        by_adam = _train(fresh, adam, criterion, x, y)
    return Measured(small_fit=share(by_own), small_fit_standard=share(by_adam))


def _train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    criterion: Criterion,
    x: torch.Tensor,
    y: torch.Tensor,
) -> float | None:
    """The loss after 200 steps, ∞ if it ended before; None if that would take too long."""
    values = []
    model.train()
    for step in range(STEPS):
        if step == 1:
            begun = time.perf_counter()
        elif step == 2 and STEPS * (time.perf_counter() - begun) > SECONDS:
            return None
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        values.append(float(loss.detach()))
        if not math.isfinite(values[-1]):
            return math.inf
        loss.backward()
        optimizer.step()
    return sorted(values[-LEAST:])[LEAST // 2]


def _same(optimizer: torch.optim.Optimizer, model: nn.Module) -> Any:
    """An optimizer of the same class and settings for a copy; None where it asks for more."""
    group = optimizer.param_groups[0]
    known = inspect.signature(type(optimizer)).parameters
    settings = {name: group[name] for name in optimizer.defaults if name in group and name in known}
    try:
        return type(optimizer)([p for p in model.parameters() if p.requires_grad], **settings)
    except (TypeError, ValueError):
        return None


def _rows(y: torch.Tensor) -> list[int]:
    """The first samples; of classes, as many of each as there are turns."""
    if y.is_floating_point() or y.ndim != 1:
        return list(range(min(SAMPLES, len(y))))
    by_class = [(y == c).nonzero()[:, 0].tolist() for c in y.unique()]
    turns = [rows[k] for k in range(SAMPLES) for rows in by_class if k < len(rows)]
    return turns[:SAMPLES]
