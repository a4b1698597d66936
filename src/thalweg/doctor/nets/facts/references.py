"""What simple models make of the same data: a yardstick for the network, and for the labels.

    linear        ridge regression on standardized columns, labels as one-hot rows
    neighbours    the five nearest rows, in standardized columns
    forest        40 random trees, which do not mind scales or useless columns

    data_signal             best skill on training rows that were left out
    data_signal_validation  the same, within the validation rows alone
    data_reference          best skill on validation rows, after training on training rows
    data_signal_error       standard error of the first where there is nothing to learn

Where training labels were put in another order, nothing can be learnt from the training rows, but
still within the validation rows. Both are asked of the ranks of numbers, so that a few wild ones do
not hide the rest. Rows are left out one at a time (linear: h, the diagonal of the
hat matrix; neighbours) or by the bootstrap (forest).

Cost: at most 2,000 rows; some tenths of a second for tables, two seconds for images of 784 pixels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.neighbors import NearestNeighbors

from thalweg.doctor.nets.facts.measured import Measured
from thalweg.doctor.nets.facts.task import Task, skill, skill_error

NEIGHBOURS = 5
TREES = 40


class Answers(NamedTuple):
    """Of one model: for its own rows when they are left out, and for other rows."""

    left_out: np.ndarray
    others: np.ndarray


def references(task: Task, validation: Task | None, seed: int = 0) -> Measured:
    """Skills of simple models."""
    if not np.isfinite(task.x).all() or len(task.x) < 2 * NEIGHBOURS:
        return Measured()
    if validation is not None and not np.isfinite(validation.x).all():
        return Measured()
    others = task.x[:1] if validation is None else validation.x
    found = [model(task, others, seed) for model in MODELS]
    facts = Measured(
        data_signal=max(skill(each.left_out, task) for each in found)
        if task.classes
        else signal(task, seed),
        data_signal_error=skill_error(task),
    )
    if validation is None:
        return facts
    is_enough = len(validation.x) >= 2 * NEIGHBOURS
    return facts | Measured(
        data_reference=max(skill(each.others, validation) for each in found),
        data_signal_validation=signal(validation, seed) if is_enough else None,
    )


def signal(task: Task, seed: int = 0) -> float:
    """The best skill on rows that were left out, for ranks where labels are numbers."""
    if not task.classes:
        task = task._replace(y=rankdata(task.y, axis=0) / len(task.y))
    return max(skill(model(task, task.x[:1], seed).left_out, task) for model in MODELS)


def neighbours(task: Task, others: np.ndarray, seed: int = 0, standardize: bool = True) -> Answers:
    """The class that most of the nearest rows have, or the mean of their numbers."""
    scale, x = _standardized(task.x) if standardize else (lambda other: other, task.x)
    tree = NearestNeighbors(n_neighbors=NEIGHBOURS + 1).fit(x)
    own = tree.kneighbors(x, return_distance=False)
    # A row is its own neighbour, unless others are exactly like it.
    is_self = own == np.arange(len(x))[:, None]
    is_self[~is_self.any(1), -1] = True
    left_out = own[~is_self].reshape(len(x), NEIGHBOURS)
    near = tree.kneighbors(scale(others), NEIGHBOURS, return_distance=False)
    return Answers(_vote(task.y[left_out], task.classes), _vote(task.y[near], task.classes))


def linear(task: Task, others: np.ndarray, seed: int = 0) -> Answers:
    """Ridge regression; ŷ of a row left out is y − (y − ŷ)/(1 − h)."""
    scale, x = _standardized(task.x)
    y = np.eye(task.classes)[task.y] if task.classes else task.y
    centre = y.mean(0)
    u, s, v = np.linalg.svd(x, full_matrices=False)
    shrink = s / (s**2 + 1.0)
    w = v.T @ (shrink[:, None] * (u.T @ (y - centre)))
    h = ((u**2) @ (shrink * s)) + 1.0 / len(x)
    left_out = y - (y - centre - x @ w) / np.maximum(1.0 - h, 1e-6)[:, None]
    said = centre + scale(others) @ w
    return Answers(left_out.argmax(1), said.argmax(1)) if task.classes else Answers(left_out, said)


def forest(task: Task, others: np.ndarray, seed: int = 0) -> Answers:
    """Random trees, each with the rows that it did not see."""
    is_class = bool(task.classes)
    kind = RandomForestClassifier if is_class else RandomForestRegressor
    trees = kind(TREES, bootstrap=True, random_state=seed, min_samples_leaf=2)
    y = task.y if is_class or task.y.shape[1] > 1 else task.y[:, 0]
    trees.fit(task.x, y)
    width = len(trees.classes_) if is_class else task.y.shape[1]
    total, unseen = np.zeros((len(y), width)), np.zeros((len(y), 1))
    for tree, rows in zip(trees.estimators_, trees.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(len(y)), rows)
        said = tree.predict_proba(task.x[out]) if is_class else tree.predict(task.x[out])
        total[out] += said.reshape(len(out), width)
        unseen[out] += 1
    if is_class:
        return Answers(trees.classes_[total.argmax(1)], trees.predict(others))
    mean = total / np.maximum(unseen, 1)
    return Answers(mean, trees.predict(others).reshape(len(others), -1))


MODELS: tuple[Callable[[Task, np.ndarray, int], Answers], ...] = (linear, neighbours, forest)


def _standardized(x: np.ndarray) -> tuple[Callable[[np.ndarray], np.ndarray], np.ndarray]:
    mean, std = x.mean(0), x.std(0)
    std = np.where(std > 1e-12 * np.abs(x).max(initial=1e-300), std, 1.0)

    def scale(other: np.ndarray) -> np.ndarray:
        return (other - mean) / std

    return scale, scale(x)


def _vote(near: np.ndarray, classes: int) -> np.ndarray:
    """Of the labels of near rows, [n, neighbours] or [n, neighbours, outputs]."""
    if not classes:
        return near.mean(1)
    return np.stack([(near == c).sum(1) for c in range(classes)], 1).argmax(1)
