"""The two ends of a spectrum as numbers alone: Lanczos with three vectors.

The recurrence of `lanczos`,

    βⱼvⱼ₊₁ = Hvⱼ − αⱼvⱼ − βⱼ₋₁vⱼ₋₁

looks back at two vectors only. A basis is kept there to make each new vector orthogonal to all
before it, and to return eigenvectors; where only the ends are asked for, neither is needed. What is
lost is orthogonality, as soon as a Ritz value has converged, and what comes of that are copies of
converged Ritz values, not wrong ones: all of them stay within the spectrum, up to rounding (Paige,
Linear Algebra Appl. 34 (1980)), and T is, up to rounding, what exact arithmetic would give for a
larger matrix whose eigenvalues all lie at those of H (Greenbaum, Linear Algebra Appl. 113 (1989)),
so that the bound on the error, which asks only for the spectrum and the start, is that of `lanczos`
for the same number of steps. The copies take steps, though: an end that converges late may come
later than it would with a basis.

Up to dimension 64 the basis is small, and the whole spectrum is found with it.

Cost: m products and O(m dim); memory 3·dim numbers and what a product takes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from thalweg.core.checks import check_count, check_number
from thalweg.curvature.lanczos import (
    EPS,
    FULL_DIM,
    MAX_STEPS,
    checkpoints,
    error_beyond,
    extreme_eigenvalues,
)
from thalweg.curvature.product import Matvec, check_generator, check_product


@dataclass(frozen=True)
class Extent:
    """The smallest and the largest eigenvalue that were found, and what is known of the true."""

    smallest: float  # θ_min, at the true one or above it, but for `rounding`
    largest: float  # θ_max, at the true one or below it, likewise
    error: float  # the true ones lie at most this far beyond, with probability `confidence`
    rounding: float
    steps: int
    confidence: float

    @property
    def norm(self) -> float:
        """The larger |θ|, a lower bound on ‖H‖."""
        return max(abs(self.smallest), abs(self.largest))

    @property
    def interval(self) -> tuple[float, float]:
        """All eigenvalues lie in here, with probability `confidence`."""
        return self.smallest - self.error, self.largest + self.error

    @property
    def negative_curvature_is_proven(self) -> bool:
        """Whether the spectrum reaches below zero by more than rounding."""
        return self.smallest < -self.rounding


def spectrum_extent(
    matvec: Matvec,
    dim: int,
    *,
    rng: np.random.Generator,
    tol: float = 1e-6,
    max_steps: int | None = None,
    confidence: float = 0.999,
) -> Extent:
    """Both ends of the spectrum of the symmetric `dim` × `dim` matrix behind `matvec`.

    `matvec` must leave its vector alone and return another that is not used again: nothing is
    copied. Stops when both residuals are at most `tol`·‖H‖ and the error is finite, else after
    `max_steps`, 100 by default.

    >>> curvatures = np.arange(1.0, 1001.0)
    >>> extent = spectrum_extent(lambda v: curvatures * v, 1000, rng=np.random.default_rng(0))
    >>> extent.interval[0] <= 1.0 and 1000.0 <= extent.interval[1]
    True
    """
    if dim <= FULL_DIM:
        ends = extreme_eigenvalues(
            matvec, dim, rng=rng, tol=tol, max_steps=max_steps, confidence=confidence
        )
        error = max(ends.smallest.error, ends.largest.error)
        values = ends.smallest.value, ends.largest.value
        return Extent(*values, error, ends.rounding, ends.steps, confidence)
    tol = check_number("tol", tol, at_least=0)
    confidence = check_number("confidence", confidence, above=0, below=1)
    limit = min(MAX_STEPS if max_steps is None else check_count("max_steps", max_steps), dim)
    stops = checkpoints(limit)
    risk = (1.0 - confidence) / len(stops)
    alpha, beta = np.zeros(limit), np.zeros(limit)  # beta[j] couples j and j + 1
    v, other = check_generator(rng).standard_normal(dim), np.zeros(dim)
    v /= np.linalg.norm(v)
    scale, eps = 0.0, EPS
    for j in range(limit):
        w, coarse = check_product(matvec(v), dim, j + 1)
        eps = max(eps, coarse)
        if j:
            other *= beta[j - 1]
            w -= other
        alpha[j] = v @ w
        w -= np.multiply(v, alpha[j], out=other)
        largest = max(float(w.max()), -float(w.min()), np.finfo(np.float64).tiny)
        beta[j] = largest * np.linalg.norm(np.divide(w, largest, out=other))
        scale = max(scale, abs(alpha[j]) + 2.0 * beta[j])
        # Where β = 0 all that a random start can reach has been seen: the ends are exact.
        is_exact = beta[j] <= dim * EPS * scale
        m = j + 1
        if m in stops or is_exact:
            T = np.diag(alpha[:m]) + np.diag(beta[:j], 1) + np.diag(beta[:j], -1)
            theta, S = np.linalg.eigh(T)
            norm = float(max(abs(theta[0]), abs(theta[-1])))
            error = 0.0 if is_exact else error_beyond(float(theta[-1] - theta[0]), dim, m, risk)
            residual = beta[j] * float(max(abs(S[-1, 0]), abs(S[-1, -1])))
            if is_exact or (residual <= tol * norm and math.isfinite(error)):
                break
        w /= beta[j]
        v, other = w, v
    rounding = 4.0 * (dim * EPS + math.sqrt(dim) * eps) * norm
    return Extent(float(theta[0]), float(theta[-1]), error + rounding, rounding, m, confidence)
