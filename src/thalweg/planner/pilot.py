"""A pilot: conjugate gradients on a sample of the rows, for what cannot be read off κ.

    minimise over p   m(p) = ∇F(0)ᵀp + ½pᵀ∇²F(0)p        in units of the diagonal of ∇²F(0)

Each step gains rᵀD⁻¹r·α/2, with r the residual and α the length of the step, and the steps after
which no more than ε·F(0) is left to gain are counted. A spectrum of a few clusters takes a few
steps, whatever its condition number is, and so do the methods that learn it: lbfgs and newton-cg.
What is not gained in `MOST` steps is gained at the rate of the last third.

The curvature is that at w = 0. Where classes separate it is another one at the optimum, and methods
take more steps than this says: the run finds out (`planner.hedge`).
"""

from __future__ import annotations

import math

import numpy as np

from thalweg.core.vector import dot
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.geometry import some_rows

ENTRIES = 200_000  # of the sample, for one score a row
A_SECOND = 4_000_000  # entries for each second of the fit: some percents of it
WHOLE = 200_000  # of all rows, where features are more: those of some have another spectrum
MOST = 30  # steps
ROWS_A_FEATURE = 4  # that a sample has at least, likewise
# Of what is left, that a third of the steps leaves at most. Gains that hardly fall show no rate:
# they may rise before they fall.
SLOWEST = 0.9
DONE = 0.01  # of the goal: a step that gains less is the last


def pilot(problem: LinearProblem, tol: float, scale: float, seconds: float = 0.0) -> float | None:
    """Steps of conjugate gradients until tol·scale is left to gain; None of too few rows.

    `seconds` that the fastest method is thought to take: the more, the larger the sample.
    """
    whole = problem.smooth or problem
    part = some_rows(whole, max(ENTRIES, int(A_SECOND * seconds)) // whole.outputs)
    if part is not whole and part.n < ROWS_A_FEATURE * part.p:
        if whole.n >= whole.p or whole.matrix.entries * whole.outputs > WHOLE:
            return None
        part = whole
    goal = tol * scale
    gains = gained(part, DONE * goal)
    left = float(gains.sum()) - np.cumsum(gains)
    if len(gains) == MOST:
        third = MOST // 3
        before, last = float(gains[-2 * third : -third].sum()), float(gains[-third:].sum())
        rate = min(last / before, SLOWEST) if before > 0.0 else 0.0
        more = last * rate / (1.0 - rate)
        if more > goal:
            return MOST + third * math.log(more / goal) / -math.log(rate)
    return 1.0 + float(np.count_nonzero(left > goal))


def gained(part: LinearProblem, least: float = 0.0) -> np.ndarray:
    """What each step gains, float64, at most `MOST`, the last one `least` or less, if there is one.

    Intercepts stay where they are.
    """
    w = part.start.astype(np.float64)
    free = part.p * part.outputs
    _, gradient, scores = part.value_gradient_scores(w)
    hessian, D = part.hessian_at(scores), part.curvature_diagonal[:free]
    r = -gradient[:free]
    z = r / D
    d, rz = np.zeros_like(w), dot(r, z)
    d[:free] = z
    gains: list[float] = []
    while len(gains) < MOST and rz > 0.0:
        Hd = hessian.vector(d)[:free]
        curvature = dot(d[:free], Hd)
        if not curvature > 0.0 or not math.isfinite(curvature):
            break
        step = rz / curvature
        gains.append(0.5 * step * rz)
        if gains[-1] <= least:
            break
        r = r - step * Hd
        z = r / D
        rz, before = dot(r, z), rz
        d[:free] = z + rz / before * d[:free]
    return np.array(gains)
