"""What is to be learnt: samples and labels as arrays, and how good an answer is.

    classes    score = mean over classes of the share of its samples that are told right
    numbers    score = R² = 1 − Σ(y − ŷ)²/Σ(y − ȳ)², cut to [−1, 1]
    skill      0 for an answer that ignores the sample, 1 for a perfect one:
               (score − 1/K)/(1 − 1/K) for K classes, max(R², 0) for numbers

Labels are classes where they are integers, rows with a single one, or a column of zeros and ones.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch

from thalweg.core.scores import mean_recall, r_squared, recalls
from thalweg.doctor.nets.instruments.targets import kind_of

MOST_ROWS = 2000  # that are looked at
MOST_ENTRIES = 4_000_000  # in them: fewer rows of large images, 64 at least


class Task(NamedTuple):
    """Samples as rows of numbers, and their labels."""

    x: np.ndarray  # float64[n, d]
    y: np.ndarray  # int64[n] of 0 … K−1, or float64[n, outputs]
    classes: int  # K; 0 for numbers


def task_of(x: torch.Tensor, y: torch.Tensor, rng: np.random.Generator) -> Task:
    """All rows, or 2,000 of them."""
    rows = slice(None) if len(x) <= MOST_ROWS else rows_of(len(x), MOST_ROWS, rng)
    flat = _array(x[rows]).reshape(len(x[rows]), -1)
    labels = y[rows].detach().cpu()
    kind = kind_of(labels)
    if kind == "one-hot":
        labels, kind = labels.argmax(1), "classes"
    if kind == "zero-one" and labels[0].numel() == 1:
        labels, kind = labels.reshape(-1).long(), "classes"
    if kind != "classes" or labels.ndim != 1:
        return Task(flat, _array(labels).reshape(len(flat), -1), 0)
    return Task(flat, labels.numpy().astype(np.int64), int(labels.max()) + 1)


def most_rows(x: torch.Tensor) -> int:
    """How many rows of `x` are looked at."""
    columns = max(1, x[0].numel())
    return min(MOST_ROWS, max(64, MOST_ENTRIES // columns))


def rows_of(n: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """At most `most` of n rows, in their order."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def score(said: np.ndarray, task: Task) -> float:
    """Of answers: classes int[n], or numbers float[n, outputs]."""
    if task.classes:
        return mean_recall(task.y, said)
    varies = bool(np.ptp(task.y, axis=0).any())  # else there is nothing to be told
    return max(-1.0, r_squared(task.y, said)) if varies else -1.0


def skill(said: np.ndarray, task: Task) -> float:
    """The score from that of an answer that ignores the sample, 0, to a perfect one, 1."""
    if not task.classes:
        return max(0.0, score(said, task))
    chance = 1.0 / len(np.unique(task.y))
    return (score(said, task) - chance) / (1.0 - chance) if chance < 1 else 0.0


def skill_error(task: Task) -> float:
    """Standard error of the skill of answers that ignore the sample."""
    if not task.classes:
        return math.sqrt(2.0 / max(len(task.y), 1))
    counts = np.bincount(task.y)
    counts = counts[counts > 0]
    p = 1.0 / len(counts)
    error = math.sqrt(float((p * (1 - p) / counts).sum())) / len(counts)
    return error / (1.0 - p) if len(counts) > 1 else 0.0


def recalls_of(said: np.ndarray, task: Task) -> np.ndarray:
    """The share of each class that is told right, of the classes that occur."""
    return recalls(task.y, said)


def answers(output: torch.Tensor, task: Task) -> np.ndarray:
    """What a network's outputs say, as classes or numbers."""
    z = np.nan_to_num(_array(output).reshape(len(output), -1), posinf=1e30, neginf=-1e30)
    if not task.classes:
        return z
    if z.shape[1] > 1:
        return z.argmax(1)
    if task.classes > 2:  # class numbers on one line
        return np.clip(np.rint(z[:, 0]), 0, task.classes - 1).astype(np.int64)
    is_share = z.min() >= 0.0 and z.max() <= 1.0
    return (z[:, 0] > (0.5 if is_share else 0.0)).astype(np.int64)


def _array(t: torch.Tensor) -> np.ndarray:
    return t.detach().to("cpu", torch.float64).numpy()
