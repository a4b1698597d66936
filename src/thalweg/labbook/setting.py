"""What an experiment may spend, and the seed that decides what it draws."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from thalweg.core.checks import check_choice, check_count

GLANCE, QUICK, FULL = BUDGETS = ("glance", "quick", "full")
Size = TypeVar("Size")


def silent(text: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Setting:
    """How much, and which numbers.

    glance   a second or so, for tests: what is certain at a small size
    quick    some seconds, the default
    full     as much as it takes
    """

    budget: str = QUICK
    seed: int = 0
    folder: Path = Path("labs")  # where an experiment of many pieces keeps them
    tell: Callable[[str], None] = silent  # progress of a long one

    def __post_init__(self) -> None:
        check_choice("budget", self.budget, BUDGETS)
        check_count("seed", self.seed, at_least=0)

    @property
    def is_full(self) -> bool:
        """Whether time is no matter."""
        return self.budget == FULL

    def pick(self, *, quick: Size, full: Size, glance: Size | None = None) -> Size:
        """The size for the budget; a glance takes that of quick where it has none."""
        if self.budget == GLANCE and glance is not None:
            return glance
        return full if self.budget == FULL else quick

    def rng(self, *names: str | int) -> np.random.Generator:
        """Numbers for the purpose that `names` say, decided by the seed."""
        keys = [each if isinstance(each, int) else zlib.crc32(each.encode()) for each in names]
        return np.random.default_rng([self.seed, *keys])

    def seed_for(self, *names: str | int) -> int:
        """A seed for whoever draws by itself, decided by the seed and the purpose."""
        return int(self.rng(*names).integers(2**31))
