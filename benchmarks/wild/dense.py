"""Dense features, float64[n, p], by the spectrum of their covariance.

    flat              Z = G, standard normal numbers
    power law         Z = G diag(j^−a) Q: Q draws signs and an order and takes a cosine transform,
                      an orthogonal mixture in O(np log p), so that no column has a name of its own
    low rank          Z = UV + εG
    collinear blocks  zⱼ = √ρ s_block + √(1 − ρ) gⱼ, correlations of ρ up to 1 − 10⁻⁶

Every column has spread 1 or so, before it gets its unit (`units`).
"""

from typing import Any

import numpy as np
from scipy.fft import dct

from wild.sizes import Size, power, whole
from wild.units import in_units


def flat(rng: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, str]:
    """Columns that have nothing to do with each other."""
    return rng.standard_normal((n, p)), "flat spectrum"


def power_law(rng: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, str]:
    """Singular values that fall as a power of their rank."""
    exponent = rng.uniform(0.3, 1.5)
    s = np.arange(1.0, p + 1) ** -exponent
    s *= rng.choice([-1, 1], size=p) * np.sqrt(p / np.sum(s**2))
    Z = rng.standard_normal((n, p))
    Z *= rng.permutation(s)
    return dct(Z, axis=1, norm="ortho", overwrite_x=True), f"spectrum j^-{exponent:.1f}"


def low_rank(rng: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, str]:
    """A few factors and noise."""
    rank, noise = whole(rng, 1, max(1, min(n, p, 200) // 2)), power(rng, 1e-3, 1.0)
    Z = rng.standard_normal((n, p))
    Z *= noise
    Z += rng.standard_normal((n, rank)) @ rng.standard_normal((rank, p)) / np.sqrt(rank)
    return Z, f"rank {rank} and noise of {noise:.2g}"


def blocks(rng: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, str]:
    """Groups of columns that are almost the same."""
    width, apart = whole(rng, 2, 30), power(rng, 1e-6, 0.3)
    Z = rng.standard_normal((n, p))
    Z *= np.sqrt(apart)
    for first in range(0, p, width):
        Z[:, first : first + width] += np.sqrt(1 - apart) * rng.standard_normal((n, 1))
    return Z, f"blocks of {width} with correlation 1 - {apart:.1g}"


SPECTRA = (flat, power_law, low_rank, blocks)


def table(rng: np.random.Generator, size: Size) -> tuple[Any, str]:
    """Dense features as they are stored, and what they are."""
    Z, spectrum = SPECTRA[rng.integers(len(SPECTRA))](rng, size.n, size.p)
    units = in_units(rng, Z)
    X, storage = stored(rng, Z)
    return X, ", ".join(filter(None, (storage, spectrum, units)))


def stored(rng: np.random.Generator, Z: np.ndarray) -> tuple[np.ndarray, str]:
    """By rows or by columns, in either precision."""
    X = Z.astype(np.float32) if rng.random() < 0.35 else Z
    is_by_columns = rng.random() < 0.35
    words = f"dense {'by columns ' if is_by_columns else ''}{X.dtype.name}"
    return (np.asfortranarray(X) if is_by_columns else X), words
