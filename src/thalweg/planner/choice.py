"""Which method fits an objective that is not a data problem: by what it offers, not by a pilot.

a penalty with a proximal step     fista      the only one that takes it
gradients with noise               adam       steps that do not follow the noise's scale
otherwise                          lbfgs      one gradient a step, no tuning
"""

from __future__ import annotations

from typing import Any

from thalweg.core.objective import is_composite, known
from thalweg.methods.adam import Adam
from thalweg.methods.fista import FISTA
from thalweg.methods.lbfgs import LBFGS
from thalweg.methods.method import Method


def choose(objective: Any) -> Method:
    """The method that `method="auto"` stands for."""
    if is_composite(objective):
        return FISTA()
    if known(objective, "exact") is not None:
        return Adam(schedule="1/sqrt(t)")
    return LBFGS()
