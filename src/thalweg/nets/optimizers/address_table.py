"""A table of addresses: many tensors, one compiled call.

What a kernel of `kernels.tensors` is told of the tensors that it steps: the places of every
weight, gradient and buffer, cut into pieces that stay in cache. Building it takes a look at every
tensor; from one step to the next only gradients move, and `run` writes their addresses anew. The
table keeps the tensors that it points to alive.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from thalweg.kernels import tensors as kernels
from thalweg.kernels.jobs import Job, address_of
from thalweg.nets.optimizers import team
from thalweg.nets.optimizers.units import Units

DTYPES: dict[torch.dtype, Any] = {torch.float32: np.float32, torch.float64: np.float64}


class Tensors(NamedTuple):
    """What one parameter brings to a table."""

    weight: torch.Tensor
    buffers: tuple[torch.Tensor, ...]
    units: Units | None  # what max-norm acts on; None where there is none


class AddressTable:
    """Parameters of one float type that one kernel steps together."""

    def __init__(self, members: Sequence[Tensors]) -> None:
        self.members = list(members)
        self.like: np.ndarray = np.empty(0, DTYPES[members[0].weight.dtype])
        pieces = [_pieces(member.weight.numel(), member.units) for member in members]
        self.owner = np.repeat(np.arange(len(members)), [len(part) for part in pieces])
        shape = np.concatenate(pieces)  # begin, size, units, count, length, stride
        self.offset = shape[:, 0] * self.like.itemsize
        width = 2 + max(len(member.buffers) for member in members)
        self.table = np.zeros((len(shape), kernels.ADDRESSES + width), dtype=np.int64)
        self.table[:, kernels.SIZE] = shape[:, 1]
        self.table[:, kernels.UNITS : kernels.STRIDE + 1] = shape[:, 2:]
        self._point(0, places_of([member.weight for member in members]))
        for k in range(width - 2):
            self._point(2 + k, places_of([member.buffers[k] for member in members]))
        self.elements = int(shape[:, 1].sum())
        self.job = Job(self.table)
        self.gradients: Sequence[torch.Tensor] = ()

    def aim(self, gradients: Sequence[torch.Tensor], settings: Sequence[int]) -> None:
        """Point to this step's gradients, and give every tensor its row of numbers."""
        self.gradients = gradients  # alive until they have been used
        self._point(1, places_of(gradients))
        first = settings[0]
        one_for_all = settings.count(first) == len(settings)
        self.table[:, kernels.SETTING] = first if one_for_all else np.asarray(settings)[self.owner]

    def squares(self) -> float:
        """Σg²."""
        sums = np.empty((len(self.table), 1))
        self._together(kernels.squares_tensors, sums)
        return float(sums.sum())

    def run(self, kernel: Any, settings: np.ndarray) -> None:
        """Step all tensors in place."""
        self._together(kernel, settings)
        self.gradients = ()

    def _point(self, column: int, places: Sequence[int]) -> None:
        if len(places) == len(self.table):  # one piece each
            self.table[:, kernels.ADDRESSES + column] = places
            return
        starts = np.asarray(places, dtype=np.int64)[self.owner]
        self.table[:, kernels.ADDRESSES + column] = starts + self.offset

    def _together(self, kernel: Any, settings: np.ndarray) -> None:
        threads = torch.get_num_threads() if self.elements >= team.TOGETHER else 1
        self.job.begin(settings, threads)
        team.run(address_of(kernel, self.like.dtype), self.job, threads)


def places_of(tensors: Iterable[torch.Tensor]) -> list[int]:
    """Where the memory of each begins."""
    return list(map(torch.Tensor.data_ptr, tensors))  # two thirds of a comprehension's time


def _pieces(size: int, units: Units | None) -> np.ndarray:
    """begin, size, units, count, length and stride of each piece, int64[pieces, 6]."""
    if units is None:
        begin = np.arange(0, size, kernels.CHUNK)
        sizes = np.minimum(kernels.CHUNK, size - begin)
        return np.stack([begin, sizes, *np.zeros((4, len(begin)), dtype=np.int64)], axis=1)
    if units.runs > 1:  # a unit's runs lie apart: a block of units is one piece
        block = units.runs * units.stride
        begin = np.arange(0, size, block)
        row = [block, units.stride // units.length, *units]
    else:
        some = max(1, kernels.CHUNK // units.length)
        begin = np.arange(0, size, some * units.length)
        sizes = np.minimum(some * units.length, size - begin)
        rows = [begin, sizes, sizes // units.length, *(np.full(len(begin), n) for n in units)]
        return np.stack(rows, axis=1)
    return np.column_stack([begin, np.tile(row, (len(begin), 1))])
