"""Which of several processes this is: one alone unless `torch.distributed` was initialised.

Under `torchrun` every process runs the same training on its share of the rows; one of them, the
main one, writes and shows, and what all measured is averaged.
"""

from __future__ import annotations

import torch
from torch import distributed


def is_shared() -> bool:
    """Whether there are other processes."""
    return distributed.is_available() and distributed.is_initialized()


def rank() -> int:
    """The number of this process, from 0."""
    return distributed.get_rank() if is_shared() else 0


def size() -> int:
    """How many processes there are."""
    return distributed.get_world_size() if is_shared() else 1


def is_main() -> bool:
    """Whether this process is the one that writes."""
    return rank() == 0


def mean_over_ranks(*numbers: float, device: torch.device | str = "cpu") -> tuple[float, ...]:
    """Each number averaged over all processes."""
    if not is_shared():
        return numbers
    total = torch.tensor(numbers, dtype=torch.float64, device=device)
    distributed.all_reduce(total)
    return tuple((total / size()).tolist())
