"""What the network was given: range, mean and spread of the first batch, columns that never change.

A batch [rows, …] is read as rows × columns. A column with one value on the whole batch tells the
network nothing; of a batch of one sample nothing can be said about that. Words (integers) have
a range as well. Cost: one pass over one batch, once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch

NOTHING = {
    f"input_{name}": math.nan
    for name in ("rows", "columns", "min", "max", "mean", "std", "not_finite", "constant")
}


def first_batch(tensors: Iterable[Any]) -> dict[str, float] | None:
    """Of the first tensor of real numbers among `tensors`; None if there is none."""
    for x in tensors:
        if isinstance(x, torch.Tensor) and x.numel() and not x.is_complex() and not x.is_nested:
            return _describe(x.detach())
    return None


def _describe(x: torch.Tensor) -> dict[str, float]:
    if not x.is_floating_point() or x.dtype in (torch.float16, torch.bfloat16):
        x = x.float()
    rows = x.reshape(len(x), -1) if x.ndim else x.reshape(1, 1)
    low, high = rows.aminmax(dim=0)
    std, mean = torch.std_mean(rows, correction=0)
    numbers = torch.stack([low.min(), high.max(), mean, std]).tolist()
    constant = float((low == high).sum()) if len(rows) > 1 else math.nan
    bad = float((~torch.isfinite(rows)).sum())
    values = (float(len(rows)), float(rows.shape[1]), *numbers, bad, constant)
    return dict(zip(NOTHING, values, strict=True))
