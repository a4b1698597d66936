"""A line through a point: what a line search looks at.

    φ(α) = f(w + αp)                φ′(α) = ∇f(w + αp)ᵀp

A trial costs one evaluation of f. On a linear problem the first one leaves its scores behind, and
from then on φ and φ′ come out of scores in O(n), without a look at the features; the point that is
accepted costs one more evaluation, unless it was the first.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from thalweg.core.vector import dot
from thalweg.methods.problem import Point, Problem


class Trial(NamedTuple):
    """A look at the line."""

    step: float  # α
    value: float  # φ(α)
    slope: float  # φ′(α)
    point: Point | None  # w + αp with its gradient, where the look was an evaluation


class Line:
    """φ along `direction` from `start`."""

    def __init__(self, problem: Problem, start: Point, direction: np.ndarray) -> None:
        self.start = start
        self.direction = direction
        self._problem = problem
        # Slopes leave the range of float32 before their factors do.
        self._along = direction.astype(np.float64, copy=False)
        self.slope = dot(start.gradient, self._along)  # φ′(0)
        self._ahead: tuple[float, np.ndarray] | None = None  # a step and the scores there
        self._from_scores: Any = None

    def at(self, step: float) -> np.ndarray:
        """w + αp."""
        return self.start.w + step * self.direction

    def look(self, step: float) -> Trial:
        """φ and φ′ at α = `step`."""
        with np.errstate(all="ignore"):  # a trial may overflow, which the search judges
            if self._ahead is not None:
                return self._look_at_scores(step, *self._ahead)
            point = self._problem.point(self.at(step))
            trial = Trial(step, point.value, dot(point.gradient, self._along), point)
        if point.scores.size and math.isfinite(point.value):
            self._ahead = step, point.scores
        return trial

    def glance(self, step: float) -> Trial:
        """φ at α = `step`, without its slope where that would cost a gradient."""
        if self.start.scores.size:
            return self.look(step)
        return Trial(step, self._problem.value(self.at(step)), math.nan, None)

    def arrive(self, trial: Trial) -> Point:
        """The point of a trial."""
        return self._problem.point(self.at(trial.step)) if trial.point is None else trial.point

    def _look_at_scores(self, step: float, first: float, ahead: np.ndarray) -> Trial:
        if self._from_scores is None:
            w, _, _, z = self.start
            self._from_scores = self._problem.smooth.line(
                w, self.direction, z, self.slope, first, ahead
            )
        self._problem.values += 1
        value, slope = self._from_scores.value_and_slope(step)
        return Trial(step, value, slope, None)
