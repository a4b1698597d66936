"""Where samples come from: bundled with scikit-learn, or generated from fixed seeds."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from sklearn import datasets


@cache
def source(name: str) -> tuple[np.ndarray, np.ndarray]:
    """All samples, float64[n, …], and labels: int64[n] for classes, float64[n] for targets."""
    x, y = SOURCES[name]()
    return np.asarray(x, float), np.asarray(y)


def _xor() -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(3).uniform(-1, 1, (1000, 2))
    return x, (x[:, 0] * x[:, 1] > 0).astype(int)


def _parity() -> tuple[np.ndarray, np.ndarray]:
    """Parity of three signs of five: no single feature tells anything."""
    x = np.random.default_rng(4).choice([-1.0, 1.0], (1000, 5))
    noisy = x + 0.1 * np.random.default_rng(5).standard_normal(x.shape)
    return noisy, (x[:, :3].prod(1) > 0).astype(int)


def _sine() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    x = rng.uniform(-np.pi, np.pi, (1000, 1))
    return x, np.sin(2 * x[:, 0]) + 0.1 * rng.standard_normal(1000)


def _plane() -> tuple[np.ndarray, np.ndarray]:
    """A linear regression with noise."""
    x, y = datasets.make_regression(800, 12, n_informative=8, noise=10.0, random_state=6)
    return x, y


def _friedman() -> tuple[np.ndarray, np.ndarray]:
    return datasets.make_friedman1(1000, 8, noise=0.5, random_state=1)


def _bars() -> tuple[np.ndarray, np.ndarray]:
    """Images of 12 × 12 with a bar across, down, or along one of two diagonals, and noise."""
    rng = np.random.default_rng(8)
    y = rng.integers(0, 4, 900)
    x = 0.25 * rng.standard_normal((900, 12, 12))
    for image, kind in zip(x, y, strict=True):
        start, length = rng.integers(1, 5, 2), 7
        along = np.arange(length)
        down = {0: 0, 1: 1, 2: 1, 3: -1}[int(kind)] * along
        right = {0: 1, 1: 0, 2: 1, 3: 1}[int(kind)] * along
        image[start[0] + down + (length - 1 if kind == 3 else 0), start[1] + right] += 1.0
    return x.reshape(900, -1), y


def _spots() -> tuple[np.ndarray, np.ndarray]:
    """Images of 10 × 10: two bright spots, or three."""
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, 900)
    x = 0.1 * rng.standard_normal((900, 10, 10))
    for image, more in zip(x, y, strict=True):
        for place in rng.choice(25, 2 + more, replace=False):
            row, column = divmod(int(place), 5)
            image[2 * row : 2 * row + 2, 2 * column : 2 * column + 2] += 1.0
    return x.reshape(900, -1), y


def _first(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Sequences whose class is the sign of their first number."""
    x = np.random.default_rng(10).standard_normal((900, steps, 1))
    x[:, 0] = np.sign(x[:, 0]) * (0.5 + np.abs(x[:, 0]))
    return x, (x[:, 0, 0] > 0).astype(int)


def _majority() -> tuple[np.ndarray, np.ndarray]:
    """Sequences of signs whose class is the sign of their sum."""
    x = np.random.default_rng(11).choice([-1.0, 1.0], (900, 11, 1))
    return x, (x.sum((1, 2)) > 0).astype(int)


def _meeting() -> tuple[np.ndarray, np.ndarray]:
    """Sequences of eight of four tokens, one-hot: do tokens 0 and 1 both occur?"""
    tokens = np.random.default_rng(12).choice(4, (1200, 8), p=[0.12, 0.12, 0.38, 0.38])
    return np.eye(4)[tokens], ((tokens == 0).any(1) & (tokens == 1).any(1)).astype(int)


SOURCES: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "diabetes": lambda: datasets.load_diabetes(return_X_y=True, scaled=False),
    # AutoTrainer's, and rings that are further apart.
    "rings": lambda: datasets.make_circles(1000, noise=0.1, random_state=1),
    "circles": lambda: datasets.make_circles(1000, noise=0.1, factor=0.4, random_state=1),
    "blobs": lambda: datasets.make_blobs(1000, centers=3, cluster_std=2, random_state=2),
    "moons": lambda: datasets.make_moons(1000, noise=0.15, random_state=1),
    "mixture": lambda: datasets.make_classification(
        1200, 16, n_informative=8, n_classes=4, class_sep=1.8, flip_y=0.0, random_state=3
    ),
    "xor": _xor,
    "parity": _parity,
    "sine": _sine,
    "plane": _plane,
    "friedman": _friedman,
    "bars": _bars,
    "spots": _spots,
    "first-8": lambda: _first(8),
    "first-14": lambda: _first(14),
    "majority": _majority,
    "meeting": _meeting,
}

# What a healthy program reaches at least: mean recall of the classes, or R² of a regression.
FLOORS = {
    "digits": 0.93, "cancer": 0.92, "wine": 0.92, "iris": 0.88, "diabetes": 0.3, "rings": 0.75,
    "circles": 0.94, "blobs": 0.78, "moons": 0.94, "mixture": 0.85, "xor": 0.93, "parity": 0.93,
    "sine": 0.9, "plane": 0.9, "friedman": 0.85, "bars": 0.9, "spots": 0.9, "first-8": 0.93,
    "first-14": 0.93, "majority": 0.93, "meeting": 0.93,
}  # fmt: skip
