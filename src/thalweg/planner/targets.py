"""Several targets on the same features: what they share is done once.

    minimise  (1/2Σs) Σᵢ sᵢ (xᵢᵀwₖ + bₖ − yᵢₖ)² + (l2/2)‖wₖ‖² + l1‖wₖ‖₁        k = 1 … T

Columns are measured once, and one plan serves all. Without l1 the closed form has one factor for
all targets (`methods.ridge_system`), and their gaps come out of two matrix products, so that it is
planned before Newton's method, which would factorise for each; with it, and where n ≥ p, one Gram
matrix serves all (`objectives.least_squares`). Every target has a run and a certificate of its own,
as if it had been fitted alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from thalweg.certificates.duality import gap_certificate, squared_scales
from thalweg.certificates.target_gaps import target_gaps
from thalweg.core.clock import Clock
from thalweg.core.environment import environment
from thalweg.core.outcome import Outcome
from thalweg.core.plan import Plan
from thalweg.core.run import Run
from thalweg.core.trace import COLUMNS, Trace
from thalweg.methods.cholesky import Cholesky
from thalweg.methods.exact_step import has_sums
from thalweg.methods.method import Method
from thalweg.methods.newton import Newton
from thalweg.methods.ridge_system import (
    best_intercept,
    factorised,
    first_solution,
    refined,
    targets,
)
from thalweg.objectives.least_squares import with_targets
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.minimize import minimize, threads_of_our_own
from thalweg.planner.plan import plan
from thalweg.planner.small import small_plan

CLOSED, SUMMING = Cholesky.name, Newton.name  # the closed form, and the one that works by sums


def minimize_targets(
    problem: LinearProblem,
    Y: np.ndarray,
    penalties: Sequence[tuple[float, float]],
    method: str | Method,
    starts: Sequence[np.ndarray | None],
    *,
    tol: float,
    max_iter: int,
    seed: int,
    progress: bool,
) -> list[Run]:
    """A run for each column of `Y`, float64[n, T], with its (l1, l2).

    `problem` is that of the first column, with the squared loss.
    """
    options: Any = {"tol": tol, "max_iter": max_iter, "seed": seed, "progress": progress}
    runs: list[Run | None] = [None] * len(penalties)
    for l1, l2 in dict.fromkeys(penalties):
        members = [k for k, given in enumerate(penalties) if given == (l1, l2)]
        first = of_target(problem, Y, penalties, members[0])
        chosen = _chosen(first, method, tol) if len(runs) > 1 else method
        name = chosen.best if isinstance(chosen, Plan) else chosen
        is_closed = name == CLOSED or name == Cholesky()
        if is_closed and first.is_smooth and l2 > 0.0 and max_iter >= 1:
            found = _closed(first, _columns(Y, members), tol, seed, chosen)
        else:
            each = [first, *(of_target(problem, Y, penalties, k) for k in members[1:])]
            if name == SUMMING:
                _share_sums(each, _columns(Y, members))
            found = [
                minimize(alone, chosen, starts[k], **options)
                for k, alone in zip(members, each, strict=True)
            ]
        for k, run in zip(members, found, strict=True):
            runs[k] = run
    return [run for run in runs if run is not None]


def of_target(
    problem: LinearProblem, Y: np.ndarray, penalties: Sequence[tuple[float, float]], k: int
) -> LinearProblem:
    """The problem of a column of `Y`; that of the first one keeps what was summed for it."""
    l1, l2 = penalties[k]
    return (problem.with_target(Y[:, k]) if k else problem).replaced(l1=l1, l2=l2)


def _columns(Y: np.ndarray, members: list[int]) -> np.ndarray:
    """Some columns of Y, float64[n, T], by rows, or the order of Y would show in the bits."""
    return np.ascontiguousarray(Y if len(members) == Y.shape[1] else Y[:, members])


def _chosen(problem: LinearProblem, method: str | Method, tol: float) -> str | Method | Plan:
    """The method that is asked for, or one plan for all targets."""
    if method != "auto":
        return method
    with threads_of_our_own(problem):
        made = small_plan(problem.centred, tol) or plan(problem, tol)
        if made.best != SUMMING or not problem.is_smooth or problem.l2 == 0.0:
            return made
        if made.row(CLOSED) is None:
            made = small_plan(problem.centred, tol, (CLOSED,)) or made
    return replace(made, rows=tuple(sorted(made.rows, key=lambda row: row.method != CLOSED)))


def _share_sums(problems: list[LinearProblem], Y: np.ndarray) -> None:
    """Give every problem its sums, one Gram matrix for all, where methods are to use them."""
    if has_sums(problems[0]):
        for problem, sums in zip(problems, with_targets(problems[0], Y), strict=True):
            problem.take_sums(sums)


def _closed(
    problem: LinearProblem, Y: np.ndarray, tol: float, seed: int, chosen: str | Method | Plan
) -> list[Run]:
    """The closed form for all targets at once; `problem` is that of the first."""
    clock = Clock()
    with threads_of_our_own(problem):
        about = problem.with_features(problem.features.centred) if problem.centre else problem
        system = factorised(about)
        rho = targets(about, Y)
        W = refined(about, system, rho, first_solution(about, system, rho)).w
    return closed_runs(problem, about, Y, W, tol, seed, chosen, clock)


def closed_runs(
    problem: LinearProblem,
    about: LinearProblem,
    Y: np.ndarray,
    W: np.ndarray,
    tol: float,
    seed: int,
    chosen: str | Method | Plan,
    clock: Clock,
) -> list[Run]:
    """The runs that found the coefficients W, float64[p, T], of `about`, the centred problem."""
    with threads_of_our_own(problem):
        rho = targets(about, Y)
        gaps = target_gaps(about, W, rho)
        sizes = _squares(problem, Y)
        scales = squared_scales(_squares(problem, rho), sizes)
        points = _points(about, W, best_intercept(about, Y, W), problem)
    seconds, compiled = clock.seconds / Y.shape[1], clock.compiled / Y.shape[1]
    w0, made_with = np.zeros(problem.dim), environment()
    done = chosen.after(CLOSED, 1, seconds) if isinstance(chosen, Plan) else None
    name, options = problem.name, Cholesky().options
    runs = []
    for k, found in enumerate(gaps):
        certificate = gap_certificate(found, float(scales[k]), tol, problem.l2)
        rows = np.array([[0, 1, 1, 0.0, 0.5 * float(sizes[k]), np.nan, np.nan],
                         [1, 6, 6, seconds, found.primal, np.nan, found.gap]])  # fmt: skip
        assert len(COLUMNS) == rows.shape[1]
        outcome = Outcome.CONVERGED if certificate.holds else Outcome.STALLED
        run = Run(
            objective=name,
            method=CLOSED,
            w=points[k].copy(),
            value=found.primal,
            outcome=outcome,
            reason=f"{outcome} {certificate.statement}.",
            trace=Trace(rows),
            certificate=certificate,
            w0=w0,
            tol=tol,
            seed=seed,
            options=dict(options),
            counts={"values": 2, "gradients": 6, "hessian_vectors": 0, "passes": 6},
            environment=made_with,
            plan=done,
            compiled=compiled,
        )
        runs.append(run)
    return runs


def _squares(problem: LinearProblem, Y: np.ndarray) -> np.ndarray:
    """Σ cᵢyᵢₖ² of every column, float64[T]."""
    return np.einsum("i,ik,ik->k", problem.weights, Y, Y)


def _points(
    about: LinearProblem, W: np.ndarray, b: np.ndarray, problem: LinearProblem
) -> np.ndarray:
    """The variables of `problem` for coefficients and intercepts of `about`, float64[T, dim]."""
    here, there = (
        part.features.with_outputs(W.shape[1], is_matrix=True) for part in (about, problem)
    )
    W, b = there.split(here.recentred(here.join(W, b), there))
    return np.column_stack([W.T, b]) if problem.fit_intercept else W.T
