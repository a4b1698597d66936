"""Is this the gradient of that function? Differences decide, with every benefit of the doubt.

A slope g·u along a direction u is right when it agrees with (f(w + tu) − f(w − tu))/2t within ten
times the error that two step lengths reveal, plus 10⁻⁴ of its size. Functions that are badly
scaled, computed in few digits, or kinked at w get a ladder of steps before they are called wrong:
a false alarm costs more trust than a missed error that differences cannot resolve.

Cost: four values a direction for a gradient that is right; one direction per coordinate up to 50
variables, a dozen random ones beyond.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from thalweg.core.errors import InputError
from thalweg.objectives.differences import EPS, STEP, central, scales

ONE_BY_ONE = 50  # up to so many variables a gradient is checked in each of them
DIRECTIONS = 12  # and in more, along so many random directions
LADDER = STEP * 10.0 ** np.arange(-3, 4)  # steps tried before a gradient is called wrong


def tolerant(f: Callable[[np.ndarray], float]) -> Callable[[np.ndarray], float]:
    """f that is NaN where it has no value: a check may step over an edge that a run never nears."""

    def value(w: np.ndarray) -> float:
        try:
            with np.errstate(all="ignore"):
                return f(w)
        except InputError:
            raise
        except (ArithmeticError, ValueError):  # as math.log and math.sqrt raise
            return np.nan

    return value


def check_gradient(f: Callable[[np.ndarray], float], gradient: np.ndarray, w: np.ndarray) -> None:
    """Raise if `gradient` is not that of `f` at `w`, naming the coordinate furthest off."""
    units = scales(w)
    if w.size <= ONE_BY_ONE:
        directions = np.diag(units)
    else:
        draws = np.random.default_rng(0).standard_normal((DIRECTIONS, w.size))
        directions = draws / np.linalg.norm(draws, axis=1, keepdims=True) * units
    wrong = [u for u in directions if not _slope_is_right(f, w, u, float(gradient @ u))]
    if not wrong:
        return

    def coordinate_off(u: np.ndarray) -> int:
        """By halving the direction, towards the half that disagrees more."""
        while np.count_nonzero(u) > 1:
            halves = [np.zeros_like(u), np.zeros_like(u)]
            for half, indices in zip(halves, np.array_split(np.flatnonzero(u), 2), strict=True):
                half[indices] = u[indices]
            u = max(halves, key=lambda half: abs(gradient @ half - central(f, w, half, STEP)))
        return int(np.flatnonzero(u)[0])

    found = {}
    for i in map(coordinate_off, wrong):
        unit = np.zeros_like(w)
        unit[i] = units[i]
        found[i] = _trusted_slope(f, w, unit)[0] / units[i]
    i = max(found, key=lambda i: abs(gradient[i] - found[i]))
    raise InputError(
        f"gradient must be the gradient of value, got {gradient[i]:.6g} in coordinate {i} at "
        f"w[{i}] = {w[i]:.6g}, where differences of value give {found[i]:.6g}: correct it, leave "
        "it out to have it approximated, or pass check_gradient=False"
    )


def _slope_is_right(
    f: Callable[[np.ndarray], float], w: np.ndarray, u: np.ndarray, slope: float
) -> bool:
    """Whether `slope` may be the derivative of f along u, as far as differences can tell."""

    def agrees(numeric: float, error: float, kink: float = 0.0) -> bool:
        # 1e-4 is for gradients that are differences themselves, or computed in float32.
        allowance = kink + 10 * error + 1e-4 * max(abs(slope), abs(numeric))
        return abs(slope - numeric) <= allowance

    fine, coarse = (central(f, w, u, t) for t in (STEP, 2 * STEP))
    if agrees(fine, abs(fine - coarse) + EPS * abs(f(w)) / STEP):
        return True
    # Most gradients end above, at four values. The others get every chance.
    numeric, error = _trusted_slope(f, w, u)
    return not np.isfinite(error) or agrees(numeric, error, _kink(f, w, u))


def _trusted_slope(
    f: Callable[[np.ndarray], float], w: np.ndarray, u: np.ndarray
) -> tuple[float, float]:
    """The derivative of f along u from the step where it is best known, and about its error.

    f may be scaled, or computed in so few digits, that ε^⅓ is a bad step.
    """
    values = np.array([(f(w + t * u), f(w - t * u)) for t in LADDER])
    slopes = (values[:, 0] - values[:, 1]) / (2 * LADDER)
    with np.errstate(over="ignore"):
        single = np.array_equal(values, values.astype(np.float32))  # f was computed in float32
    eps = np.finfo(np.float32 if single else np.float64).eps
    changes = np.abs(np.diff(slopes))
    errors = changes[:-1] + changes[1:] + eps * np.abs(values[1:-1]).max(axis=1) / LADDER[1:-1]
    # Relative to the slope: steps that are far too long give slopes, and changes, near zero.
    rungs = [
        (float(error / (abs(slope) + error)) if error else 0.0, float(error), float(slope))
        for error, slope in zip(errors, slopes[1:-1], strict=True)
        if np.isfinite(error)
    ]
    _, error, slope = min(rungs, default=(np.nan, np.nan, np.nan))
    return slope, error


def _kink(f: Callable[[np.ndarray], float], w: np.ndarray, u: np.ndarray) -> float:
    """Half the jump of the slope at w, 0 where f is smooth: any slope within it is honest."""
    here = f(w)
    jump, nearer = (abs(f(w + t * u) - 2 * here + f(w - t * u)) / t for t in (STEP, STEP / 10))
    # What curvature adds to the jump fades with the step, rounding grows as it shrinks.
    is_kink = nearer > 0.5 * jump and jump > 1e3 * EPS * abs(here) / STEP
    return 0.5 * jump if is_kink else 0.0
