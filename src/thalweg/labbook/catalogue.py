"""All labs by name, in the order of the lectures' subjects; each is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module

from thalweg.core.errors import InputError, suggest
from thalweg.labbook.lab import Lab

LECTURES = {
    "A": "Optimization IV",
    "B": "Large Scale Machine Learning",
    "C": "Neural Network Optimization",
}
SECTIONS = {
    "Convex optimization and its guarantees": (
        "convexity", "empirical-risk", "descent-lemma", "gd-rate", "gd-least-squares",
        "learning-rate", "iteration-cost", "rate-table", "sgd-lemma", "sgd-theorem", "sag-rate",
        "sag-numbers", "evaluation-counts", "sag-practice", "sag-sampling", "sgd-sampling", "svrg",
        "catalyst", "heavy-ball", "nesterov", "adagrad", "rmsprop", "adam", "nadam",
    ),
    "Landscape": (
        "local-optima", "saddle", "rosenbrock", "hessian-verdict", "conditioning", "newton-family",
        "vanish-explode", "clipping", "representative-data",
    ),
    "Generalization and regularization": (
        "error-tradeoff", "ridge", "ridge-polynomial", "weight-decay", "l1-sparsity",
        "dropout", "max-norm", "kl-sparsity", "mnist-table", "early-stopping", "augmentation",
    ),
    "Initialization and normalization": (
        "zero-init", "init-variance", "init-schemes", "bias-init", "pre-init", "scaling",
        "batch-norm", "batch-norm-inference", "batch-norm-naive", "batch-norm-benefits",
        "covariate-shift",
    ),
}  # fmt: skip
# In the order of the slides.
READING = {
    "A": (
        "convexity", "descent-lemma", "gd-rate", "gd-least-squares", "iteration-cost", "heavy-ball",
        "adagrad", "rmsprop", "adam", "empirical-risk", "error-tradeoff", "ridge", "weight-decay",
        "ridge-polynomial", "l1-sparsity", "dropout", "mnist-table", "kl-sparsity", "max-norm",
        "early-stopping", "augmentation", "zero-init", "init-variance", "init-schemes", "scaling",
        "batch-norm",
    ),
    "B": (
        "convexity", "rate-table", "iteration-cost", "sgd-theorem", "sgd-lemma", "sag-rate",
        "sag-numbers", "evaluation-counts", "sag-practice", "catalyst", "sag-sampling",
        "sgd-sampling", "svrg", "batch-norm-benefits", "covariate-shift", "batch-norm-naive",
        "batch-norm", "batch-norm-inference",
    ),
    "C": (
        "learning-rate", "local-optima", "representative-data", "saddle", "rosenbrock",
        "conditioning", "hessian-verdict", "newton-family", "vanish-explode", "clipping",
        "heavy-ball", "nesterov", "adagrad", "rmsprop", "adam", "nadam", "zero-init",
        "init-schemes", "bias-init", "pre-init", "scaling", "covariate-shift", "batch-norm",
        "batch-norm-benefits",
    ),
}  # fmt: skip
NAMES = tuple(name for names in SECTIONS.values() for name in names)


def lab(name: str) -> Lab:
    """The lab of a claim, by its name: `tw.lab("gd-rate").run()` tries it.

    >>> import thalweg as tw
    >>> tw.lab("gd-rate").run("glance").passed
    True
    """
    if name not in NAMES:
        raise InputError(f"lab must be a known name, got {name!r}: {suggest(str(name), NAMES)}")
    return import_module(f"thalweg.labs.{name.replace('-', '_')}").LAB


def labs() -> list[Lab]:
    """All of them, in order."""
    return [lab(name) for name in NAMES]
