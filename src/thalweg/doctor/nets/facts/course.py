"""How a training went, in a few numbers that many symptoms ask for.

    first, last     loss at the beginning, and median of the last tenth of the steps
    best            the least of such medians
    constant, reachable
                    loss of an output that ignores the sample, and the least there is (see
                    `thalweg.doctor.nets.facts.loss`); NaN where they were not measured
    learnt          (constant − last)/(constant − reachable): 0 for nothing, 1 for all; from the
                    first loss where no constant's is known

and whether it failed:

    diverged        the loss ended, or ends above twice what it began with and what a constant gets
    stuck           learnt < 0.1
    behind          on validation rows its skill is more than 0.15 below that of a simple model

`gap` is how much better its score is on training rows than on validation rows.

A symptom that harms nothing is no reason to act: most of them act only where training failed.
Before the first step nothing has.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thalweg.core.record import Record

BEHIND = 0.15
GAP = 0.12
STUCK = 0.1
WINDOWS = 10


class Course(NamedTuple):
    """The loss over a training, and what came of it."""

    first: float
    last: float
    best: float
    constant: float
    reachable: float
    learnt: float
    diverged: bool
    stuck: bool
    behind: float  # how far below a simple model; 0 where it is not, or nothing is known
    gap: float  # between training and validation score; 0 where nothing is known

    @property
    def failed(self) -> bool:
        """Whether it went wrong in any way that can be seen on training rows or beside others."""
        return self.diverged or self.stuck or self.behind > BEHIND


def course(record: Record) -> Course:
    """Of a record."""
    s = record.scalars
    losses = record["loss"]
    is_over = int(s.get("steps", len(losses))) > 0
    finite = losses[np.isfinite(losses)]
    constant, reachable = (number(record, f"{name}_loss") for name in ("constant", "reachable"))
    if not len(finite):
        return Course(math.nan, math.nan, math.nan, constant, reachable, 0.0, True, True, 0.0, 0.0)
    windows = [np.median(part) for part in np.array_split(finite, min(WINDOWS, len(finite)))]
    first = number(record, "first_loss")
    first = float(finite[0]) if math.isnan(first) else first
    last, best = float(windows[-1]), float(min(windows))
    top, bottom = first, min(0.0, best)
    if not math.isnan(constant):
        top, bottom = constant, reachable
    learnt = (top - last) / (top - bottom) if top > bottom else 0.0
    limit = 2.0 * max(first, top)
    diverged = bool(s["bad_step"]) or (is_over and last > limit > 0)
    return Course(
        first, last, best, constant, reachable, learnt, diverged, is_over and learnt < STUCK,
        _behind(record), _gap(record),
    )  # fmt: skip


def trained_layers(record: Record) -> list[int]:
    """Places of layers with weights that are trained, in the order of the forward pass."""
    return [k for k, layer in enumerate(record.layers) if layer.trainable and layer.shape]


def number(record: Record, name: str) -> float:
    """A scalar, NaN where it was not measured."""
    return float(record.scalars.get(name, math.nan))


def _behind(record: Record) -> float:
    own, other = number(record, "validated_skill"), number(record, "data_reference")
    return max(0.0, other - own) if not math.isnan(own + other) else 0.0


def _gap(record: Record) -> float:
    trained, validated = number(record, "trained_score"), number(record, "validated_score")
    return trained - validated if not math.isnan(trained + validated) else 0.0
