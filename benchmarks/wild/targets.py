"""What is to be predicted: numbers and classes, from exact to pure noise, even or lopsided.

Both depend on scores of spread 1, a linear function of some of the columns in units of their own
spread: a column of 10⁻⁶ can matter as much as a timestamp.
"""

from typing import Any

import numpy as np

from wild.columns import moments, scores
from wild.sizes import power

SUPPORTS = (0.003, 0.03, 0.3, 1.0)  # the share of columns that matter
STRENGTHS = {  # of scores beside noise of spread 2 or so
    "separable": np.inf,
    "nearly separable": 20.0,
    "clear": 5.0,
    "overlapping": 2.0,
    "weak": 0.5,
    "pure noise": 0.0,
}
TWICE = 2  # every class, at least


def signal(rng: np.random.Generator, X: Any, outputs: int) -> np.ndarray:
    """Scores of mean 0 and spread 1, float64[n, K]."""
    n, p = X.shape
    means, spreads = moments(X, np.full(n, 1 / n))
    matters = rng.random(p) < rng.choice(SUPPORTS)
    matters[rng.integers(p)] = True
    W = rng.standard_normal((p, outputs)) * matters[:, None]
    W /= np.where(spreads > 0, spreads, np.inf)[:, None]
    z = scores(X, means, W)
    z -= np.mean(z, axis=0)
    return z / np.maximum(np.std(z, axis=0), 1e-300)


def numbers(rng: np.random.Generator, X: Any) -> tuple[np.ndarray, float, str]:
    """A target of regression, the spread of its noise, and what it is."""
    z = signal(rng, X, 1)[:, 0]
    noise = power(rng, 1e-3, 3.0)
    words = f"noise {noise:.2g}"
    if rng.random() < 0.1:
        z, noise, words = 0 * z, 1.0, "pure noise"
    degrees = rng.choice([2.5, 50.0], p=[0.3, 0.7])
    y = z + noise * rng.standard_t(degrees, size=len(z))
    words += " with outliers" if degrees < 3 else ""
    sort = rng.random()
    if sort < 0.5:
        return y, noise, words
    if sort < 0.7:
        unit = power(rng, 1e-3, 1e6)
        return unit * y, unit * noise, f"{words}, y in units of {unit:.1g}"
    if sort < 0.85:
        return 2000 + 20 * y, 20 * noise, f"{words}, y a year"
    # Of the logarithm: the spread of the noise itself follows the price.
    y = np.round(100 * np.exp(4 + np.clip(y, -6, 6)))
    return y, float(noise * np.median(y)), f"{words}, y a price in cents"


def huber_delta(rng: np.random.Generator, y: np.ndarray, noise: float) -> tuple[float, str]:
    """Where Huber's loss begins to be straight: like noise mostly, else like the target."""
    if rng.random() < 0.7:
        return 1.345 * noise, "δ of the noise"
    return float(np.std(y)) * power(rng, 0.03, 3.0), "δ of the target"


def two_classes(rng: np.random.Generator, X: Any) -> tuple[np.ndarray, str]:
    """Labels of either coding; the second class may be rare."""
    n = X.shape[0]
    z = signal(rng, X, 1)[:, 0]
    strength, words = strengths(rng)
    noisy = z if np.isinf(strength) else strength * z + rng.logistic(size=n)
    share = 0.5 if rng.random() < 0.5 else power(rng, 1e-3, 0.3)
    most = int(np.clip(round(share * n), TWICE, n - TWICE))
    y = np.zeros(n, dtype=int)
    # By rank: scores of one-hot columns are equal in many rows.
    y[np.argsort(-noisy, kind="stable")[:most]] = 1
    if share < 0.5:
        words += f", {100 * most / n:.2g} % positive"
    return (2 * y - 1 if rng.random() < 0.5 else y), words


def many_classes(rng: np.random.Generator, X: Any, K: int) -> tuple[np.ndarray, str]:
    """Labels 0 to K − 1, their shares falling as a power of their rank."""
    n = X.shape[0]
    z = signal(rng, X, K)
    strength, words = strengths(rng)
    exponent = float(rng.choice([0.0, rng.uniform(0.5, 2.0)]))
    noisy = z if np.isinf(strength) else strength * z + rng.gumbel(size=(n, K))
    y = np.argmax(noisy - exponent * np.log(np.arange(1, K + 1)), axis=1)
    y[rng.permutation(n)[: TWICE * K]] = np.tile(np.arange(K), TWICE)
    return y, f"{K} classes, {words}" + (f", shares k^-{exponent:.1f}" if exponent else "")


def strengths(rng: np.random.Generator) -> tuple[float, str]:
    """How much the labels depend on the scores, and the word for it."""
    word = str(rng.choice(list(STRENGTHS)))
    return STRENGTHS[word], f"{word} classes"


def weights(rng: np.random.Generator, y: np.ndarray, is_labels: bool) -> tuple[Any, str]:
    """Weights of samples, mostly none."""
    n, sort = len(y), rng.random()
    if sort < 0.75:
        return None, ""
    if is_labels and sort < 0.85:
        code, counts = np.unique(y, return_inverse=True, return_counts=True)[1:]
        return n / (len(counts) * counts[code]), "balanced weights"
    if sort < 0.93:
        return rng.poisson(2.0, size=n) + 1.0, "counts as weights"
    return 10 ** rng.uniform(-2, 2, size=n), "weights over 4 decades"
