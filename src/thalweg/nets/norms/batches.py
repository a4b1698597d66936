"""Inputs of a network, batch by batch, as often as asked.

From a tensor or an array, or a tuple (inputs, targets), rows are taken in an order that is drawn
once, by a seed: sorted by class, batches would vary too little within and too much between. A
loader or a list gives its own batches, each inputs or a tuple that begins with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch

from thalweg.core.checks import check_count, describe
from thalweg.core.errors import InputError


class Batches:
    """Inputs on the device and in the floating-point type of `like`; goes through data anew."""

    def __init__(self, data: Any, batch_size: int, seed: int, like: torch.Tensor) -> None:
        check_count("batch_size", batch_size, at_least=2)
        self.like = like
        if isinstance(data, tuple) and data:
            data = data[0]
        if isinstance(data, np.ndarray):
            data = torch.from_numpy(np.ascontiguousarray(data))
        self.data = data
        self.rows: tuple[torch.Tensor, ...] | None = None  # of a tensor, by batch
        if isinstance(data, torch.Tensor):
            if data.ndim == 0 or len(data) == 0:
                raise InputError(f"data must have at least one sample, got {tuple(data.shape)}")
            order = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))
            self.rows = order.to(data.device).split(batch_size)
        elif not isinstance(data, Iterable) or isinstance(data, Iterator):
            raise InputError(
                "data must be a tensor, an array, or batches that can be gone through again, got "
                f"{describe(data)}: pass a list or a DataLoader"
            )

    def __iter__(self) -> Iterator[torch.Tensor]:
        is_empty = True
        for batch in self.data if self.rows is None else (self.data[rows] for rows in self.rows):
            is_empty = False
            inputs = batch[0] if isinstance(batch, tuple | list) else batch
            dtype = self.like.dtype if inputs.is_floating_point() else inputs.dtype
            yield inputs.to(self.like.device, dtype)
        if is_empty:
            raise InputError("data must have at least one batch, got none")
