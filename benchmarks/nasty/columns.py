"""Columns as they come: years, timestamps, prices, codes, copies of each other.

A kind is a function of a generator and the number of rows that returns float64[n, m], m ≥ 1; a
relation also sees the columns so far. `features` draws a few kinds for a case, so that its
description can name them.
"""

import numpy as np

DECADES_OF_OFFSET = (1, 9)
DECADES_OF_SCALE = (-8, 8)


def power(rng, low: float, high: float) -> float:
    """Ten to a uniform power."""
    return float(10 ** rng.uniform(low, high))


def normal(rng, n):
    """Standard normal numbers."""
    return rng.standard_normal((n, 1))


def offset(rng, n):
    """Noise around a number from 10 to 10⁹."""
    return normal(rng, n) + power(rng, *DECADES_OF_OFFSET) * rng.choice([-1, 1])


def scaled(rng, n):
    """Noise of any size from 10⁻⁸ to 10⁸."""
    return normal(rng, n) * power(rng, *DECADES_OF_SCALE)


def offset_and_scaled(rng, n):
    """Noise of any size around a number that is up to 10¹⁵ times as large."""
    size = power(rng, *DECADES_OF_SCALE)
    return size * (normal(rng, n) + power(rng, 1, 15))


def year(rng, n):
    """Years."""
    return rng.integers(1950, 2026, size=(n, 1)).astype(float)


def year_powers(rng, n):
    """A year, its square and its cube."""
    return year(rng, n) ** np.array([1, 2, 3])


def timestamp(rng, n):
    """Unix time in seconds, sometimes in milliseconds, over a minute to a year."""
    span = 60 * power(rng, 0, 5.7)
    return np.floor(1.6e9 + rng.uniform(0, span, size=(n, 1))) * rng.choice([1, 1, 1000])


def cents(rng, n):
    """Prices in cents."""
    return np.round(100 * np.exp(rng.normal(rng.uniform(1, 9), 1, size=(n, 1))))


def identifier(rng, n):
    """Numbers of customers, in order or not."""
    first = rng.integers(1, 10**9)
    if rng.random() < 0.5:
        return first + np.arange(n, dtype=float)[:, None]
    return rng.integers(1, 10**9, size=(n, 1)).astype(float)


def tiny(rng, n):
    """Numbers of 10⁻⁹."""
    return 1e-9 * (normal(rng, n) + rng.choice([0, 0, 5]))


def constant(rng, n):
    """One number, n times."""
    return np.full((n, 1), rng.choice([1.0, 0.1, -3.0, 1e9, 1e-9, 1 / 3, 123456.789]))


def zero(rng, n):
    """Nothing."""
    return np.zeros((n, 1))


def almost_constant(rng, n):
    """One number but for one row."""
    column = constant(rng, n)
    column[rng.integers(n)] *= 1 + power(rng, -15, 0)
    return column


def one_hot(rng, n):
    """All levels of a category: the columns add up to 1."""
    levels = int(rng.integers(2, 7))
    return np.eye(levels)[rng.integers(levels, size=n)]


def binary(rng, n):
    """A rare or common yes."""
    return (rng.random((n, 1)) < power(rng, -2, -0.1)).astype(float)


def heavy(rng, n):
    """Cauchy's distribution: some rows dwarf the rest."""
    return np.clip(rng.standard_cauchy((n, 1)), -1e8, 1e8)


def count(rng, n):
    """Small whole numbers."""
    return rng.poisson(power(rng, -1, 3), size=(n, 1)).astype(float)


def lognormal(rng, n):
    """Numbers over many decades."""
    return np.exp(rng.normal(0, 4, size=(n, 1)))


def duplicate(rng, n, X):
    """A column again."""
    return X[:, [rng.integers(X.shape[1])]]


def multiple(rng, n, X):
    """A column in another unit and with another zero: °C and °F."""
    column = duplicate(rng, n, X)
    return column * rng.choice([-1.0, 1.8, 1e-6, 1e6, 2.54]) + rng.choice([0.0, 0.0, 32.0, 1e6])


def nearly_duplicate(rng, n, X):
    """A column with an error in some digit."""
    column = duplicate(rng, n, X)
    spread = np.std(column) or 1.0
    return column + spread * power(rng, -14, -2) * normal(rng, n)


def combination(rng, n, X):
    """A sum of columns of like size, with or without an error."""
    spread = np.std(X, axis=0)
    mixed = (X - X[0]) / np.where(spread > 0, spread, 1) @ rng.standard_normal(X.shape[1])
    return mixed[:, None] + rng.choice([0, 1e-10, 1e-5]) * normal(rng, n)


KINDS = {
    kind.__name__.replace("_", " "): kind
    for kind in (
        offset,
        scaled,
        offset_and_scaled,
        year,
        year_powers,
        timestamp,
        cents,
        identifier,
        tiny,
        constant,
        zero,
        almost_constant,
        one_hot,
        binary,
        heavy,
        count,
        lognormal,
    )
}
RELATIONS = {
    kind.__name__.replace("_", " "): kind
    for kind in (duplicate, multiple, nearly_duplicate, combination)
}


def features(rng, n: int, p: int) -> tuple[np.ndarray, str]:
    """A matrix of p columns, float64[n, p], and the kinds that are in it."""
    drawn = list(rng.choice(list(KINDS), size=rng.integers(0, 4), replace=False))
    related = list(rng.choice(list(RELATIONS), size=rng.integers(0, 3), replace=False))
    plain = rng.choice([0.0, 0.3, 0.7])
    X = np.empty((n, 0))
    while X.shape[1] < p:
        if X.shape[1] and related and rng.random() < 0.3:
            new = RELATIONS[rng.choice(related)](rng, n, X)
        elif drawn and rng.random() > plain:
            new = KINDS[rng.choice(drawn)](rng, n)
        else:
            new = normal(rng, n)
        X = np.concatenate([X, new], axis=1)
    X = X[:, :p]
    return X[:, rng.permutation(p)], ", ".join(drawn + related) or "normal"
