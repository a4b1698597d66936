"""Do the functions of a penalty fit together? They are looked at once, at points drawn by chance.

u = prox(v, η) minimises h(u) + ‖u − v‖²/(2η) of a convex h exactly when g = (v − u)/η is one of its
subgradients there:

    h(x) ≥ h(u) + gᵀ(x − u)       for every x                        prox is that of value
    h(½(x + x′)) ≤ ½h(x) + ½h(x′)                                    value is convex
    prox(u, t) = 0  exactly where  dual(u) ≤ t                       dual is the norm of value
    h(u) + h*(g) = uᵀg,   h(x) + h*(g) ≥ xᵀg                         conjugate is that of value

The x are where a wrong step shows: on the way from u to v and to 0, along single coordinates, and
anywhere. A penalty that is not convex fails the first line at some of them.

Cost: some hundred calls with one vector.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from thalweg.core.errors import InputError
from thalweg.objectives.own_penalty import Penalty

STEPS = (0.03, 0.3, 3.0)  # η
SIZES = (0.1, 1.0, 10.0)  # of v
COORDINATES = 12  # that are tried one by one
CLOSE = 1e-7  # by which sides may differ, of the sizes of their terms
EDGE = 1e-3  # of the dual norm, on either side of it
WAY_OUT = "correct one of the two, or pass check=False to trust them"


def check_penalty(penalty: Penalty, shape: tuple[int, ...]) -> None:
    """Raise if the functions of `penalty` do not fit together for coefficients of this shape."""
    if not penalty.check:
        return
    rng = np.random.default_rng(0)
    points = [np.zeros(shape), *(size * rng.standard_normal(shape) for size in SIZES)]
    inside = [penalty.prox(v, 1.0) for v in points]
    for u in inside:
        if not np.isfinite(u).all():
            raise InputError(
                f"prox of the penalty {penalty.name!r} must be finite, got "
                f"{u[~np.isfinite(u)][0]}: {WAY_OUT}"
            )
    for u in [*points, *inside]:
        h = penalty.value(u)
        if not h >= 0.0:
            raise InputError(
                f"value of the penalty {penalty.name!r} must be at least 0, got {h:.6g}: add a "
                "constant, or correct it"
            )
    _check_convex(penalty, [*points, *inside])
    for v in points:
        for step in STEPS:
            _check_prox(penalty, v, step, rng)
    if penalty.has_dual:
        for u in points[1:]:
            _check_dual(penalty, u)


def _check_convex(penalty: Penalty, points: list[np.ndarray]) -> None:
    for x, other in itertools.pairwise(points):
        ends = 0.5 * penalty.value(x) + 0.5 * penalty.value(other)
        middle = penalty.value(0.5 * (x + other))
        if middle > ends + CLOSE * abs(ends):
            raise InputError(
                f"value of the penalty {penalty.name!r} must be convex, got {middle:.6g} half way "
                f"between two points whose mean is {ends:.6g}: nothing is proved of other penalties"
            )


def _check_prox(penalty: Penalty, v: np.ndarray, step: float, rng: np.random.Generator) -> None:
    u = penalty.prox(v, step)
    h = penalty.value(u)
    if not math.isfinite(h):
        raise InputError(
            f"prox of the penalty {penalty.name!r} must return a point that has a value, got one "
            f"with value {h:.6g} for step = {step:g}: {WAY_OUT}"
        )
    g = (v - u) / step
    for x in _places(u, v, rng):
        there, line = penalty.value(x), h + float(np.sum(g * (x - u)))
        sizes = abs(h) + abs(there) + float(np.abs(g * x).sum() + np.abs(g * u).sum())
        if there < line - CLOSE * sizes:
            lower = (line - there) / max(sizes, np.finfo(np.float64).tiny)
            raise InputError(
                f"prox of the penalty {penalty.name!r} must minimise value(u) + ‖u − v‖²/(2·step), "
                f"got a point for step = {step:g} whose (v − u)/step is no subgradient of value: "
                f"it fails by {lower:.2g} of its terms; {WAY_OUT}"
            )
    if penalty.has_conjugate:
        _check_conjugate(penalty, u, h, g)


def _places(u: np.ndarray, v: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Where a wrong step shows."""
    size = max(float(np.abs(v).max()), 1.0)
    places = [np.zeros_like(u), v, 2.0 * u, size * rng.standard_normal(u.shape)]
    for t in (1e-3, 0.1):
        places += [u + t * (v - u), (1.0 - t) * u, u + t * size * rng.standard_normal(u.shape)]
    some = rng.choice(u.size, size=min(COORDINATES, u.size), replace=False)
    for j in some:
        for move in (0.1 * size, -0.1 * size, -float(u.flat[j])):
            x = u.copy()
            x.flat[j] += move
            places.append(x)
    return places


def _check_conjugate(penalty: Penalty, u: np.ndarray, h: float, g: np.ndarray) -> None:
    found, expected = penalty.conjugate(g), float(np.sum(u * g)) - h
    if not abs(found - expected) <= 10.0 * CLOSE * (1.0 + abs(h) + float(np.abs(u * g).sum())):
        raise InputError(
            f"conjugate of the penalty {penalty.name!r} must be uᵀg − value(u) where g is a "
            f"subgradient of value at u, got {found:.6g}, where that is {expected:.6g}: correct "
            "it, or leave it out and have no duality gap without l2"
        )


def _check_dual(penalty: Penalty, u: np.ndarray) -> None:
    once, twice = penalty.value(u), penalty.value(2.0 * u)
    if abs(twice - 2.0 * once) > CLOSE * abs(twice):
        raise InputError(
            f"dual of the penalty {penalty.name!r} must be left out unless value(2w) = 2·value(w), "
            f"got {twice:.6g} and twice {once:.6g}: give the conjugate instead"
        )
    norm = penalty.dual(u)
    if math.isinf(norm) and norm > 0.0:
        return  # a direction that h does not hold: no step leads to 0
    if not norm > 0.0:
        raise InputError(
            f"dual of the penalty {penalty.name!r} must be above 0 but at u = 0, got {norm:.6g}: "
            "it is the supremum of uᵀw/value(w)"
        )
    for t, is_zero in (((1.0 + EDGE) * norm, True), ((1.0 - EDGE) * norm, False)):
        left = penalty.prox(u, t)
        if bool(np.abs(left).max() <= CLOSE * np.abs(u).max()) != is_zero:
            raise InputError(
                f"dual of the penalty {penalty.name!r} must be the least step from which prox "
                f"leads to 0, got {norm:.6g}, and prox(u, {t:.6g}) is "
                f"{'not 0' if is_zero else '0'}: it is the supremum of uᵀw/value(w)"
            )
