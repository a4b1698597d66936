"""What is left of a run when it has ended: all that its explanation may look at."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from thalweg.core.certificate import Certificate
from thalweg.core.outcome import Outcome
from thalweg.core.trace import Trace
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem


class Ending(NamedTuple):
    """What is left of a run when it has ended."""

    outcome: Outcome
    problem: Problem
    method: Method
    state: Any  # the last one
    best: np.ndarray  # w at the lowest value, float[dim]
    trace: Trace
    certificate: Certificate
    checkpoint: str | None  # file that the run can go on from

    @property
    def lbfgs_is_another_way(self) -> bool:
        """Whether lbfgs takes this objective, and is of another kind than the method that ran."""
        is_refused = self.problem.is_composite or self.problem.is_noisy
        is_akin = self.method.is_second_order or self.method.learns_curvature
        return not (is_refused or is_akin)
