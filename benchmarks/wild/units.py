"""What columns are measured in: years, timestamps, cents, shares, and any unit from 10⁻⁶ to 10⁶.

A unit is an increasing function of a column of standard normal numbers, so that columns which went
together still do. `in_units` writes over the matrix it is given.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import ndtr

from wild.sizes import power

OFFSETS = (1.0, 1e4)  # in deviations


def year(z: np.ndarray) -> np.ndarray:
    """Years of building, most of them after 1960."""
    return np.round(1995 + 15 * z)


def timestamp(z: np.ndarray) -> np.ndarray:
    """Seconds since 1970, of a year or two."""
    return np.floor(1.65e9 + 1e7 * z)


def cents(z: np.ndarray) -> np.ndarray:
    """Prices in cents, with a long tail."""
    return np.round(100 * np.exp(3 + z))


def income(z: np.ndarray) -> np.ndarray:
    """Incomes in a currency."""
    return np.round(np.exp(10.5 + 0.6 * z))


def percent(z: np.ndarray) -> np.ndarray:
    """0 to 100."""
    return np.round(100 * ndtr(z), 1)


def count(z: np.ndarray) -> np.ndarray:
    """How often, mostly never or once."""
    return np.floor(np.exp(z))


def flag(z: np.ndarray) -> np.ndarray:
    """Yes in one row of six."""
    return (z > 1).astype(float)


def kelvin(z: np.ndarray) -> np.ndarray:
    """Room temperatures."""
    return 293.15 + 5 * z


def micro(z: np.ndarray) -> np.ndarray:
    """Something of a thousandth of a millimetre, in metres."""
    return 1e-6 * z


def plain(z: np.ndarray) -> np.ndarray:
    """What textbooks have."""
    return z


KINDS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    *(year, timestamp, cents, income, percent, count, flag, kelvin, micro, plain),
)


def in_units(rng: np.random.Generator, Z: np.ndarray) -> str:
    """Give the columns of Z units, in place, and say which."""
    p = Z.shape[1]
    sort = rng.random()
    if sort < 0.3:
        return ""
    if sort < 0.45:
        Z *= 10 ** rng.uniform(-1, 1, size=p)
        return "units 0.1 to 10"
    if sort < 0.58:
        Z *= 10 ** rng.uniform(-6, 6, size=p)
        return "units 1e-6 to 1e6"
    if sort < 0.72:
        offset = power(rng, *OFFSETS)
        Z += offset * rng.standard_normal(p)
        return f"offsets of {offset:.0f} deviations"
    return as_table(rng, Z)


def as_table(rng: np.random.Generator, Z: np.ndarray) -> str:
    """Make a few kinds of columns of those of Z, in place, and name them."""
    some = rng.permutation(len(KINDS))[: rng.integers(2, 6)]
    kind_of = rng.choice(some, size=Z.shape[1])
    for kind in np.unique(kind_of):
        Z[:, kind_of == kind] = KINDS[kind](Z[:, kind_of == kind])
    return "columns of " + ", ".join(KINDS[kind].__name__ for kind in np.unique(kind_of))
