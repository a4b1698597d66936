"""In which order to visit the samples, and how often each comes.

    uniform     with replacement, every sample with probability 1/n
    shuffled    a new permutation for every pass
    cyclic      the order of the rows
    lipschitz   with replacement, pᵢ = ½(1/n + Lᵢ/ΣL): samples of larger slope change more often

The half that stays uniform keeps every pᵢ ≥ 1/2n, so that no remembered slope grows old. What a
step may be is set by

    L_eff = max Lᵢ/(npᵢ)          max L when uniform;  at most 2·mean L when lipschitz

since a method that corrects for pᵢ sees the smoothness Lᵢ/(npᵢ). Where all Lᵢ are equal, both are.

Needell, Srebro & Ward, Math. Program. 155 (2016); Schmidt et al., AISTATS 2015.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.kernels.alias import alias_draws, alias_table

SAMPLINGS = ("uniform", "shuffled", "cyclic", "lipschitz")
DRAWN = 8192  # random numbers at a time


class Sampler(NamedTuple):
    """A way to visit n samples."""

    kind: str
    odds: np.ndarray  # n·pᵢ, float64[n]
    threshold: np.ndarray  # of the alias table, float64[n]; empty unless lipschitz
    alias: np.ndarray  # int64[n]; likewise

    def order(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """The next `count` samples to visit, int64[count]."""
        n = self.odds.size
        if self.kind == "uniform":
            return rng.integers(n, size=count)
        order = np.arange(count)
        if self.kind == "cyclic":
            order %= n
        elif self.kind == "shuffled":
            for start in range(0, count, n):
                order[start : start + n] = rng.permutation(n)[: count - start]
        else:
            for start in range(0, count, DRAWN):
                uniforms = rng.random(min(DRAWN, count - start))
                order[start : start + DRAWN] = alias_draws(self.threshold, self.alias, uniforms)
        return order

    def smoothness(self, row_smoothness: np.ndarray) -> float:
        """L_eff for the given Lᵢ."""
        return float(np.max(row_smoothness / self.odds))


def sampler(kind: str, row_smoothness: np.ndarray) -> Sampler:
    """The sampler called `kind`, one of `SAMPLINGS`, for samples with these Lᵢ."""
    total = float(row_smoothness.sum())
    if kind != "lipschitz" or total == 0.0:
        return Sampler(
            kind if kind != "lipschitz" else "uniform",
            np.ones(row_smoothness.size),
            np.empty(0),
            np.empty(0, dtype=np.int64),
        )
    odds = 0.5 + 0.5 * row_smoothness * (row_smoothness.size / total)
    return Sampler(kind, odds, *alias_table(odds / odds.sum()))
