"""A Newton step where an l1 penalty has kinks: the quadratic model keeps the penalty.

    u = argmin over u of  ∇f(w)ᵀ(u − w) + ½(u − w)ᵀH(u − w) + l1‖u‖₁        H = ∇²f(w)
    w⁺ = w + α(u − w),   α = 1, ½, ¼, … until  F(w⁺) ≤ F(w) + 10⁻⁴αΔ
    Δ = ∇f(w)ᵀ(u − w) + l1(‖u‖₁ − ‖w‖₁)

The model is minimised by sweeps over H and systems (`l1_quadratic`), to a share of the distance
from optimality here, so that early steps are cheap and late ones converge superlinearly; of the
squared loss, whose model is F itself, to the end. Lee, Sun & Saunders, SIAM J. Optim. 24 (2014).
"""

from __future__ import annotations

import math

import numpy as np

from thalweg.methods.l1_quadratic import minimise_quadratic
from thalweg.methods.line import Line
from thalweg.methods.problem import Point, Problem
from thalweg.objectives.linear import LinearProblem

FORCING = 1e-2  # of the distance from optimality: how exactly a model is minimised
EXACT = 1e-9  # likewise where the model is F itself
ACCEPT = 1e-4  # of the promised decrease
HALVINGS = 30
ALL = slice(None)  # variables


def shortest_subgradient(problem: Problem, w: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The shortest element of ∇f(w) + l1∂‖w‖₁, in the dtype of `w`."""
    held = penalties(problem)
    at_zero = gradient - np.clip(gradient, -held, held)
    return np.where(w == 0.0, at_zero, gradient + held * np.sign(w)).astype(w.dtype)


def penalties(problem: Problem) -> np.ndarray:
    """l1 for coefficients, 0 for intercepts, float64[dim]."""
    return thresholds(problem.objective)


def thresholds(data: LinearProblem) -> np.ndarray:
    """The same of a linear problem itself."""
    out = np.full(data.dim, data.l1)
    out[data.p * data.outputs :] = 0.0
    return out


def prox_newton_step(problem: Problem, point: Point, H: np.ndarray) -> Point | None:
    """The point that one step with H leads to, if any; values are those of f, without l1."""
    found = searched(problem, point, model_minimum(problem, point, H))
    return None if found is None else found[0]


def model_minimum(
    problem: Problem, point: Point, H: np.ndarray, chosen: np.ndarray | slice = ALL
) -> np.ndarray:
    """u, float64[dim]; with H of some variables, int64[m], where those alone change."""
    ahead, slopes = point.w.astype(np.float64), point.gradient.astype(np.float64)
    part, s = ahead[chosen].copy(), slopes[chosen].copy()
    share = EXACT if problem.objective.loss == "squared" else FORCING
    minimise_quadratic(H, s, penalties(problem)[chosen], part, 0.0, share)
    ahead[chosen] = part
    return ahead


def searched(problem: Problem, point: Point, ahead: np.ndarray) -> tuple[Point, float] | None:
    """The point on the way to u, `ahead`, where F has fallen, if any, and its α."""
    w, slopes = point.w.astype(np.float64), point.gradient.astype(np.float64)
    direction = (ahead - w).astype(point.w.dtype)
    before, after = problem.penalty(point.w), problem.penalty(ahead)
    promised = float(slopes @ (ahead - w)) + after - before
    line, step = Line(problem, point, direction), 1.0
    value = point.value + before
    noise = 4.0 * float(np.finfo(point.w.dtype).eps) * abs(value)
    if promised >= -noise:
        # At the rounding of F, only its slopes still tell what is better.
        found = line.arrive(line.look(step))
        is_better = _distance(problem, found.w, found.gradient) < _distance(problem, w, slopes)
        return (found, step) if is_better else None
    for _ in range(HALVINGS):
        trial = line.look(step)
        there = trial.value + problem.penalty(line.at(step))
        if math.isfinite(there) and there <= value + ACCEPT * step * promised + noise:
            return line.arrive(trial), step
        step *= 0.5
    return None


def _distance(problem: Problem, w: np.ndarray, gradient: np.ndarray) -> float:
    """From a slope of zero."""
    return float(np.max(np.abs(shortest_subgradient(problem, w, gradient))))
