"""What the loss can say, before a step is taken: at first, at best, and of a constant.

    first_loss      of the network with its first weights
    constant_loss   the least loss of an output that is the same for all samples: log K for
                    balanced classes, ½·variance for ½·squares
    reachable_loss  the least loss if every sample had an output of its own choice, passed through
                    the network's last activation

A network begins near constant_loss, learns by going below it, and can go no lower than
reachable_loss. A softmax before a cross-entropy that has one in it cannot go below log(K − 1 + e) −
1; a sigmoid cannot say 2. A loss that falls without bound for outputs that grow has the wrong sign.

The last activation is the last layer if it has no parameters; otherwise it is read off the first
outputs, logarithms of shares or shares, and is a sigmoid where the loss takes nothing else than
numbers between 0 and 1. Both minima are found by 200 steps of Adam, ever shorter ones, on at most
128 samples.

    output_columns, output_size    numbers an output has, and their root mean square at first
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import nn

from thalweg.doctor.nets.facts.measured import Measured
from thalweg.doctor.nets.instruments.layers import layers_of
from thalweg.doctor.nets.instruments.origin import nothing_left

ROWS = 128
STEPS = 200

Criterion = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def loss_facts(
    model: nn.Module, criterion: Criterion, x: torch.Tensor, y: torch.Tensor
) -> Measured:
    """Of the first rows given; nothing is left changed."""
    x, y = x[:ROWS], y[:ROWS]
    with torch.no_grad(), nothing_left(model):
        output = model(x)
        if not isinstance(output, torch.Tensor) or not output.is_floating_point():
            return Measured()
        first = float(criterion(output, y))
    facts = Measured(first_loss=first, output_columns=float(output[0].numel()))
    if not torch.isfinite(output).all():
        return facts
    tail = last_activation(model, output, criterion, y)
    return facts | Measured(
        output_size=float(output.square().mean().sqrt()),
        constant_loss=least_loss(criterion, y, tail, output[:1]),
        reachable_loss=least_loss(criterion, y, tail, output),
    )


def last_activation(
    model: nn.Module, output: torch.Tensor, criterion: Criterion, y: torch.Tensor
) -> Callable[..., torch.Tensor]:
    """What outputs have passed through; the identity where nothing is known."""
    *_, last = layers_of(model).values()
    if not any(True for _ in last.parameters()):
        return last
    if output.ndim == 2 and output.shape[1] > 1:
        one = torch.ones(len(output), dtype=output.dtype, device=output.device)
        if torch.allclose(output.exp().sum(1), one, atol=1e-3):
            return nn.LogSoftmax(1)
        if bool((output >= 0).all()) and torch.allclose(output.sum(1), one, atol=1e-3):
            return nn.Softmax(1)
    try:
        criterion(torch.full_like(output, 2.0), y)
    except (RuntimeError, ValueError):
        return nn.Sigmoid()
    return nn.Identity()


def least_loss(
    criterion: Criterion,
    y: torch.Tensor,
    tail: Callable[[torch.Tensor], torch.Tensor],
    like: torch.Tensor,
) -> float:
    """min over free outputs a of the shape of `like`, repeated for all samples."""
    size = _size(y)
    a = torch.zeros_like(like).requires_grad_()
    optimizer = torch.optim.Adam([a], lr=0.1 * size)
    least = math.inf
    with torch.enable_grad():
        for step in range(STEPS):
            optimizer.param_groups[0]["lr"] = 0.1 * size * (1.0 - step / STEPS)
            value = criterion(tail(a).expand(len(y), *a.shape[1:]), y)
            if not torch.isfinite(value):
                break
            least = min(least, float(value.detach()))
            (a.grad,) = torch.autograd.grad(value, [a])
            optimizer.step()
    return least


def _size(y: torch.Tensor) -> float:
    """How large an output may have to be."""
    return max(1.0, float(y.abs().max())) if y.is_floating_point() else 1.0
