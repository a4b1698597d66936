"""How the labels are spread.

data_classes        K, 0 where labels are numbers
data_largest_share  of the most frequent class
data_smallest_share of the rarest class that occurs
data_rarest         rows that it has
target_wildest      for numbers: the largest distance from the median, in units of the
                    median distance
"""

from __future__ import annotations

import numpy as np

from thalweg.doctor.nets.facts.measured import Measured
from thalweg.doctor.nets.facts.task import Task


def labels(task: Task) -> Measured:
    """Of training rows."""
    if not task.classes:
        distance = np.abs(task.y - np.median(task.y, 0))
        typical = float(np.median(distance))
        wildest = float(distance.max()) / typical if typical > 0 else 0.0
        return Measured(data_classes=0.0, target_wildest=wildest)
    counts = np.bincount(task.y)
    counts = counts[counts > 0]
    return Measured(
        data_classes=float(task.classes),
        data_largest_share=float(counts.max() / counts.sum()),
        data_smallest_share=float(counts.min() / counts.sum()),
        data_rarest=float(counts.min()),
    )
