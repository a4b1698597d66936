"""The same question of many programs, by some processes of one thread each."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import torch

from doctor.program import Program

Answer = TypeVar("Answer")


def answers(
    question: Callable[[Program], Answer], programs: Sequence[Program], processes: int
) -> Iterator[tuple[Program, Answer]]:
    """Programs and what was answered, in their order."""
    if processes == 1:
        torch.set_num_threads(1)
        yield from zip(programs, map(question, programs), strict=True)
        return
    with multiprocessing.get_context("spawn").Pool(processes, torch.set_num_threads, (1,)) as pool:
        yield from zip(programs, pool.imap(question, programs), strict=True)
