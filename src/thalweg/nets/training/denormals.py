"""Numbers too small to matter, and dear: flushed to zero while a network trains.

Below 2⁻¹²⁶ (2⁻¹⁰²² in float64) a float loses its leading digit, and a processor may take a hundred
times as long for it. Activations and moments that decay get there. The setting belongs to the
thread that trains, and is put back as it was. Threads inherit it when they are made: those that
PyTorch has kept from work done before go on as they were, unless `torch.set_flush_denormal(True)`
comes first in the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


def are_flushed() -> bool:
    """Whether this thread flushes denormals now; PyTorch sets it but does not tell."""
    smallest = torch.full((1,), 1e-310, dtype=torch.float64)
    return bool((smallest * 1.0).view(torch.int64) == 0)


@contextmanager
def flushed_denormals() -> Iterator[None]:
    """Flush within the block; nothing where the processor cannot."""
    before = are_flushed()
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)
