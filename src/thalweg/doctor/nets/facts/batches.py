"""What the loop hands to the network: are samples and labels those of the data, still in pairs?

Batches seen at looks are compared with the data, row by row.

    batch_known       share of batch rows that stand in the data as they are
    batch_moved       share of those whose label is another than in the data
    batch_skill       skill of the five nearest rows of the data in telling the labels of the
                      others, which were augmented, or of which the data given is a sample, in
                      standardized or raw columns, whichever tell more; to be compared with
    data_neighbours   that skill within the data, each row left out

Labels that were drawn in another order move. An augmentation that makes another class of a sample
leaves it where other labels live.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from thalweg.doctor.nets.facts.measured import Measured
from thalweg.doctor.nets.facts.references import neighbours
from thalweg.doctor.nets.facts.task import Task, skill, task_of

MOST = 512  # pairs that are kept


class Batches:
    """Pairs seen at looks, beside the data."""

    def __init__(self, x: torch.Tensor, y: torch.Tensor, rng: np.random.Generator) -> None:
        self.task = task_of(x, y, rng)
        self._rng = rng
        self._labels: dict[bytes, set[Any]] = {}
        for row, label in zip(self.task.x, self.task.y, strict=True):
            self._labels.setdefault(row.tobytes(), set()).add(label.tobytes())
        self._known, self._moved, self._seen = 0, 0, 0
        self._others: list[Task] = []

    def add(self, x: Any, y: Any) -> None:
        """One batch; passed over where it has another shape than the data."""
        if not isinstance(x, torch.Tensor) or not isinstance(y, torch.Tensor):
            return
        if len(x) != len(y) or x[0].numel() != self.task.x.shape[1]:
            return
        given = task_of(x, y, self._rng)
        if bool(given.classes) != bool(self.task.classes):
            return
        known = np.zeros(len(given.x), bool)
        for k, (row, label) in enumerate(zip(given.x, given.y, strict=True)):
            labels = self._labels.get(row.tobytes())
            if labels is not None:
                known[k] = True
                self._moved += label.tobytes() not in labels
        self._known += int(known.sum())
        self._seen += len(known)
        if sum(len(part.x) for part in self._others) < MOST and not known.all():
            self._others.append(Task(given.x[~known], given.y[~known], self.task.classes))

    def facts(self) -> Measured:
        """So far; nothing before the first batch."""
        if not self._seen:
            return Measured()
        facts = Measured(
            batch_known=self._known / self._seen, batch_moved=self._moved / max(self._known, 1)
        )
        if self._others and np.isfinite(self.task.x).all() and len(self.task.x) > 10:
            x = np.concatenate([part.x for part in self._others])
            y = np.concatenate([part.y for part in self._others])
            given = Task(x, y, self.task.classes)
            skills = [
                (skill(found.others, given), skill(found.left_out, self.task))
                for found in (neighbours(self.task, x, standardize=yes) for yes in (True, False))
            ]
            best, among = max(skills)
            facts |= Measured(batch_skill=best, data_neighbours=among)
        return facts
