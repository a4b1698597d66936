"""How far a robust fit is from its optimum where the scale of the residuals is learned with it.

    P(w, b, σ) = σ + (2/σ) Σᵢ cᵢ h(rᵢ) + a‖w‖²         r = Xw + b − y, h Huber's loss with δ = εσ
    D(θ)       = −Σᵢ cᵢθᵢyᵢ − ‖Σᵢ cᵢθᵢxᵢ‖²/(4a)      |θᵢ| ≤ 2ε, Σ cᵢθᵢ = 0, Σ cᵢθᵢ² ≤ 4

as σ·H(r/σ) = sup over |θ| ≤ 2ε of θr − σθ²/4, H(t) = t² up to ε and 2ε|t| − ε² beyond: P is linear
in σ for every θ, and bounded below where Σcθ²/4 ≤ 1, then by σ = 0. It is jointly convex. The
slopes θ = 2·clip(r, ±εσ)/σ are the best θ at the optimum; elsewhere they are balanced as those of
any loss (`dual_point`), and multiplied by the s that makes D(sθ) = sA − s²B largest among those
allowed. What rounding may have done is added, as there.

Cost: two passes over X.
Owen, Contemp. Math. 443 (2007); Huber & Ronchetti, Robust Statistics (2009), 7.7.
"""

from __future__ import annotations

import math

import numpy as np

from thalweg.certificates.dual_point import EPS, balanced, loss_rounding, slopes, unit
from thalweg.certificates.duality import PASSES, Gap
from thalweg.core.vector import dot
from thalweg.objectives.linear import LinearProblem


def best_scale(r: np.ndarray, c: np.ndarray, epsilon: float) -> float:
    """argmin over σ ≥ 0 of σ + (2/σ) Σ cᵢh(rᵢ), for residuals `r` and weights of sum 1.

    Its slope 1 − ε²Σ_out c − Σ_in cr²/σ² rises in σ, and between two |r|/ε it is one formula.
    """
    order = np.argsort(np.abs(r))
    sizes, weights = np.abs(r)[order], c[order]
    inside, squares = np.cumsum(weights), np.cumsum(weights * sizes**2)
    left = 1.0 - epsilon**2 * np.maximum(1.0 - inside, 0.0)
    # At σ = |r|ₖ/ε the k smallest are inside.
    rises = left * sizes**2 >= epsilon**2 * squares
    rises &= left > 0.0
    first = int(np.argmax(rises)) if rises.any() else sizes.size
    k = first - 1  # inside before the slope is 0
    if k < 0 or not left[k] > 0.0:
        return 0.0 if k < 0 else float(sizes[min(first, sizes.size - 1)] / epsilon)
    return math.sqrt(max(float(squares[k] / left[k]), 0.0))


def scale_slope(r: np.ndarray, c: np.ndarray, sigma: float, epsilon: float) -> float:
    """dP/dσ."""
    t = np.abs(r) / sigma
    return 1.0 - dot(c, np.minimum(t, epsilon) ** 2)


def scale_value(r: np.ndarray, c: np.ndarray, sigma: float, epsilon: float) -> float:
    """P without its penalty."""
    t = np.abs(r)
    inside = np.minimum(t, epsilon * sigma)
    return sigma + dot(c, inside * (2.0 * t - inside)) / sigma


def scale_gap(
    problem: LinearProblem,
    w: np.ndarray,
    sigma: float,
    epsilon: float,
    a: float,
    theta: np.ndarray | None = None,
) -> Gap:
    """The gap at `w`, float64[dim], and σ; `problem` has Huber's loss, δ = εσ, and a > 0.

    `theta` are slopes to be used in place of those at w.
    """
    c, y = problem.weights, problem.y
    z = problem.scores(w)
    losses, own = slopes(problem, z)
    coefficients, b = problem.split(w)
    primal = scale_value(z - y, c, sigma, epsilon) + a * dot(coefficients, coefficients)
    rounding = 2.0 / sigma * loss_rounding(problem, w, z, losses, own) + unit(1) * primal
    theta = (2.0 / sigma) * own if theta is None else theta.copy()
    theta = np.clip(theta, -2.0 * epsilon, 2.0 * epsilon)
    if problem.fit_intercept:
        theta = balanced(problem, theta)
    v = problem.transpose(theta)
    spread = math.sqrt(dot(c, theta * theta))
    A, B = -dot(c, theta * y), dot(v, v) / (4.0 * a)
    most = 2.0 * (1.0 - 4.0 * EPS) / max(spread, EPS)
    widest = 2.0 * epsilon * (1.0 - 4.0 * EPS) / max(float(np.abs(theta).max()), EPS)
    s = min(most, widest, max(A, 0.0) / (2.0 * B) if B > 0.0 else math.inf)
    error = unit(problem.n) * spread * problem.features.lengths()
    lost = s * s * (2.0 * dot(np.abs(v), error) + dot(error, error)) / (4.0 * a)
    lost += unit(problem.n) * s * abs(float(b)) * spread + unit(1) * s * dot(c, np.abs(theta * y))
    return Gap(primal, max(s * A - s * s * B, 0.0), rounding + lost, PASSES)
