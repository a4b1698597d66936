"""A Newton step where an l1 penalty has kinks: the quadratic model keeps the penalty.

    u = argmin over u of  ∇f(w)ᵀ(u − w) + ½(u − w)ᵀH(u − w) + l1‖u‖₁        H = ∇²f(w)
    w⁺ = w + α(u − w),   α = 1, ½, ¼, … until  F(w⁺) ≤ F(w) + 10⁻⁴αΔ
    Δ = ∇f(w)ᵀ(u − w) + l1(‖u‖₁ − ‖w‖₁)

The model is minimised by sweeps over H and systems (`l1_quadratic`), to a share of the distance
from optimality here, so that early steps are cheap and late ones converge superlinearly; of the
squared loss, whose model is F itself, to the end. Where penalties are told column by column, so are
l1 and l2 here, and u and w⁺ stay between the bounds. Lee, Sun & Saunders, SIAM J. Optim. 24 (2014).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thalweg.methods.l1_quadratic import Walls, minimise_quadratic, shortest
from thalweg.methods.line import Line
from thalweg.methods.problem import Point, Problem
from thalweg.objectives.column_penalty import ColumnPenalty
from thalweg.objectives.linear import LinearProblem

FORCING = 1e-2  # of the distance from optimality: how exactly a model is minimised
EXACT = 1e-9  # likewise where the model is F itself
ACCEPT = 1e-4  # of the promised decrease
HALVINGS = 30
ALL = slice(None)  # variables


def shortest_subgradient(problem: Problem, w: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The shortest element of ∇f(w) + l1∂‖w‖₁, in the dtype of `w`."""
    held = penalties(problem)
    if (own := problem.objective.by_column) is not None:
        at = w.astype(np.float64)
        slopes = gradient + lent(problem.objective) * at
        return shortest(at, slopes, held, walls_of(problem.objective, own)).astype(w.dtype)
    at_zero = gradient - np.clip(gradient, -held, held)
    return np.where(w == 0.0, at_zero, gradient + held * np.sign(w)).astype(w.dtype)


def penalties(problem: Problem) -> np.ndarray:
    """l1 for coefficients, 0 for intercepts, float64[dim]."""
    return thresholds(problem.objective)


def thresholds(data: LinearProblem) -> np.ndarray:
    """The same of a linear problem itself."""
    out = np.full(data.dim, data.l1)
    if data.by_column is not None:
        out[: data.p * data.outputs] = np.repeat(data.by_column.l1, data.outputs)
    out[data.p * data.outputs :] = 0.0
    return out


def lent(data: LinearProblem) -> np.ndarray:
    """What columns have of l2 by themselves, which is no part of f, float64[dim]."""
    out = np.zeros(data.dim)
    if data.by_column is not None:
        out[: data.p * data.outputs] = np.repeat(data.by_column.l2, data.outputs)
    return out


def walls_of(data: LinearProblem, own: ColumnPenalty) -> Walls:
    """The bounds of all variables; intercepts have none."""
    low, high = np.full(data.dim, -np.inf), np.full(data.dim, np.inf)
    for ends, end in ((low, own.low), (high, own.high)):
        ends[: data.p * data.outputs] = np.repeat(end, data.outputs)
    return Walls(low, high)


def minimise_model(
    data: LinearProblem,
    H: np.ndarray,
    s: np.ndarray,
    w: np.ndarray,
    share: float,
    chosen: np.ndarray | slice = ALL,
) -> None:
    """Change `w`, of the chosen variables, to about the minimum of the model of slopes `s` at it.

    `s` is used up. What columns have of l2 by themselves is added to H here.
    """
    own, walls = data.by_column, None
    if own is not None:
        more = lent(data)[chosen]
        H = H + np.diag(more)
        s += more * w
        walls = walls_of(data, own).at(chosen)
    minimise_quadratic(H, s, thresholds(data)[chosen], w, 0.0, share, walls)


def inside(data: LinearProblem, w: np.ndarray) -> np.ndarray:
    """`w`, moved between the bounds where it is not."""
    if data.by_column is None:
        return w
    out = w.copy()
    coefficients, _ = data.split(out)  # a view
    coefficients[...] = data.by_column.nearest(coefficients)
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
    minimise_model(problem.objective, H, s, part, share, chosen)
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
        found = _arrived(problem, line, line.look(step))
        is_better = _distance(problem, found.w, found.gradient) < _distance(problem, w, slopes)
        return (found, step) if is_better else None
    for _ in range(HALVINGS):
        trial = line.look(step)
        there = trial.value + problem.penalty(inside(problem.objective, line.at(step)))
        if math.isfinite(there) and there <= value + ACCEPT * step * promised + noise:
            return _arrived(problem, line, trial), step
        step *= 0.5
    return None


def _arrived(problem: Problem, line: Line, trial: Any) -> Point:
    """The point of a trial; by rounding it may be an ulp beyond a bound, and is moved to it."""
    found = line.arrive(trial)
    return found._replace(w=inside(problem.objective, found.w))


def _distance(problem: Problem, w: np.ndarray, gradient: np.ndarray) -> float:
    """From a slope of zero."""
    return float(np.max(np.abs(shortest_subgradient(problem, w, gradient))))
