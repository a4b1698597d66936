"""How sure coefficients are by drawing the rows again: for any loss, penalty and number of columns.

    for b = 1 … B    n rows with replacement, of which row i is there mᵢ times
                     refit with weights mᵢsᵢ                                     β_b

The spread of the β_b is the standard error, their quantiles (1 ± level)/2 the interval. With a
penalty that is of the penalised estimate, which is biased towards zero, and the interval is of it.

Cost: B fits. Weights stand for copies of rows, so that X is not copied.
Efron & Tibshirani, An Introduction to the Bootstrap (1993), 6 and 13.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Fit = Callable[[np.ndarray], np.ndarray]  # weights, float64[n], to β, float64[q, K]


def resampled(fit: Fit, weights: np.ndarray, samples: int, seed: int) -> np.ndarray:
    """β_b of each of `samples` draws of the rows, float64[B, q, K]."""
    rng, n = np.random.default_rng(seed), len(weights)
    found = []
    for _ in range(samples):
        counts = np.bincount(rng.integers(n, size=n), minlength=n)
        found.append(fit(counts * weights))
    return np.stack(found)
