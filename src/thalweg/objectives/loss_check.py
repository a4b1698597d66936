"""Do the functions of a loss fit together? They are looked at once, at targets of the problem.

For m targets and k scores z₁ < … < z_k around 0 and around each target, a convex ℓ with ℓ″ ≤ γ has

    (ℓ(z) − ℓ(z − h))/h ≤ ℓ′(z) ≤ (ℓ(z + h) − ℓ(z))/h          slope is the derivative of value
    0 ≤ ℓ′(zⱼ₊₁) − ℓ′(zⱼ) ≤ γ(zⱼ₊₁ − zⱼ)                       value is convex, bound is one
    ℓ(z) + ℓ*(ℓ′(z)) = zℓ′(z)                                  conjugate is that of value
    ℓ*(θ) ≥ zθ − ℓ(z) for θ beyond all slopes met, far z       and infinite outside its domain

All of them up to rounding, and ten thousandths: a false alarm costs more trust than an error that
differences cannot resolve.

Cost: a dozen calls with some thousand samples.
"""

from __future__ import annotations

import numpy as np

from thalweg.core.errors import InputError
from thalweg.objectives.differences import EPS
from thalweg.objectives.own_loss import Function, Loss, around, unit_of

TARGETS, SCORES = 40, 24  # m and k
SPREADS = (0.1, 1.0, 3.0)  # of the scores, in units of the targets
CLOSE = 1e-4  # by which two computations of a slope may differ, of its size
CURVED = 1e-3  # and of a curvature, of γ
FINE = 1e-2  # units: a longer step does not tell one
CONJUGATE = 1e-6  # and of a conjugate, of the terms it is made of
ULPS = 64.0 * EPS  # of the sizes of terms, that a function may be off by
FAR = 1e4  # units: a score from which θz − ℓ(z) shows whether it is bounded
OUTSIDE = 0.5  # of the range of slopes, that a θ lies beyond it
WAY_OUT = "correct one of the two, or pass check=False to trust them"


def check_loss(loss: Loss, y: np.ndarray) -> None:
    """Raise if the functions of `loss` do not fit together at some of the targets `y`."""
    if not loss.check:
        return
    unit = unit_of(y)
    z, y = _places(y, unit)
    values, slopes = loss.values(z, y), loss.slopes(z, y)
    _refuse(loss, "value", ~np.isfinite(values), values, z, y, "finite")
    _refuse(loss, "slope", ~np.isfinite(slopes), slopes, z, y, "finite")
    least = -EPS * float(np.abs(values).max())
    advice = "add what only depends on y, which changes no minimizer"
    _refuse(loss, "value", values < least, values, z, y, "at least 0", advice)
    _check_slopes(loss, z, y, values, slopes, unit)
    _check_bends(loss, z, y, slopes)
    if loss.has_curvature:
        _check_curvatures(loss, z, y, slopes, unit)
    if loss.has_conjugate:
        _check_conjugates(loss, z, y, values, slopes)
        _check_domain(loss, y, slopes, unit)


def _places(y: np.ndarray, unit: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores and targets, float64[m·k] each, the scores of a target one after the other, rising."""
    some = y[np.linspace(0, y.size - 1, min(y.size, TARGETS)).astype(np.int64)]
    draws = np.random.default_rng(0).standard_normal((some.size, SCORES))
    z = unit * draws * np.resize(SPREADS, SCORES)
    z[:, ::2] += some[:, None]  # half of them around the target
    return np.sort(z, axis=1).ravel(), np.repeat(some, SCORES)


def _check_slopes(
    loss: Loss, z: np.ndarray, y: np.ndarray, values: np.ndarray, slopes: np.ndarray, unit: float
) -> None:
    left, right, h = _sides(loss.values, values, z, y, unit)
    noise = ULPS * (np.abs(values) + np.abs(z * slopes)) / h
    noise += CLOSE * (np.abs(slopes) + loss.bound * h)
    low, high = np.minimum(left, right), np.maximum(left, right)
    off = (slopes < low - noise) | (slopes > high + noise)
    if np.any(off):
        i = int(np.argmax(np.where(off, np.maximum(low - slopes, slopes - high), -np.inf)))
        raise InputError(
            f"slope of the loss {loss.name!r} must be the derivative of value in z, got "
            f"{slopes[i]:.6g} at z = {z[i]:.6g}, y = {y[i]:g}, where differences of value give "
            f"{0.5 * (left[i] + right[i]):.6g}: {WAY_OUT}"
        )


def _check_bends(loss: Loss, z: np.ndarray, y: np.ndarray, slopes: np.ndarray) -> None:
    """Slopes of one target rise, and no faster than the bound."""
    at, s = z.reshape(-1, SCORES), slopes.reshape(-1, SCORES)
    ahead, rise = np.diff(at, axis=1), np.diff(s, axis=1)
    noise = CLOSE**2 * float(np.abs(s).max())
    if np.any(rise < -noise):
        i, j = np.unravel_index(int(np.argmin(rise)), rise.shape)
        raise InputError(
            f"value of the loss {loss.name!r} must be convex in z, got a slope that falls from "
            f"{s[i, j]:.6g} at z = {at[i, j]:.6g} to {s[i, j + 1]:.6g} at {at[i, j + 1]:.6g}: "
            "tw.Objective takes functions that are not"
        )
    excess = rise - loss.bound * (1.0 + CLOSE) * ahead
    if np.any(excess > noise):
        i, j = np.unravel_index(int(np.argmax(excess)), rise.shape)
        raise InputError(
            f"bound of the loss {loss.name!r} must be at least the largest curvature, got "
            f"{loss.bound:g}, where the slope rises by {rise[i, j] / ahead[i, j]:.6g} a unit at "
            f"z = {at[i, j]:.6g}: give a larger bound"
        )


def _check_curvatures(
    loss: Loss, z: np.ndarray, y: np.ndarray, slopes: np.ndarray, unit: float
) -> None:
    """ℓ″ lies between the differences of slopes on either side, which differ at a kink."""
    left, right, h = _sides(loss.slopes, slopes, z, y, unit)
    found = loss.curvatures(z, y)
    noise = CURVED * loss.bound + ULPS * (np.abs(slopes) + loss.bound * np.abs(z)) / h
    off = np.maximum(np.minimum(left, right) - found, found - np.maximum(left, right)) - noise
    off = np.where(h <= FINE * unit, off, 0.0)
    if np.any(~(off <= 0.0)):
        i = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
        raise InputError(
            f"curvature of the loss {loss.name!r} must be the derivative of slope in z, got "
            f"{found[i]:.6g} at z = {z[i]:.6g}, y = {y[i]:g}, where differences give "
            f"{0.5 * (left[i] + right[i]):.6g}: {WAY_OUT}"
        )


def _sides(
    function: Function, here: np.ndarray, z: np.ndarray, y: np.ndarray, unit: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Differences of a function that is `here` at z, to either side, and how far those go."""
    down, up = around(z, unit)
    left, right = (here - function(down, y)) / (z - down), (function(up, y) - here) / (up - z)
    return left, right, up - z


def _check_conjugates(
    loss: Loss, z: np.ndarray, y: np.ndarray, values: np.ndarray, slopes: np.ndarray
) -> None:
    found, expected = loss.conjugates(slopes, y), z * slopes - values
    noise = CONJUGATE * (np.abs(values) + np.abs(z * slopes) + float(np.abs(values).mean()))
    off = ~(np.abs(found - expected) <= noise)
    if np.any(off):
        i = int(np.argmax(off))
        raise InputError(
            f"conjugate of the loss {loss.name!r} must be zθ − value at θ = slope(z, y), got "
            f"{found[i]:.6g} at θ = {slopes[i]:.6g}, y = {y[i]:g}, where that is "
            f"{expected[i]:.6g}: correct it, or leave it out and have no duality gap"
        )


def _check_domain(loss: Loss, y: np.ndarray, slopes: np.ndarray, unit: float) -> None:
    """Beyond the slopes that were met, ℓ* is above every θz − ℓ(z), or infinite."""
    y, s = y[::SCORES], slopes.reshape(-1, SCORES)
    margin = OUTSIDE * np.maximum(np.ptp(s, axis=1), EPS)
    for theta in (s[:, -1] + margin, s[:, 0] - margin):
        found = loss.conjugates(theta, y)
        for z in (y - FAR * unit, y, y + FAR * unit):
            least = theta * z - loss.values(z, y)
            noise = CONJUGATE * (np.abs(theta * z) + np.abs(found))
            off = np.isfinite(least) & ~(found >= least - np.where(np.isfinite(noise), noise, 0.0))
            if np.any(off):
                i = int(np.argmax(off))
                raise InputError(
                    f"conjugate of the loss {loss.name!r} must be at least zθ − value for every z, "
                    f"got {found[i]:.6g} at θ = {theta[i]:.6g}, y = {y[i]:g}, where z = {z[i]:.3g} "
                    f"gives {least[i]:.6g}: return np.inf outside its domain"
                )


def _refuse(
    loss: Loss,
    role: str,
    is_bad: np.ndarray,
    found: np.ndarray,
    z: np.ndarray,
    y: np.ndarray,
    condition: str,
    advice: str = "every score must have a value",
) -> None:
    if np.any(is_bad):
        i = int(np.argmax(is_bad))
        raise InputError(
            f"{role} of the loss {loss.name!r} must be {condition}, got {found[i]:.6g} at "
            f"z = {z[i]:.6g}, y = {y[i]:g}: {advice}"
        )
