"""Does the answer stand in the question? Columns that are the label, rows in both parts.

    data_copy      the column that is a copy of the label, −1 where none is: as many values as
                   classes, one to each; for numbers, a correlation of 1 to 1e-6
    data_shared    share of validation rows that stand in the training data, less the share of
                   training rows that occur twice there

A column that merely predicts well is no copy: the sign of a measured quantity may be the class.
"""

from __future__ import annotations

import numpy as np

from thalweg.doctor.nets.facts.measured import Measured
from thalweg.doctor.nets.facts.task import Task


def leaks(task: Task, validation: Task | None) -> Measured:
    """Of training rows, and of validation rows where there are some."""
    copy = float(_copy(task))
    if validation is None:
        return Measured(data_copy=copy)
    seen = {row.tobytes() for row in task.x}
    again = 1.0 - len(seen) / len(task.x)
    shared = np.mean([row.tobytes() in seen for row in validation.x])
    return Measured(data_copy=copy, data_shared=max(0.0, float(shared) - again))


def _copy(task: Task) -> int:
    tell = _tells_class if task.classes else _tells_number
    return next((k for k in range(task.x.shape[1]) if tell(task.x[:, k], task.y)), -1)


def _tells_class(column: np.ndarray, y: np.ndarray) -> bool:
    classes = len(np.unique(y))
    values, place = np.unique(column, return_inverse=True)
    if len(values) != classes or classes < 2:
        return False
    return len(np.unique(place * (int(y.max()) + 1) + y)) == classes


def _tells_number(column: np.ndarray, y: np.ndarray) -> bool:
    a, b = column - column.mean(), y[:, 0] - y[:, 0].mean()
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return size > 0 and abs(float(a @ b)) > (1.0 - 1e-6) * size
