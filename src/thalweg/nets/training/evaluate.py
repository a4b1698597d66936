"""How good a network is on data: mean loss, and share of rows that it tells right.

In eval mode, without gradients, batch by batch; every layer's mode is put back as it was.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import nn

from thalweg.nets.training.batches import Batches, Stream, batches_of
from thalweg.nets.training.inputs import Inputs
from thalweg.nets.training.losses import Loss, loss_of
from thalweg.nets.training.world import mean_over_ranks

BATCH = 512  # rows: activations of a large network still fit into memory


class Score(NamedTuple):
    """A network on some data."""

    loss: float
    accuracy: float  # NaN where labels are no classes


NO_SCORE = Score(math.nan, math.nan)


@contextmanager
def modes_kept(model: nn.Module) -> Iterator[None]:
    """Put every module's training flag back at the end: some may be frozen on purpose."""
    flags = [(module, module.training) for module in model.modules()]
    try:
        yield
    finally:
        for module, flag in flags:
            module.training = flag


def evaluate(
    model: nn.Module, data: Any, loss: Any = "cross-entropy", *, batch_size: int = BATCH
) -> Score:
    """The mean loss of `model` on `data` and its accuracy, in eval mode.

    >>> from torch import nn, ones, tensor
    >>> model = nn.Linear(2, 2, bias=False)
    >>> _ = nn.init.eye_(model.weight)
    >>> evaluate(model, (tensor([[9.0, 0.0], [0.0, 9.0]]), tensor([0, 0]))).accuracy
    0.5
    """
    batches = batches_of(data, batch_size, shuffle=False)
    return score(model, batches, loss_of(loss), Inputs(model))


@torch.no_grad()
def score(model: nn.Module, batches: Batches | Stream, loss: Loss, inputs: Inputs) -> Score:
    """The same for batches that are ready."""
    total, hits, rows, knows_hits = 0.0, 0.0, 0, True
    with modes_kept(model):
        model.eval()
        for batch in batches.epoch():
            x, y = inputs(batch.x), inputs.labels(batch.y, loss)
            output = inputs.run(model, x)
            if rows == 0 or isinstance(batches, Stream):
                loss.check(output, y, batches.name, rows)
            total += len(x) * float(loss(output, y))
            right = loss.hits(output, y)
            knows_hits = knows_hits and right is not None
            hits += 0.0 if right is None else float(right)
            rows += len(x)
    total, hits, seen = mean_over_ranks(total, hits, float(rows), device=inputs.like.device)
    return Score(total / seen, hits / seen if knows_hits else math.nan)
