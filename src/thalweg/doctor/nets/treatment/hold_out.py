"""Rows held out for validation, of each class its share.

One row of five is held out. For classes, the rows of each are drawn apart, so that a rare class is
in both parts if it has two rows or more; for quantities all rows are drawn together.
"""

from __future__ import annotations

import torch

from thalweg.core.errors import InputError
from thalweg.nets.training.batches import Pair

SHARE = 0.2


def hold_out(data: Pair, *, classes: bool, seed: int, share: float = SHARE) -> tuple[Pair, Pair]:
    """Two pairs, training and validation, each with its rows in their old order."""
    x, y = data
    generator = torch.Generator().manual_seed(seed)
    labels = y.reshape(len(y), -1)[:, 0].cpu() if classes and y.ndim == 1 else torch.zeros(len(y))
    held = torch.zeros(len(y), dtype=torch.bool)
    for label in labels.unique():
        rows = (labels == label).nonzero()[:, 0]
        count = min(max(1, round(share * len(rows))), len(rows) - 1)
        held[rows[torch.randperm(len(rows), generator=generator)[:count]]] = True
    if not held.any():
        raise InputError(
            f"data must have rows to hold out, got {len(y)}: give more, or give validation=(x, y)"
        )
    held = held.to(x.device)
    return (x[~held], y[~held]), (x[held], y[held])
