"""How a training went, in a few numbers that many symptoms ask for.

    first, last     loss at the beginning, and median of the last tenth of the steps
    best            the least of such medians
    constant, reachable
                    loss of an output that ignores the sample, and the least there is (see
                    `thalweg.doctor.nets.facts.loss`); None where they were not measured
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

from thalweg.doctor.nets.facts.measured import Measured

BEHIND = 0.15
GAP = 0.12
STUCK = 0.1
WINDOWS = 10


class Course(NamedTuple):
    """The loss over a training, and what came of it."""

    first: float  # NaN, as the next two, where no loss was finite
    last: float
    best: float
    constant: float | None
    reachable: float | None
    learnt: float
    diverged: bool
    stuck: bool
    behind: float  # how far below a simple model; 0 where it is not, or nothing is known
    gap: float  # between training and validation score; 0 where nothing is known

    @property
    def failed(self) -> bool:
        """Whether it went wrong in any way that can be seen on training rows or beside others."""
        return self.diverged or self.stuck or self.behind > BEHIND


def course(losses: np.ndarray, known: Measured) -> Course:
    """Of the losses of all steps, float64[steps], and what else is known."""
    constant, reachable = known.constant_loss, known.reachable_loss
    finite = losses[np.isfinite(losses)]
    if not len(finite):
        return Course(math.nan, math.nan, math.nan, constant, reachable, 0.0, True, True, 0.0, 0.0)
    windows = [np.median(part) for part in np.array_split(finite, min(WINDOWS, len(finite)))]
    first = float(finite[0]) if known.first_loss is None else known.first_loss
    last, best = float(windows[-1]), float(min(windows))
    top, bottom = first, min(0.0, best)
    if constant is not None and reachable is not None:
        top, bottom = constant, reachable
    learnt = (top - last) / (top - bottom) if top > bottom else 0.0
    is_over = known.steps is None or known.steps > 0
    diverged = bool(known.bad_step) or (is_over and last > 2.0 * max(first, top) > 0)
    return Course(
        first, last, best, constant, reachable, learnt, diverged, is_over and learnt < STUCK,
        max(0.0, _less(known.data_reference, known.validated_skill)),
        _less(known.trained_score, known.validated_score),
    )  # fmt: skip


def _less(one: float | None, other: float | None) -> float:
    """Their difference; 0 where one is not known."""
    return 0.0 if one is None or other is None else one - other
