"""How far a linear problem is from its optimum, provably: the Fenchel duality gap.

    P(w, b) = Σᵢ cᵢ ℓᵢ(xᵢᵀw + b) + R(w)            R(w) = (l2/2)‖w‖² + l1‖w‖₁
    D(θ)    = −Σᵢ cᵢ ℓᵢ*(θᵢ) − R*(−v)              v = Σᵢ cᵢθᵢxᵢ

For every θ with Σ cᵢθᵢ = 0 (asked for by the intercept, which no penalty holds), D(θ) ≤ P* ≤ P(w,
b): the difference bounds P(w, b) − P* whatever tool (w, b) came from. R*(u) is Σⱼ max(0, |uⱼ| −
l1)²/(2·l2), and for l2 = 0 it is 0 where ‖u‖∞ ≤ l1 and infinite elsewhere. The point θ comes from
the slopes ℓ′(zᵢ), which are the optimal θ at the optimum, made feasible:

    balanced   where there is an intercept, the slopes of the heavier sign are shrunk until the two
               sides cancel; for K classes, mass of classes that are predicted too often is
               moved to those predicted too rarely, sample by sample
    scaled     where l2 = 0, θ is multiplied by min(1, l1/‖v‖∞)

Both move θ towards 0, or within the simplex, and so stay in the domain of ℓ*. Without any penalty
R* is infinite but at v = 0, there is no gap, and the certificate says so. All of it is computed in
float64; `rounding` is added to the gap.

Cost: two passes over X, and two vectors of n (n·K) numbers.
Ndiaye, Fercoq, Gramfort & Salmon, J. Mach. Learn. Res. 18 (2017), for the scaling.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from thalweg.core.certificate import Certificate
from thalweg.core.checks import check_number, check_vector, describe
from thalweg.core.errors import InputError
from thalweg.kernels.duality import (
    class_conjugates_pass,
    class_slopes_pass,
    conjugates_pass,
    slopes_pass,
)
from thalweg.kernels.losses import LOSSES
from thalweg.objectives.linear import MULTINOMIAL, LinearProblem

EPS = float(np.finfo(np.float64).eps)
DUALITY_GAP = "duality gap"  # the kind of these certificates
ROUNDING = 8.0  # ulps of the sizes of all terms


class Gap(NamedTuple):
    """A primal value, a dual value, and what rounding may have done to their difference."""

    primal: float  # P(w, b)
    dual: float  # D(θ), −inf where no feasible θ was found
    rounding: float

    @property
    def gap(self) -> float:
        """P(w, b) − P* is at most this."""
        return max(0.0, self.primal - self.dual) + self.rounding


def has_gap(objective: Any) -> bool:
    """Whether the objective has a duality gap: a linear problem with a penalty."""
    return isinstance(objective, LinearProblem) and (objective.l1 > 0 or objective.l2 > 0)


def duality_gap(problem: LinearProblem, w: np.ndarray) -> Gap:
    """The gap at `w`."""
    w = np.asarray(w, dtype=np.float64)
    losses, theta = _slopes(problem, problem.scores(w))
    coefficients, _ = problem.split(w)
    penalties = 0.5 * problem.l2 * float(np.sum(coefficients**2)) + problem.penalty(w)
    primal = losses + penalties
    if not has_gap(problem):
        return Gap(primal, -np.inf, 0.0)
    if problem.fit_intercept:
        theta = _balanced(problem, theta)
    v = problem.transpose(theta)
    steepest = float(np.max(np.abs(v)))
    if problem.l2 == 0.0:
        # A hair inside: l1/‖v‖∞ may round to a factor that leaves v outside by an ulp.
        shrink = min(1.0, problem.l1 / (steepest * (1.0 + 4.0 * EPS))) if steepest > 0 else 1.0
        theta, dual_penalty = shrink * theta, 0.0
    else:
        beyond = np.maximum(0.0, np.abs(v) - problem.l1)
        dual_penalty = float(np.sum(beyond**2)) / (2.0 * problem.l2)
    conjugates, size = _conjugates(problem, theta)
    terms = abs(losses) + penalties + size + dual_penalty + _reach(problem, w, theta)
    rounding = ROUNDING * EPS * terms
    return Gap(primal, -conjugates - dual_penalty, rounding)


def constant_value(problem: LinearProblem) -> float:
    """F(w = 0, best constant b), the scale of the tolerance; without an intercept F(0)."""
    y, c = problem.y, problem.weights
    if problem.loss == MULTINOMIAL:
        if not problem.fit_intercept:
            return float(np.log(problem.outputs))
        shares = np.bincount(y, weights=c, minlength=problem.outputs)
        seen = shares[shares > 0]
        return float(-np.sum(seen * np.log(seen)))
    b = _best_constant(problem) if problem.fit_intercept else 0.0
    theta = np.empty(problem.n)
    return slopes_pass(LOSSES[problem.loss], np.full(problem.n, b), y, c, problem.delta, theta)


def certify(problem: LinearProblem, w: np.ndarray, *, tol: float = 1e-6) -> Certificate:
    """How far `w`, from any tool, is from the optimum of `problem`.

    Holds when the gap is at most tol·F(w = 0, best constant b).
    """
    if not isinstance(problem, LinearProblem):
        raise InputError(
            f"problem must be a LinearProblem, got {describe(problem)}: for other objectives "
            "tw.classify says what kind of point w is"
        )
    tol = check_number("tol", tol, above=0.0)
    found = duality_gap(problem, check_vector("w", w, dim=problem.dim))
    return gap_certificate(found, constant_value(problem), tol)


def gap_certificate(found: Gap, scale: float, tol: float) -> Certificate:
    """The certificate of a gap, held to tol·scale; `scale` is the problem's `constant_value`."""
    limit = tol * scale
    is_finite = bool(np.isfinite(found.dual))
    holds = is_finite and found.gap <= limit
    relation = "≤" if holds else ">"
    if is_finite:
        statement = f"duality gap {found.gap:.3g} {relation} {limit:.3g} = tol·F(w = 0, best b)"
        shows = f"F(w) − F* ≤ {found.gap:.3g}"
        if scale > 0.0:
            shows += f", {found.gap / scale:.2g} of F(w = 0, best b)"
        does_not_show = ""
    else:
        statement = "no duality gap: without a penalty the dual has no feasible point at hand"
        shows = "nothing about the distance to the optimum"
        does_not_show = "how far F(w) is from F*: add an l2 or l1 penalty, however small"
    return Certificate(
        kind=DUALITY_GAP,
        holds=holds,
        measured=found.gap if is_finite else np.inf,
        limit=limit,
        statement=statement,
        shows=shows,
        does_not_show=does_not_show,
        gap=found.gap if is_finite else None,
        evidence={
            "primal": found.primal,
            "dual": found.dual,
            "rounding": found.rounding,
            "scale": scale,
            "tol": tol,
        },
    )


def _slopes(problem: LinearProblem, z: np.ndarray) -> tuple[float, np.ndarray]:
    """Σ cᵢℓᵢ and θᵢ = ℓ′ᵢ; `z` is used up."""
    if problem.loss == MULTINOMIAL:
        return class_slopes_pass(z, problem.y, problem.weights), z
    theta = np.empty(problem.n)
    code = LOSSES[problem.loss]
    return slopes_pass(code, z, problem.y, problem.weights, problem.delta, theta), theta


def _conjugates(problem: LinearProblem, theta: np.ndarray) -> tuple[float, float]:
    """Σ cᵢℓᵢ*(θᵢ), and the sum of the sizes of its terms."""
    if problem.loss == MULTINOMIAL:
        return class_conjugates_pass(theta, problem.y, problem.weights)
    code = LOSSES[problem.loss]
    return conjugates_pass(code, theta, problem.y, problem.weights, problem.delta)


def _reach(problem: LinearProblem, w: np.ndarray, theta: np.ndarray) -> float:
    """Σⱼ|wⱼ| Σᵢ cᵢ|θᵢxᵢⱼ| + |b| Σᵢ cᵢ|θᵢ|, or more: by Cauchy and Schwarz, without a pass."""
    W, b = problem.coefficients(w)
    spread = np.sqrt(problem.weights @ theta**2)  # float64[] or [K]
    return float(np.sum((np.sqrt(problem.column_squares) @ np.abs(W) + np.abs(b)) * spread))


def _balanced(problem: LinearProblem, theta: np.ndarray) -> np.ndarray:
    """θ with Σ cᵢθᵢ = 0, moved as little as is simple."""
    c = problem.weights
    if problem.loss != MULTINOMIAL:
        up = float(c @ np.maximum(theta, 0.0))
        down = float(c @ np.maximum(-theta, 0.0))
        if up == down:
            return theta
        factor = min(up, down) / max(up, down)
        heavier = theta > 0 if up > down else theta < 0
        return np.where(heavier, factor * theta, theta)
    q = theta.copy()
    q[np.arange(problem.n), problem.y] += 1.0
    predicted = c @ q
    shares = np.bincount(problem.y, weights=c, minlength=problem.outputs)
    excess = predicted - shares
    over, lack = excess > 0, np.maximum(-excess, 0.0)
    if not lack.any():  # no class is predicted too rarely: what is over is rounding
        return theta
    taken = np.where(over, excess / np.where(predicted > 0, predicted, 1.0), 0.0)
    freed = q @ taken
    q = q * (1.0 - taken) + np.outer(freed, lack / lack.sum())
    q[np.arange(problem.n), problem.y] -= 1.0
    return q


def _best_constant(problem: LinearProblem) -> float:
    """argmin over b of Σ cᵢℓ(b, yᵢ)."""
    y, c = problem.y, problem.weights
    if problem.loss == "squared":
        return float(c @ y)
    if problem.loss in ("logistic", "squared-hinge"):
        share = float(c @ (y > 0))
        if problem.loss == "squared-hinge":
            return 2.0 * share - 1.0
        edge = 0.5 * EPS  # all weight on one class: b runs to infinity, F to 0
        share = min(max(share, edge), 1.0 - edge)
        return float(np.log(share) - np.log1p(-share))
    low, high = float(y.min()), float(y.max())
    for _ in range(100):
        middle = 0.5 * (low + high)
        slope = float(c @ np.clip(middle - y, -problem.delta, problem.delta))
        low, high = (low, middle) if slope > 0 else (middle, high)
    return 0.5 * (low + high)
