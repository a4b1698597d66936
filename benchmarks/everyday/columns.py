"""Columns, responses and labels as they stand in people's tables: units, offsets and all.

Nothing here is scaled or centred for a solver's sake. What a response depends on is the columns in
units of their own spread, so that a column of 1e-9 can matter as much as a timestamp.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse


def years(rng, n):
    """Years of birth or of building."""
    return rng.integers(1950, 2025, n)


def timestamps(rng, n):
    """Seconds since 1970, of six years."""
    return rng.integers(1_500_000_000, 1_690_000_000, n)


def milliseconds(rng, n):
    """Milliseconds since 1970, of one week."""
    return 1_600_000_000_000 + rng.integers(0, 604_800_000, n)


def cents(rng, n):
    """Prices in cents, most of them small."""
    return np.round(100 * rng.lognormal(3.0, 1.0, n))


def incomes(rng, n):
    """Incomes, with a long tail."""
    return np.round(rng.lognormal(10.5, 0.6, n))


def nano(rng, n):
    """Something measured in metres that is nanometres long."""
    return 1e-9 * rng.standard_normal(n)


def ids(rng, n):
    """Customer numbers that were left in."""
    return 10_000_000 + rng.permutation(n)


def constant(rng, n):
    """The same number in every row."""
    return np.full(n, rng.choice([0.0, 1.0, 2024.0]))


def flag(rng, n):
    """Yes or no."""
    return (rng.random(n) < 0.3).astype(float)


def rare(rng, n):
    """Yes in one row of a hundred."""
    return (rng.random(n) < 0.01).astype(float)


def percent(rng, n):
    """0 to 100."""
    return np.round(rng.uniform(0, 100, n), 1)


def ages(rng, n):
    """Ages, their squares and their cubes."""
    age = rng.integers(18, 91, n).astype(float)
    return np.column_stack([age, age**2, age**3])


def kelvin(rng, n):
    """Room temperatures."""
    return 293.15 + 5 * rng.standard_normal(n)


def pascals(rng, n):
    """Air pressures."""
    return 101_325 + 800 * rng.standard_normal(n)


def latitudes(rng, n):
    """Places in one town."""
    return 48.137 + 0.03 * rng.standard_normal(n)


def counts(rng, n):
    """Small whole numbers."""
    return rng.poisson(3.0, n)


def million(rng, n):
    """A million, more or less one."""
    return 1e6 + rng.standard_normal(n)


def category(rng, n):
    """One of seven, a column for each: together they are the intercept."""
    return np.eye(7)[rng.choice(7, n, p=[0.35, 0.2, 0.15, 0.12, 0.09, 0.06, 0.03])]


def towns(rng, n):
    """One of forty, some of them seldom."""
    share = 1.0 / np.arange(1, 41)
    return np.eye(40)[rng.choice(40, n, p=share / share.sum())]


def nearly(rng, n):
    """Two thermometers in one room."""
    first = rng.standard_normal(n)
    return np.column_stack([first, first + 0.01 * rng.standard_normal(n)])


def normal(rng, n):
    """What textbooks have."""
    return rng.standard_normal(n)


KINDS = {
    kind.__name__: kind
    for kind in (
        *(years, timestamps, milliseconds, cents, incomes, nano, ids, constant, flag, rare),
        *(percent, ages, kelvin, pascals, latitudes, counts, million, category, towns, nearly),
        normal,
    )
}
CONTINUOUS = ("years", "percent", "kelvin", "pascals", "latitudes", "million", "normal", "incomes")


def table(rng: np.random.Generator, n: int, recipe: str | Sequence[str]) -> np.ndarray:
    """Columns by name, `normal*20` for twenty of them and `copy` for the first column again."""
    blocks: list[np.ndarray] = []
    for word in recipe.split() if isinstance(recipe, str) else recipe:
        kind, _, times = word.partition("*")
        for _ in range(int(times or 1)):
            if kind == "copy":
                blocks.append(blocks[0][:, :1])
            else:
                blocks.append(np.asarray(KINDS[kind](rng, n), dtype=float).reshape(n, -1))
    return np.hstack(blocks)


def text(rng: np.random.Generator, n: int, words: int, length: int) -> scipy.sparse.csr_matrix:
    """Documents by tf-idf in rows of norm 1; a word's frequency falls as one over its rank."""
    share = 1.0 / (np.arange(words) + 3.0)
    drawn = rng.choice(words, (n, length), p=share / share.sum())
    rows = np.repeat(np.arange(n), length)
    X = scipy.sparse.coo_matrix((np.ones(n * length), (rows, drawn.ravel())), (n, words)).tocsr()
    frequency = np.bincount(X.indices, minlength=words)
    X.data *= (1 + np.log((1 + n) / (1 + frequency)))[X.indices]
    norms = np.sqrt(X.multiply(X).sum(axis=1).A1)
    X.data /= np.repeat(norms, np.diff(X.indptr))
    return X


def signal(rng: np.random.Generator, X, outputs: int = 1) -> np.ndarray:
    """A linear function of columns in units of their spread, itself of spread 1: float[n, k]."""
    if scipy.sparse.issparse(X):
        S = X @ (rng.standard_normal((X.shape[1], outputs)) / np.sqrt(X.shape[1]))
    else:
        spread = X.std(axis=0)
        varies = spread > 1e-12 * np.abs(X).max(axis=0)
        w = rng.standard_normal((int(varies.sum()), outputs))
        w[rng.random(len(w)) < 0.3] *= 0.05  # some columns hardly matter
        S = ((X[:, varies] - X[:, varies].mean(axis=0)) / spread[varies]) @ w
    return (S - S.mean(axis=0)) / np.maximum(S.std(axis=0), 1e-300)


def response(rng, X, *, targets=1, noise=0.5, scale=1.0, offset=0.0) -> np.ndarray:
    """A noisy number a row, or several."""
    S = signal(rng, X, targets)
    y = offset + scale * (S + noise * rng.standard_normal(S.shape))
    return y[:, 0] if targets == 1 else y


def labels(rng, X, *, classes=2, strength=2.0, balance=0.0, names=None) -> np.ndarray:
    """Classes drawn by their probabilities, so that they overlap; `balance` favours the first."""
    Z = strength * signal(rng, X, classes) - balance * np.arange(classes)
    y = np.argmax(Z + rng.gumbel(size=Z.shape), axis=1)
    for k in range(classes):  # every class at least twice
        y[2 * k : 2 * k + 2] = k
    return y if names is None else np.asarray(names)[y]
