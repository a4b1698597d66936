"""Hutchinson's estimator: the trace of a matrix from products with random signs.

    tr H = E[zᵀHz]     for z with independent entries ±1

The mean over k probes is unbiased, with variance 2(‖H‖_F² − Σᵢ hᵢᵢ²)/k: only what lies off the
diagonal adds noise, and a diagonal matrix takes one probe. Signs have the smallest variance of all
distributions with independent entries (Gaussian probes: 2‖H‖_F²/k).

Cost: k products; memory O(dim).
Hutchinson, Commun. Stat. Simul. Comput. 19 (1990).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from thalweg.core.checks import check_count, check_number
from thalweg.curvature.product import Matvec, Product, check_generator


@dataclass(frozen=True)
class TraceEstimate:
    """An unbiased estimate of tr H and how far to trust it."""

    value: float
    standard_error: float  # of `value`, from the spread among the probes
    interval: tuple[float, float]  # Student's, at `confidence`
    confidence: float
    samples: np.ndarray  # zᵀHz of each probe, float64[probes]


def trace(
    matvec: Matvec,
    dim: int,
    *,
    probes: int,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> TraceEstimate:
    """tr H by `probes` (at least two) random sign vectors.

    >>> H = np.diag([3.0, 1.0, -1.0])
    >>> trace(lambda v: H @ v, 3, probes=2, rng=np.random.default_rng(0)).value
    3.0
    """
    product = Product(matvec, dim)
    rng = check_generator(rng)
    probes = check_count(
        "probes", probes, at_least=2, advice="one probe says nothing about its own error"
    )
    confidence = check_number("confidence", confidence, above=0, below=1)
    samples = np.empty(probes)
    for k in range(probes):
        z = 2.0 * rng.integers(0, 2, size=dim) - 1.0
        samples[k] = z @ product(z)
    value = float(np.mean(samples))
    standard_error = float(np.std(samples, ddof=1)) / math.sqrt(probes)
    margin = _student_quantile(confidence, probes - 1) * standard_error
    return TraceEstimate(
        value, standard_error, (value - margin, value + margin), confidence, samples
    )


def _student_quantile(confidence: float, freedom: int) -> float:
    """t with P(|Student's t| ≤ t) = `confidence`.

    With t = √ν tan φ the density becomes proportional to cosᵛ⁻¹φ, which a table integrates.
    """
    # Beyond 12/√ν less than 1e-30 of the probability is left, and the table would be too coarse.
    phi = np.linspace(0.0, min(0.5 * math.pi, 12.0 / math.sqrt(freedom)), 20_001)
    density = np.cos(phi) ** (freedom - 1)
    mass = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    angle = np.interp(confidence * mass[-1], mass, phi)
    return math.sqrt(freedom) * math.tan(float(angle))
