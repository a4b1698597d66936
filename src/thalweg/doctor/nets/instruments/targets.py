"""What the network is to answer: kind, range and balance of the targets seen at looks.

    classes     integers, each a class; how many there are, and the share of the most frequent
    one-hot     rows of zeros with a single one: the column is the class
    zero-one    floats that are 0 or 1: two classes for each column, counted over all of them
    numbers     anything else: range, mean and standard deviation

The kind is that of all batches together: numbers as soon as one has some.

    mixing      how much batches differ from one another, in units of what drawing at random does:
                mean over batches b and classes c of n_b(p_bc − p_c)²/(p_c(1 − p_c)),
                or n_b(mean_b − mean)²/variance; about 1, and up to n_b where rows come sorted

Cost: one pass over the targets of a look.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import torch

MOST = 10_000  # classes that are counted

NAMES = ("kind", "columns", "classes", "largest_share", "min", "max", "mean", "std", "mixing")


class Targets:
    """Adds up batches."""

    def __init__(self) -> None:
        self.kind = ""
        self.columns = math.nan
        self.counts: Counter[int] = Counter()
        self.low, self.high = math.inf, -math.inf
        self.count, self.sum, self.squares = 0, 0.0, 0.0
        self.batches: list[tuple[int, float, dict[int, int]]] = []  # rows, sum, counts of classes

    def add(self, y: Any) -> None:
        """One batch; what is no tensor of real numbers is passed over."""
        if not isinstance(y, torch.Tensor) or not y.numel() or y.is_complex():
            return
        y = y.detach()
        kind = kind_of(y)
        self.kind = kind if self.kind in ("", kind) else "numbers"
        self.columns = float(y[0].numel()) if y.ndim else 1.0
        classes = y.argmax(1) if kind == "one-hot" else y
        found: dict[int, int] = {}
        if kind != "numbers" and len(self.counts) < MOST:
            values, counts = torch.unique(classes, return_counts=True)
            found = dict(zip(map(int, values.tolist()), counts.tolist(), strict=True))
            self.counts.update(found)
        wide = y.double()
        self.batches.append((y.numel(), wide.sum().item(), found))
        self.low, self.high = min(self.low, wide.min().item()), max(self.high, wide.max().item())
        self.count += y.numel()
        self.sum += wide.sum().item()
        self.squares += wide.square().sum().item()

    def scalars(self) -> dict[str, Any]:
        """What stands in the record, under names that begin with `target_`."""
        nothing = math.nan
        counted = self.counts if self.kind != "numbers" else Counter()
        mean = self.sum / self.count if self.count else nothing
        variance = self.squares / self.count - mean**2 if self.count else nothing
        values = (
            self.kind,
            self.columns,
            float(len(counted)) if counted else nothing,
            max(counted.values()) / sum(counted.values()) if counted else nothing,
            self.low if self.count else nothing,
            self.high if self.count else nothing,
            mean,
            math.sqrt(max(variance, 0.0)) if self.count else nothing,
            self._mixing(mean, variance),
        )
        return {f"target_{name}": value for name, value in zip(NAMES, values, strict=True)}

    def _mixing(self, mean: float, variance: float) -> float:
        if len(self.batches) < 2:
            return math.nan
        if self.kind == "numbers":
            if variance <= 0:
                return math.nan
            return sum((s / n - mean) ** 2 * n / variance for n, s, _ in self.batches) / len(
                self.batches
            )
        total = sum(self.counts.values())
        shares = {c: k / total for c, k in self.counts.items() if 0 < k < total}
        terms = [
            (found.get(c, 0) / sum(found.values()) - p) ** 2 * sum(found.values()) / (p * (1 - p))
            for _, _, found in self.batches
            for c, p in shares.items()
            if found
        ]
        return sum(terms) / len(terms) if terms else math.nan


def kind_of(y: torch.Tensor) -> str:
    """In one word."""
    if not y.is_floating_point():
        return "classes"
    if not ((y == 0) | (y == 1)).all():
        return "numbers"
    is_one_hot = y.ndim == 2 and y.shape[1] > 1 and bool((y.sum(1) == 1).all())
    return "one-hot" if is_one_hot else "zero-one"
