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
from typing import NamedTuple

import numpy as np

from thalweg.methods.problem import Problem
from thalweg.methods.rounding import rounding_of

DECREASE = 1e-4  # c₁
CURVATURE = 0.9  # c₂
TRIALS = 40


class Point(NamedTuple):
    """A trial on the line."""

    step: float  # α
    value: float  # φ(α)
    slope: float  # φ′(α)
    w: np.ndarray  # w + αp, float[dim]
    gradient: np.ndarray  # ∇f(w + αp), float[dim]


def first_trial(gradient: np.ndarray) -> float:
    """The first α along −∇f when nothing is known of the curvature: a move of length at most 1."""
    return 1.0 / max(1.0, float(np.linalg.norm(gradient.astype(np.float64))))


def strong_wolfe(
    problem: Problem,
    w: np.ndarray,
    value: float,
    gradient: np.ndarray,
    direction: np.ndarray,
    first: float,
) -> Point | None:
    """A point on the ray that satisfies both conditions, starting with the trial α = `first`.

    If the trials run out, the best point that lies lower beyond rounding; None if there is none, or
    if `direction` does not descend.
    """
    along = direction.astype(np.float64, copy=False)  # slopes leave float32 before their factors do
    start = Point(0.0, value, float(gradient @ along), w, gradient)
    if not start.slope < 0.0:
        return None
    noise = rounding_of(value, w.dtype)

    def look(step: float) -> Point:
        with np.errstate(all="ignore"):  # a trial may overflow, which is judged below
            at = w + step * direction
            found, slope_vector = problem.value_and_gradient(at)
            return Point(step, found, float(slope_vector @ along), at, slope_vector)

    def decreases(point: Point) -> bool:
        if point.value <= value + DECREASE * point.step * start.slope:
            return True
        # Equal to rounding: a parabola through the slopes stands in for the values.
        is_level = abs(point.value - value) <= noise
        return is_level and point.slope <= (2 * DECREASE - 1) * start.slope

    low, high = start, None  # low: the best so far; high: the other end of the interval, if any
    step = first
    for _ in range(TRIALS):
        point = look(step)
        is_defined = math.isfinite(point.value) and math.isfinite(point.slope)
        is_above_low = point.value >= low.value + noise and low.step > 0.0
        if not is_defined or not decreases(point) or is_above_low:
            high = point
        elif abs(point.slope) <= -CURVATURE * start.slope:
            return point
        else:
            forward = high.step - low.step if high is not None else 1.0
            if point.slope * forward >= 0.0:
                high = low
            previous, low = low, point
            if high is None:
                step = _beyond(previous, low)
                continue
        if abs(high.step - low.step) <= np.finfo(w.dtype).eps * max(abs(low.step), abs(high.step)):
            break
        step = _between(low, high)
    return low if low.value < value - noise else None


def _beyond(previous: Point, point: Point) -> float:
    """The next trial while the function still falls: the cubic's minimizer, two to ten times on."""
    stride = point.step - previous.step
    guess = _cubic(previous, point)
    if not math.isfinite(guess) or guess <= point.step:
        guess = point.step + 4.0 * stride
    return min(max(guess, point.step + stride), point.step + 9.0 * stride)


def _between(low: Point, high: Point) -> float:
    """The next trial inside an interval: the cubic's minimizer, off both ends."""
    width = high.step - low.step
    if not (math.isfinite(high.value) and math.isfinite(high.slope)):
        return low.step + 0.2 * width  # beyond the domain: come back fast
    guess = _cubic(low, high)
    if not math.isfinite(guess):
        return low.step + 0.5 * width
    left, right = sorted((low.step + 0.05 * width, high.step - 0.05 * width))
    return min(max(guess, left), right)


def _cubic(a: Point, b: Point) -> float:
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
