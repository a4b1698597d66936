"""A kernel over a table of pieces as a job: a C function that any number of threads run together.

A job is a row of integers: the piece that comes next, how many there are and how many are taken at
a time, then where the table and the settings are, and their shapes. Every thread that runs it takes
the next pieces, by an atomic addition, until none is left. One that comes late takes fewer, one
that does not come takes none, and nobody waits for a share that was given away beforehand.

Being C, it can be handed to threads that Python did not make (`nets.optimizers.team`).
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, from_dtype, types
from numba.extending import intrinsic

from thalweg.kernels.compile import c_function
from thalweg.kernels.tensors import pointer

NEXT, PIECES, TAKE, TABLE, WIDTH, SETTINGS, ROWS, COLUMNS = range(8)
FIELDS = 8
SHARES = 16  # takes of a thread, about


class Job:
    """A table of pieces, to be run again and again."""

    def __init__(self, table: np.ndarray) -> None:
        self.table = table
        self.settings: np.ndarray | None = None
        self.fields = np.zeros(FIELDS, dtype=np.int64)
        self.fields[[PIECES, TABLE, WIDTH]] = len(table), table.ctypes.data, table.shape[1]
        self.place: int = self.fields.ctypes.data

    def begin(self, settings: np.ndarray, threads: int) -> None:
        """Make ready to be run by so many threads; `settings` is kept."""
        fields = self.fields
        fields[NEXT], fields[TAKE] = 0, max(1, len(self.table) // (SHARES * threads))
        if settings is not self.settings:
            self.settings = settings
            fields[SETTINGS:] = settings.ctypes.data, *settings.shape


@functools.cache
def address_of(kernel: Any, dtype: Any) -> int:
    """Where the C function is that runs jobs of `kernel(table, settings, like, start, stop)`."""
    # One source for all kernels, and no closure, which would be compiled anew in every process: the
    # kernel is a global of the function that is made here, under a name of its own.
    name = f"{kernel.py_func.__name__}_job"
    function = FunctionType(_job.__code__, {**globals(), "kernel": kernel}, name)
    function.__qualname__ = name
    return int(c_function(function, types.CPointer(from_dtype(np.dtype(dtype)))).address)


def _job(job):
    """Take pieces and step them; the type that `job` points to is that of the tensors."""
    fields = carray(_integers(job), FIELDS)
    pieces, take = fields[PIECES], fields[TAKE]
    table = carray(pointer(fields[TABLE]), (pieces, fields[WIDTH]), np.int64)
    settings = carray(pointer(fields[SETTINGS]), (fields[ROWS], fields[COLUMNS]), np.float64)
    like = carray(job, 0)
    start = _taken(job, take)
    while start < pieces:
        kernel(table, settings, like, start, min(start + take, pieces))  # noqa: F821
        start = _taken(job, take)


@intrinsic
def _integers(context, job):
    """The same place, as one of integers."""

    def generate(_context, builder, _signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64).as_pointer())

    return types.CPointer(types.int64)(job), generate


@intrinsic
def _taken(context, job, count):
    """The piece that comes next; `count` pieces are taken with it."""

    def generate(_context, builder, _signature, arguments):
        place = builder.bitcast(arguments[0], ir.IntType(64).as_pointer())
        return builder.atomic_rmw("add", place, arguments[1], "monotonic")

    return types.int64(job, types.int64), generate
