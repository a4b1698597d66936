"""What holds each coefficient of a linear problem with one score: l1, l2 and bounds.

    hⱼ(wⱼ) = l1ⱼ|wⱼ| + (l2ⱼ/2)wⱼ²    for lowⱼ ≤ wⱼ ≤ highⱼ

with one l1, one l2 and no bounds unless penalties are told column by column. With v = Σ cᵢℓ′ᵢxᵢ the
subgradients of F in wⱼ are

    vⱼ + l2ⱼwⱼ + l1ⱼ·sign(wⱼ)    from −l1ⱼ to l1ⱼ at wⱼ = 0, from −∞ at lowⱼ, to ∞ at highⱼ

and the shortest of them is zero exactly where wⱼ is best. A coefficient rests at zero where that is
a kink of hⱼ or a bound; how near it is to leaving it is what a working set is chosen by.

Cost: O(p).
"""

from __future__ import annotations

import numpy as np

from thalweg.core.vector import dot
from thalweg.kernels.cd import Held
from thalweg.methods.l1_quadratic import Walls, shortest
from thalweg.objectives.linear import LinearProblem


def held(data: LinearProblem) -> Held:
    """l1, l2 and bounds of each coefficient, float64[p] each."""
    own = data.by_column
    if own is not None:
        return Held(own.l1, own.l2 + data.l2, own.low, own.high)
    return Held(*(np.full(data.p, number) for number in (data.l1, data.l2, -np.inf, np.inf)))


def held_of(data: LinearProblem, members: np.ndarray) -> Held:
    """The same of some coefficients, int64[k]."""
    if data.by_column is not None:
        return Held(*(a[members] for a in held(data)))
    k = members.size
    return Held(*(np.full(k, number) for number in (data.l1, data.l2, -np.inf, np.inf)))


def penalties(data: LinearProblem, coefficients: np.ndarray) -> float:
    """Σⱼ hⱼ; no coefficient is beyond a bound."""
    if data.by_column is not None:
        l1, l2, _, _ = held(data)
        squares = dot(l2 * coefficients, coefficients)
        return 0.5 * squares + float(l1 @ np.abs(coefficients))
    squares = dot(coefficients, coefficients)
    return 0.5 * data.l2 * squares + data.l1 * float(np.abs(coefficients).sum())


def rise(data: LinearProblem, old: np.ndarray, new: np.ndarray) -> float:
    """What a whole step adds to l1 terms, and what l2 terms promise of it by their slopes."""
    if data.by_column is not None:
        l1, l2, _, _ = held(data)
        return dot(l2 * old, new - old) + float(l1 @ (np.abs(new) - np.abs(old)))
    slope = data.l2 * dot(old, new - old)
    return slope + data.l1 * (np.abs(new).sum() - np.abs(old).sum())


def shortest_subgradient(
    data: LinearProblem, coefficients: np.ndarray, v: np.ndarray, is_out: np.ndarray
) -> np.ndarray:
    """The shortest subgradient, float64[p]; zero for coefficients that are out, where they are."""
    is_zero = coefficients == 0.0
    if data.by_column is not None:
        l1, l2, low, high = held(data)
        found = shortest(coefficients, v + l2 * coefficients, l1, Walls(low, high))
    else:
        G = v + data.l2 * coefficients
        found = np.where(
            is_zero, G - np.clip(G, -data.l1, data.l1), G + data.l1 * np.sign(coefficients)
        )
    found[is_zero & is_out] = 0.0
    return found


def leaning(data: LinearProblem, coefficients: np.ndarray, v: np.ndarray) -> np.ndarray:
    """How far vⱼ is beyond where wⱼ = 0 rests, negative inside; ∞ for one that does not rest."""
    own = data.by_column
    if own is None:
        beyond = np.abs(v) - data.l1
    else:
        up = np.where(own.high == 0.0, -np.inf, -v - own.l1)
        down = np.where(own.low == 0.0, -np.inf, v - own.l1)
        beyond = np.maximum(up, down)
        has_rest = (own.l1 > 0.0) | (own.low == 0.0) | (own.high == 0.0)
        beyond[~has_rest] = np.inf
    beyond[coefficients != 0.0] = np.inf
    return beyond
