"""A lower bound on the optimum of a loss with corners where no penalty holds w.

    D(θ) = −Σᵢ cᵢℓᵢ*(θᵢ)        for Σ cᵢθᵢx̂ᵢ = 0 and Σ cᵢθᵢ = 0,  −κ₋ ≤ θᵢ ≤ κ₊

Losses with slopes have Newton's decrement there; this one's dual is linear, and a θ that a method
brings is nearly feasible. It is moved onto the equations, each sample by its distance δᵢ to the
ends of its range, so that none leaves it by more than a little,

    θ ← θ − δ∘(x̂ᵀa + a_b)        Σ cᵢδᵢ x̃ᵢx̃ᵢᵀ a = Σ cᵢθᵢx̃ᵢ,   x̃ = (x̂, 1)

and shrunk into it: D(sθ) = sD(θ) for s ≤ 1. What is left of the equations is rounding, which the
coefficients multiply, as it does the intercept elsewhere (`dual_point`): those at hand, and what
would move scores as far as targets go, stand for those of the optimum. A θ that is left with more
than rounding proves nothing.

Cost: two passes, one more and a Hessian where θ is moved.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from thalweg.certificates.dual_point import LowerBound, unit
from thalweg.core.vector import dot
from thalweg.objectives.hessian import LinearHessian
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.own_score import OwnScore
from thalweg.objectives.tube import Tube

EPS = float(np.finfo(np.float64).eps)
ROUNDING = 100.0  # times the noise: an equation that is left with more does not hold
MOST_VARIABLES = 2_000  # of a system that is solved; θ is as it came where there are more


def is_unheld(problem: LinearProblem) -> bool:
    """Whether the loss has corners, and no penalty holds w."""
    return problem.has_corners and problem.is_smooth and problem.l2 == 0.0


def unheld_bound(problem: LinearProblem, w: np.ndarray, theta: np.ndarray) -> LowerBound:
    """D near `theta`, float64[n], with its rounding where the coefficients are those of `w`."""
    assert isinstance(problem.term, OwnScore)
    assert isinstance(problem.term.loss, Tube)
    loss, c = problem.term.loss, problem.weights
    sizes = np.abs(w) + usual_sizes(problem)
    theta = np.clip(theta, -loss.below, loss.above)
    left = _left(problem, theta)
    noise = _noise(problem, theta)
    if np.any(np.abs(left) > noise) and problem.dim <= MOST_VARIABLES:
        moved = _moved(problem, loss, theta, left)
        there = _left(problem, moved)
        if dot(np.abs(there), sizes) < dot(np.abs(left), sizes):
            theta, left = moved, there
    if np.any(np.abs(left) > ROUNDING * noise):
        return LowerBound(0.0, 0.0)
    conjugates, size = problem.term.conjugates(c, theta)
    cost = dot(np.maximum(np.abs(left), noise), sizes)
    found = LowerBound(-conjugates, unit(1) * size + cost)
    return max(found, LowerBound(0.0, 0.0), key=lambda bound: bound.floor)


def usual_sizes(problem: LinearProblem) -> np.ndarray:
    """Coefficients that move scores as far as targets go, float64[dim]; 0 of a constant feature."""
    squares = problem.column_squares
    lengths = np.sqrt(np.where(squares > 0.0, squares, np.inf))
    far = dot(problem.weights, np.abs(problem.y))
    return far * problem.features.join(1.0 / lengths, 1.0)


def _left(problem: LinearProblem, theta: np.ndarray) -> np.ndarray:
    """Σ cᵢθᵢx̃ᵢ, float64[dim]."""
    return problem.features.join(problem.transpose(theta), dot(problem.weights, theta))


def _noise(problem: LinearProblem, theta: np.ndarray) -> np.ndarray:
    """What rounding may have done to that, float64[dim]."""
    spread = float(np.sqrt(np.einsum("i,i,i", problem.weights, theta, theta)))
    return unit(problem.n) * spread * problem.features.join(problem.features.lengths(), 1.0)


def _moved(problem: LinearProblem, loss: Tube, theta: np.ndarray, left: np.ndarray) -> np.ndarray:
    """θ on the equations, nearly, and in its range."""
    room = np.minimum(loss.above - theta, theta + loss.below)
    H = LinearHessian.weighted(problem, problem.weights * room).matrix()
    scale = 1.0 / np.sqrt(np.maximum(np.diag(H), EPS * max(float(np.diag(H).max()), EPS)))
    a = scale * scipy.linalg.lstsq(H * np.outer(scale, scale), scale * left)[0]
    moved = theta - room * problem.scores(a)
    over = max(float(np.max(moved / loss.above)), float(np.max(-moved / loss.below)), 1.0)
    return moved / (over * (1.0 + 4.0 * EPS)) if over > 1.0 else moved
