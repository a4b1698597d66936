"""How far a linear problem without a gap is from its optimum, as its own curvature has it.

    ½λ² = ½ ∇F(w)ᵀ H⁺ ∇F(w)         H = ∇²F(w)

is what the quadratic that F is here falls by: F(w) − F* itself for the squared loss, and nearly so
for the others once it is small. Unlike a norm of the gradient it has the units of F, whatever those
of the features are: columns of 10⁻⁹ have slopes of 10⁻⁹, and are not nearer to an optimum for it.

Without a penalty there is no duality gap at hand (`duality`), nor for a loss of a user's own that
came without its conjugate, so this is what such a run ends by, and it proves nothing beyond the
quadratic; the certificate says so.

Cost: H and its eigenvalues up to `MOST_VARIABLES` variables, beyond that products with H, by
conjugate gradients in units of its diagonal, which approach λ² from below.
Boyd & Vandenberghe, Convex Optimization (2004), 9.5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.certificates.duality import constant_value, has_gap
from thalweg.core.certificate import Certificate
from thalweg.core.vector import dot
from thalweg.objectives.hessian import LinearHessian
from thalweg.objectives.linear import LinearProblem

DECREMENT = "Newton decrement"  # the kind of these certificates
MOST_VARIABLES = 500
PRODUCTS = 60
EPS = float(np.finfo(np.float64).eps)


def has_decrement(objective: Any) -> bool:
    """Whether this is how an optimum is recognised: a smooth linear problem without a gap."""
    return isinstance(objective, LinearProblem) and objective.is_smooth and not has_gap(objective)


def rough_decrement(problem: LinearProblem, gradient: np.ndarray) -> float:
    """½Σ gⱼ²/Dⱼ with the bound D on the diagonal of every Hessian: for nothing, and in its units.

    A decrement that is small has this small too, but for the number of variables.
    """
    g = gradient.astype(np.float64)
    return 0.5 * float(np.sum(g * g / problem.curvature_diagonal))


def decrement(problem: LinearProblem, w: np.ndarray) -> float:
    """½λ² at `w`."""
    w = np.asarray(w, dtype=np.float64)
    with np.errstate(all="ignore"):
        _, g, z = problem.value_gradient_scores(w)
        if not np.all(np.isfinite(g)):
            return np.inf
        H = problem.hessian_at(z)
        if problem.dim <= MOST_VARIABLES:
            return 0.5 * _by_eigenvalues(H.matrix(), g)
        return 0.5 * _by_products(H, g)


def decrement_certificate(problem: LinearProblem, w: np.ndarray, tol: float) -> Certificate:
    """The certificate of `w`: holds when the decrement is at most tol·F(w = 0, best b)."""
    scale = constant_value(problem)
    measured, limit = decrement(problem, w), tol * scale
    holds = bool(measured <= limit)
    relation = "≤" if holds else ">"
    statement = f"½∇FᵀH⁻¹∇F = {measured:.3g} {relation} {limit:.3g} = tol·F(w = 0, best b)"
    if problem.loss == "squared":
        shows = f"F(w) − F* = {measured:.3g}, but for rounding: F is a quadratic"
        does_not_show = ""
    else:
        shows = f"the quadratic that F is here falls by {measured:.3g} at most"
        does_not_show = f"how far F(w) is from F*: {problem.lacks}"
    return Certificate(
        kind=DECREMENT,
        holds=holds,
        measured=measured,
        limit=limit,
        statement=statement,
        shows=shows,
        does_not_show=does_not_show,
        gap=None,
        evidence={"scale": scale, "tol": tol},
    )


def _by_eigenvalues(H: np.ndarray, g: np.ndarray) -> float:
    """gᵀH⁻¹g, of H in units of its diagonal.

    A direction without curvature has as much as rounding leaves: there a slope that is rounding
    counts for nothing, and any other one for much, as where no sample is between two kinks.
    """
    D = np.diag(H)
    d = 1.0 / np.sqrt(np.where(D > 0.0, D, 1.0))
    curvatures, Q = np.linalg.eigh(H * np.outer(d, d))
    least = EPS * len(g) * max(float(curvatures[-1]), EPS)
    return float(np.sum((Q.T @ (d * g)) ** 2 / np.maximum(curvatures, least)))


def _by_products(H: LinearHessian, g: np.ndarray) -> float:
    """gᵀd of the d that conjugate gradients find for Hd = g."""
    D = H.diagonal()
    units = 1.0 / np.where(D > 0.0, D, 1.0)
    d, r = np.zeros_like(g), g.copy()
    p = units * r
    size = first = dot(r, p)
    for _ in range(PRODUCTS):
        if not size > EPS * first:
            break
        Hp = H.vector(p)
        bend = dot(p, Hp)
        if not bend > EPS * size:
            return np.inf  # a way down that bends nowhere
        step = size / bend
        d += step * p
        r -= step * Hp
        q = units * r
        size, before = dot(r, q), size
        p = q + size / before * p
    return dot(g, d)
