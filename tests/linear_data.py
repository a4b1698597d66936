"""Linear problems that several tests look at; of those that are drawn the truth is known."""

import numpy as np
from sklearn.datasets import load_breast_cancer

import thalweg as tw
from thalweg.kernels.losses import LOSSES, curvature_bound

# Losses of any targets, or of labels, whose ℓ″ has a bound; the others are of means e^z.
BOUNDED = tuple(name for name, code in LOSSES.items() if np.isfinite(curvature_bound(code)))


def features(n=200, p=5, seed=0):
    """Independent columns of size 1."""
    return np.random.default_rng(seed).normal(size=(n, p))


def regression(X, **options):
    """A target that all columns have a part in, and noise."""
    X = np.asarray(X)
    units = X / np.sqrt(np.mean(X**2, axis=0) + (X == 0).all(axis=0))
    noise = np.random.default_rng(1).normal(size=len(X))
    return tw.LinearProblem(X, units.sum(axis=1) + noise, **options)


def labels(X, noise=1.0):
    """Two classes that overlap where there is noise."""
    drawn = np.random.default_rng(2).logistic(size=len(X))
    return np.asarray(X).sum(axis=1) + noise * drawn > 0


def solved(problem, **options):
    """The problem and a run on it."""
    return problem, tw.minimize(problem, progress=False, **options)


def sparse_model():
    """A penalty that leaves some features of real data, whose gap needs a bound of second order."""
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return tw.LinearProblem(X, y, "logistic", l1=0.04)
