"""Slopes, curvatures and conjugates of the losses, with twice the digits: what `polished` asks for.

Two sorts of losses, by what their slopes are made of:

    residuals        squared, squared hinge, Huber: θ = z − y, clipped
    probabilities    multinomial: θ = softmax(z) − e_y; logistic, of two classes with scores 0 and z

Each is asked for θ at scores that are pairs, and for Σ cᵢℓ*(sθᵢ) at a multiple of it, with a size:
rounding has left some units in its last place, and shrinking the slopes of some by a share τ costs
at most 2τ of it. For residuals that is Σ c|θ|(|y| + ½|θ|). For probabilities it is the entropy: as
ℓ* is convex, moving τpₖ from class k to others raises it by −τpₖ log pₖ at most.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.certificates.pair import Pair
from thalweg.kernels import twofold_passes as passes
from thalweg.kernels.losses import LOGISTIC
from thalweg.objectives.class_scores import ClassScores
from thalweg.objectives.one_score import OneScore


class Slopes(NamedTuple):
    """The losses at some scores."""

    losses: float  # Σ cᵢℓᵢ
    theta: Pair  # ∇ℓᵢ, float64[n, K]
    bends: np.ndarray  # cᵢℓ″ᵢ, float64[n, 1]; of several classes pᵢ, float64[n, K]


class Residuals:
    """Losses that are quadratic in pieces."""

    def __init__(self, term: OneScore, c: np.ndarray) -> None:
        self.term, self.y, self.c = term, np.array(term.y, dtype=np.float64), c

    def slopes(self, z: Pair) -> Slopes:
        """At scores, float64[n, 1]."""
        theta, bends = Pair.empty(*z.high.shape), np.empty(z.high.shape)
        losses = passes.residuals_pass(
            self.term.code, z.high.ravel(), z.low.ravel(), self.y, self.c, self.term.delta,
            theta.high.ravel(), theta.low.ravel(), bends.ravel(),
        )  # fmt: skip
        return Slopes(losses, theta, bends)

    def conjugates(self, z: Pair, theta: Pair, scale: float) -> tuple[float, float]:
        """Σ cᵢℓ*(scale·θᵢ), and its size."""
        return passes.conjugates_pass(theta.high.ravel(), theta.low.ravel(), self.y, self.c, scale)


class Probabilities:
    """The multinomial loss, and the logistic one as that of two classes."""

    def __init__(self, term: OneScore | ClassScores, c: np.ndarray) -> None:
        self.is_logistic = term.code == LOGISTIC
        labels = term.y > 0 if self.is_logistic else term.y
        self.labels, self.c = np.array(labels, dtype=np.int64), c

    def slopes(self, z: Pair) -> Slopes:
        """At scores, float64[n, K] or [n, 1]."""
        Z = self._of_classes(z)
        T, P = Pair.empty(*Z.high.shape), np.empty(Z.high.shape)
        losses = passes.softmax_pass(*Z, self.labels, self.c, *T, P)
        if not self.is_logistic:
            return Slopes(losses, T, P)
        theta = Pair(T.high[:, 1:].copy(), T.low[:, 1:].copy())
        return Slopes(losses, theta, (self.c * P[:, 0] * P[:, 1])[:, None])

    def conjugates(self, z: Pair, theta: Pair, scale: float) -> tuple[float, float]:
        """Σ cᵢℓ*(scale·θᵢ) at the slopes of these scores, and its size."""
        entropies = passes.entropies_pass(*self._of_classes(z), self.labels, self.c, scale)
        return -entropies, entropies

    def _of_classes(self, z: Pair) -> Pair:
        if not self.is_logistic:
            return z
        zeros = np.zeros_like(z.high)
        return Pair(np.hstack([zeros, z.high]), np.hstack([zeros, z.low]))


def exact_losses(term: OneScore | ClassScores, c: np.ndarray) -> Residuals | Probabilities:
    """The losses of a data term, samples weighted by `c`."""
    if isinstance(term, ClassScores) or term.code == LOGISTIC:
        return Probabilities(term, c)
    return Residuals(term, c)
