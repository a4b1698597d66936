"""A pilot: conjugate gradients on a sample of the rows, for what cannot be read off κ.

    minimise over p   m(p) = ∇F(0)ᵀp + ½pᵀ∇²F(0)p        in units of the diagonal of ∇²F(0)

Each step gains rᵀD⁻¹r·α/2, with r the residual and α the length of the step, and the steps after
which no more than ε·F(0) is left to gain are counted. A spectrum of a few clusters takes a few
steps, whatever its condition number is, and so do the methods that learn it: lbfgs and newton-cg.
What is not gained in `MOST` steps is gained at the rate of the last third.

A sample has a wider spectrum than all rows have, by being one: of rows in d directions alike, m of
them have eigenvalues between (1 − √γ)² and (1 + √γ)², γ = d/m (Marchenko & Pastur, 1967), of which
each step of conjugate gradients leaves γ. What a step leaves of others, ρ, stands for a condition
of which sampling is a factor: as ½ log √κ = artanh √ρ, of all n rows a step leaves

    artanh √ρ′ = artanh √ρ − artanh √(d/m) + artanh √(d/n)        and k·log ρ/log ρ′ steps do

The curvature is that at w = 0. Where classes separate it is another one at the optimum, and methods
take more steps than this says: the run finds out (`planner.hedge`).
"""

from __future__ import annotations

import math

import numpy as np

from thalweg.core.vector import dot
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.geometry import A_ROW, some_rows, spread_out

ENTRIES = 200_000  # of the sample, for one score a row
A_SECOND = 4_000_000  # entries for each second of the fit: some percents of it
WHOLE = 200_000  # of all rows, where features are more: those of some have another spectrum
MOST = 30  # steps
ROWS_A_FEATURE = 2  # that a sample has at least, likewise; twice as many where that is a SHARE
SHARE = 0.05  # of all rows, which a pilot may always look at: a few readings of the data
# Of what is left, that a third of the steps leaves at most. Gains that hardly fall show no rate:
# they may rise before they fall.
SLOWEST = 0.9
AT_LAST = 1.5  # times as many steps as variables, which are enough but for rounding
DONE = 0.01  # of the goal: a step that gains less is the last
ROWS = 40  # whose cosines tell in how many directions rows spread
SECOND = 1_000_000  # entries of a sample from which a second thread is worth waking
WIDEST = 0.99  # d/m and what a step leaves, at most


def pilot(problem: LinearProblem, tol: float, scale: float, seconds: float = 0.0) -> float | None:
    """Steps of conjugate gradients until tol·scale is left to gain; None of too few rows.

    `seconds` that the fastest method is thought to take: the more, the larger the sample.
    """
    whole = problem.smooth or problem
    a_row = A_ROW + whole.matrix.entries / whole.n
    enough = min(2.0 * ROWS_A_FEATURE * whole.p, SHARE * whole.n) * a_row
    part = some_rows(whole, int(max(ENTRIES, A_SECOND * seconds, enough)) // whole.outputs)
    if part is not whole and part.n < ROWS_A_FEATURE * part.p:
        if whole.n >= whole.p or whole.matrix.entries * whole.outputs > WHOLE:
            return None
        part = whole
    if part is not whole and part.matrix.entries < SECOND:
        part.threads = 1
    goal = tol * scale
    gains = gained(part, DONE * goal)
    whole_gain = float(gains.sum())
    if not whole_gain > goal:
        return 1.0
    steps = _steps(gains, goal, AT_LAST * part.p * part.outputs)
    if part is not whole:
        steps *= _narrowed((goal / whole_gain) ** (1.0 / steps), directions(part), part.n, whole.n)
    return 1.0 + steps


def _steps(gains: np.ndarray, goal: float, most: float) -> float:
    """After which no more than `goal` is left to gain, at `most` where that is to be guessed."""
    left = float(gains.sum()) - np.cumsum(gains)
    if len(gains) == MOST:
        third = MOST // 3
        before, last = float(gains[-2 * third : -third].sum()), float(gains[-third:].sum())
        rate = min(last / before, SLOWEST) if before > 0.0 else 0.0
        more = last * rate / (1.0 - rate)
        if more > goal:
            steps = MOST - 1.0 + third * math.log(more / goal) / -math.log(rate)
            return min(steps, max(MOST, most))
    return max(1.0, float(np.count_nonzero(left > goal)))


def _narrowed(rate: float, d: float, m: int, n: int) -> float:
    """Steps over all n rows by those over m of them, of which each leaves `rate`."""

    def turned(share: float) -> float:
        return math.atanh(math.sqrt(min(share, WIDEST)))

    rate = min(rate, WIDEST)
    least = turned(d / n)  # what is left of rows that are alike in all directions
    other = max(turned(rate) - turned(d / m) + least, least)
    return min(1.0, math.log(rate) / math.log(math.tanh(other) ** 2))


def directions(part: LinearProblem) -> float:
    """d, over which rows spread: one over the mean squared cosine of two, in units of columns."""
    few = part.sample(spread_out(part.n, min(part.n, ROWS)))
    A = few.features.dense[:, : part.p] / np.sqrt(part.curvature_diagonal[: part.p])
    A = A[np.any(A, axis=1)]
    m = len(A)
    if m < 2:
        return 1.0
    cosines = A @ A.T
    squares = np.diag(cosines)
    mean = (float(np.sum(cosines**2 / np.outer(squares, squares))) - m) / (m * (m - 1))
    return min(1.0 / max(mean, 1.0 / part.p), part.p)


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
