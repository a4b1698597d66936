"""Hinges κ·max(0, g) seen from inside: shares, what they lack and have over, and how these move.

    g = p − q        λ + λ̄ = κ        λq = μ        λ̄p = μ        all four above 0

At μ = 0 a hinge is open (q = 0, λ = κ), closed (p = 0, λ = 0), or at its corner (p = q = 0). With
the residuals rg = g − (p − q), rq = μ − λq, rp = μ − λ̄p and a change Δg,

    Δλ = D(Δg + h)      1/D = p/λ̄ + q/λ      h = rg − rp/λ̄ + rq/λ
    Δp = (rp + pΔλ)/λ̄          Δq = (rq − qΔλ)/λ

is Newton's step; a second one takes the products ΔλΔq and −ΔλΔp of the first into rq and rp. λ̄ is
carried along, as κ − λ would lose its digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Moves(NamedTuple):
    """A step of all hinges of a kind."""

    share: np.ndarray  # Δλ = −Δλ̄
    ahead: np.ndarray  # Δp
    behind: np.ndarray  # Δq


class Aim(NamedTuple):
    """What a step is to make good."""

    over: np.ndarray  # rp
    under: np.ndarray  # rq
    h: np.ndarray


class Hinges:
    """Hinges of one kind: those of the samples, or those of l1."""

    def __init__(self, four: np.ndarray, g: np.ndarray) -> None:
        """λ, λ̄, p and q, float64[4, …], and g, float64[…]."""
        self.four = four
        self.share, self.rest, self.ahead, self.behind = four
        self.g = g
        self.D = 1.0 / (self.ahead / self.rest + self.behind / self.share)

    @staticmethod
    def around(g: np.ndarray, kappa: float | np.ndarray, size: float) -> np.ndarray:
        """A middle where g = p − q: half of κ, and `size` more of p and q than there need be."""
        ahead, half = np.maximum(g, 0.0) + size, np.broadcast_to(0.5 * kappa, g.shape)
        return np.stack([half, half, ahead, ahead - g])

    def aim(self, mu: float, first: Moves | None) -> Aim:
        """The residuals for this μ, with the products of a `first` step."""
        under, over = mu - self.share * self.behind, mu - self.rest * self.ahead
        if first is not None:
            under -= first.share * first.behind
            over += first.share * first.ahead
        lack = self.g - (self.ahead - self.behind)
        return Aim(over, under, lack - over / self.rest + under / self.share)

    def moves(self, aim: Aim, along: np.ndarray) -> Moves:
        """The step where g moves by `along`."""
        share = self.D * (along + aim.h)
        ahead = (aim.over + self.ahead * share) / self.rest
        return Moves(share, ahead, (aim.under - self.behind * share) / self.share)

    def reach(self, moves: Moves) -> tuple[float, float]:
        """The longest steps, up to 1, that leave p and q, and λ and λ̄, above 0."""
        far = max(most(moves.ahead, self.ahead), most(moves.behind, self.behind), 1.0)
        wide = max(most(moves.share, self.share), most(-moves.share, self.rest), 1.0)
        return 1.0 / far, 1.0 / wide

    def products(
        self, moves: Moves | None = None, far: float = 0.0, wide: float = 0.0
    ) -> np.ndarray:
        """λq + λ̄p of each, after a step of these lengths."""
        if moves is None:
            return self.share * self.behind + self.rest * self.ahead
        share, rest = self.share + wide * moves.share, self.rest - wide * moves.share
        ahead, behind = self.ahead + far * moves.ahead, self.behind + far * moves.behind
        return share * behind + rest * ahead

    def moved(self, moves: Moves, far: float, wide: float) -> np.ndarray:
        """λ, λ̄, p and q after it, fresh."""
        steps = (wide * moves.share, -wide * moves.share, far * moves.ahead, far * moves.behind)
        return self.four + np.stack(steps)


def most(moves: np.ndarray, sizes: np.ndarray) -> float:
    """The largest share −Δ/x of itself that one of the x goes down by in a step; 0 of none."""
    return float(np.max(-moves / sizes, initial=0.0))
