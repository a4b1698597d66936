"""Strong-Wolfe line search: far enough down, and where the slope has flattened.

Along p from w, with φ(α) = f(w + αp), the search looks for α with

    φ(α) ≤ φ(0) + c₁αφ′(0)          sufficient decrease
    |φ′(α)| ≤ c₂|φ′(0)|             curvature

It walks forward until an interval holds such a point, then narrows that interval by the minimizer
of the cubic through both ends' values and slopes, kept off the ends. Near a minimum, where
φ(α) − φ(0) is lost in rounding, slopes alone decide (the approximate Wolfe condition).

Nocedal & Wright, Numerical Optimization, 2nd ed., Algorithms 3.5 and 3.6;
Hager & Zhang, SIAM J. Optim. 16 (2005), for the approximate condition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thalweg.core.checks import check_count, check_number
from thalweg.methods.line import Line, Trial
from thalweg.methods.problem import Point
from thalweg.methods.rounding import rounding_of
from thalweg.methods.search import Search

DECREASE = 1e-4  # c₁
CURVATURE = 0.9  # c₂
TRIALS = 40


def first_trial(gradient: np.ndarray) -> float:
    """The first α along −∇f when nothing is known of the curvature: a move of length at most 1."""
    return 1.0 / max(1.0, float(np.linalg.norm(gradient.astype(np.float64))))


@dataclass(frozen=True)
class StrongWolfe(Search):
    """A point that is far enough down, and where the slope has flattened.

    A smaller `curvature` asks for a more exact minimum along the line.
    """

    name: ClassVar[str] = "strong-wolfe"
    decrease: float = DECREASE  # c₁
    curvature: float = CURVATURE  # c₂
    trials: int = TRIALS

    def __post_init__(self) -> None:
        check_number("decrease", self.decrease, above=0.0, below=0.5)
        check_number("curvature", self.curvature, above=self.decrease, below=1.0)
        check_count("trials", self.trials)

    def __call__(self, line: Line, first: float) -> Point | None:
        """A point on the line that satisfies both conditions, from the trial α = `first` on.

        If the trials run out, the best point that lies lower beyond rounding; None if there is
        none, or if the line does not descend.
        """
        value, dtype = line.start.value, line.start.w.dtype
        if not line.slope < 0.0:
            return None
        noise = rounding_of(value, dtype)

        def decreases(trial: Trial) -> bool:
            if trial.value <= value + self.decrease * trial.step * line.slope:
                return True
            # Equal to rounding: a parabola through the slopes stands in for the values.
            is_level = abs(trial.value - value) <= noise
            return is_level and trial.slope <= (2 * self.decrease - 1) * line.slope

        low = Trial(0.0, value, line.slope, line.start)  # the best so far
        high: Trial | None = None  # the other end of the interval, if any
        step = first
        for _ in range(self.trials):
            trial = line.look(step)
            is_defined = math.isfinite(trial.value) and math.isfinite(trial.slope)
            is_above_low = trial.value >= low.value + noise and low.step > 0.0
            if not is_defined or not decreases(trial) or is_above_low:
                high = trial
            elif abs(trial.slope) <= -self.curvature * line.slope:
                return line.arrive(trial)
            else:
                forward = high.step - low.step if high is not None else 1.0
                if trial.slope * forward >= 0.0:
                    high = low
                previous, low = low, trial
                if high is None:
                    step = _beyond(previous, low)
                    continue
            width, reach = abs(high.step - low.step), max(abs(low.step), abs(high.step))
            if width <= np.finfo(dtype).eps * reach:
                break
            step = _between(low, high)
        return line.arrive(low) if low.value < value - noise else None


def _beyond(previous: Trial, trial: Trial) -> float:
    """The next trial while the function still falls: the cubic's minimizer, two to ten times on."""
    stride = trial.step - previous.step
    guess = _cubic(previous, trial)
    if not math.isfinite(guess) or guess <= trial.step:
        guess = trial.step + 4.0 * stride
    return min(max(guess, trial.step + stride), trial.step + 9.0 * stride)


def _between(low: Trial, high: Trial) -> float:
    """The next trial inside an interval: the cubic's minimizer, off both ends."""
    width = high.step - low.step
    if not (math.isfinite(high.value) and math.isfinite(high.slope)):
        return low.step + 0.2 * width  # beyond the domain: come back fast
    guess = _cubic(low, high)
    if not math.isfinite(guess):
        return low.step + 0.5 * width
    left, right = sorted((low.step + 0.05 * width, high.step - 0.05 * width))
    return min(max(guess, left), right)


def _cubic(a: Trial, b: Trial) -> float:
    """Minimizer of the cubic with the values and slopes of `a` and `b`; NaN if it has none."""
    width = b.step - a.step
    first = a.slope + b.slope - 3.0 * (a.value - b.value) / (a.step - b.step)
    inside = first * first - a.slope * b.slope
    if not inside >= 0.0:
        return math.nan
    second = math.copysign(math.sqrt(inside), width)
    bottom = b.slope - a.slope + 2.0 * second
    if bottom == 0.0:
        return math.nan
    return b.step - width * (b.slope + second - first) / bottom
