"""The minimizer of the squared loss with its penalties, from the sums that the loss is made of.

    u = argmin over u of  ½uᵀHu − cᵀu + l1‖u‖₁           H = ∇²f, the same everywhere

by Newton's system without l1, else by sweeps over H and systems from w (`l1_quadratic`). After
the one pass for the sums (`objectives.least_squares`) values and gradients cost O(dim²), so the
number of samples no longer matters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.methods.problem import Point, Problem
from thalweg.methods.prox_newton import EXACT, minimise_model, shortest_subgradient
from thalweg.methods.rounding import rounding_of
from thalweg.objectives.least_squares import LeastSquares
from thalweg.objectives.linear import LinearProblem


def has_sums(objective: Any) -> bool:
    """Whether the sums are fewer numbers than the data."""
    return (
        isinstance(objective, LinearProblem)
        and objective.loss == "squared"
        and objective.n >= objective.dim
    )


def exact_point(problem: Problem, w: np.ndarray) -> Point:
    """`w` with its value and gradient, those of f without l1, and no scores."""
    data = problem.objective
    at = w.astype(np.float64, copy=False)
    loss, gradient = _sums(problem).loss_and_gradient(at)
    coefficients, _ = data.split(at)
    gradient[: data.p] += data.l2 * coefficients
    return Point(
        w, loss + data.ridge(coefficients), gradient.astype(w.dtype, copy=False), problem.no_scores
    )


def exact_step(problem: Problem, point: Point, solve: Any) -> Point | None:
    """The minimizer, if rounding leaves it better than `point`; `solve(H, g)` gives H⁻¹g."""
    data = problem.objective
    H = _sums(problem).hessian()
    H[np.arange(data.p), np.arange(data.p)] += data.l2
    if not np.all(np.isfinite(H)):
        return None
    w, slopes = point.w.astype(np.float64), point.gradient.astype(np.float64)
    distance = _distance(problem, point)
    if problem.is_composite:
        minimise_model(data, H, slopes, w, EXACT)
    else:
        w -= solve(H, slopes)
    found = exact_point(problem, w.astype(point.w.dtype))
    value, before = (at.value + problem.penalty(at.w) for at in (found, point))
    if value < before - rounding_of(before, point.w.dtype):
        return found
    # At the rounding of F, only its slopes still tell what is better.
    return found if _distance(problem, found) < distance else None


def _distance(problem: Problem, point: Point) -> float:
    """From a slope of zero."""
    slope = point.gradient
    if problem.is_composite:
        slope = shortest_subgradient(problem, point.w, slope)
    return float(np.max(np.abs(slope)))


def _sums(problem: Problem) -> LeastSquares:
    """The sums, counted as a pass when they are first asked for."""
    if not problem.is_summed:
        problem.gradients += 1
        problem.hessian_vectors += problem.dim
        problem.passes += 1
        problem.is_summed = True
    return problem.objective.least_squares
