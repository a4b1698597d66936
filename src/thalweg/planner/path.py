"""A path: one problem along a grid of penalties, each minimised from the solution before.

    w(λ₁), w(λ₂), …        w(λₖ) is sought from w(λₖ₋₁)

From strong penalties to weak ones few coefficients change from step to step, and a step costs
little. Each run has its own certificate: none relies on the one before being right.

What the points share is done once: checks, the measures of columns, the choice of a method. Of the
squared loss they also share its sums, where there are more samples than features
(`methods.quadratic_path`), and elsewhere the features that were gathered (`methods.working_path`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from thalweg.certificates.dual_point import unit
from thalweg.certificates.duality import Gap, constant_value, gap_certificate, has_gap
from thalweg.certificates.path_gaps import path_gaps, pulls
from thalweg.core.checks import check_count, check_number, check_reals, describe
from thalweg.core.clock import now
from thalweg.core.environment import environment
from thalweg.core.errors import InputError
from thalweg.core.outcome import Outcome
from thalweg.core.plan import Plan
from thalweg.core.run import Run
from thalweg.core.trace import Trace
from thalweg.methods.cd import CD
from thalweg.methods.exact_step import has_sums
from thalweg.methods.journey import Relay
from thalweg.methods.loop import Limits, drive
from thalweg.methods.method import Method
from thalweg.methods.quadratic_path import QuadraticPath
from thalweg.methods.registry import resolve
from thalweg.methods.working_path import working_path
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.minimize import choice, minimize, threads_of_our_own
from thalweg.planner.prediction import l1_max
from thalweg.planner.remedy import Remedy

MOST_FEATURES = 1_000  # whose sums are taken at once
INSTANT = 50_000_000  # multiplications for sums, that take no more than a moment
THREADS_FROM = 2_000_000  # entries of X: below, waking a second thread takes longer than a pass
HAIR = 1e-9  # of the strongest l1, for rounding: all coefficients are to be zero there
AIM = 0.5  # of the gap that is asked for: rounding is added in the end


def path(
    problem: LinearProblem,
    l1s: Any = None,
    method: str | Method = "auto",
    *,
    l2s: Any = None,
    l1_ratio: float | None = None,
    points: int = 100,
    ratio: float = 1e-3,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    seed: int = 0,
    progress: bool = True,
) -> list[Run]:
    """One run for each of `l1s`, in their order, each started where the last one ended.

    Parameters
    ----------
    problem
        A `LinearProblem` of any loss. Its own l1 is replaced, and its l2 where that varies too.
    l1s
        The penalties, the strongest first. If left out, `points` of them at equal ratios, from
        the one where the first coefficient becomes non-zero, max |∇F(0, best b)|, to `ratio` of it.
    l2s
        One for each of `l1s`; that of the problem for all if left out.
    l1_ratio
        ρ in (0, 1], in place of `l2s`, for an elastic net: l1 = αρ and l2 = α(1 − ρ), so that
        l2 = l1·(1 − ρ)/ρ. scikit-learn's `enet_path` has the same ρ and α.

    Other arguments are those of `minimize`.

    >>> import numpy as np, thalweg as tw
    >>> X, y = np.eye(3), np.array([3.0, 2.0, 1.0])
    >>> runs = tw.path(tw.LinearProblem(X, y, fit_intercept=False), [0.9, 0.5, 0.1])
    >>> [int(np.count_nonzero(run.w)) for run in runs], all(run.certificate.holds for run in runs)
    ([1, 2, 3], True)
    """
    if not isinstance(problem, LinearProblem):
        raise InputError(f"problem must be a LinearProblem, got {describe(problem)}")
    if problem.own_penalty is not None and problem.by_column is None:
        raise InputError(
            f"problem must have no penalty of its own, got {problem.own_penalty.name!r}: a path "
            "varies l1, so minimize a problem for each strength"
        )
    tol = check_number("tol", tol, above=0.0)
    max_iter, seed = (
        check_count("max_iter", max_iter, at_least=0),
        check_count("seed", seed, at_least=0),
    )
    if not isinstance(progress, bool):
        raise InputError(f"progress must be True or False, got {describe(progress)}")
    l1s = _grid(problem, l1s, points, ratio)
    l2s = _ridges(problem, l1s, l2s, l1_ratio)
    options: Any = {"tol": tol, "max_iter": max_iter, "seed": seed, "progress": progress}
    shared = method in ("auto", CD.name) or method == CD()
    runs: list[Run] = []
    is_known = problem.own_penalty is None or problem.is_positive
    if shared and is_known and problem.loss == "squared" and max_iter >= 1 and np.all(l1s > 0.0):
        runs = (_by_sums if sums_pay(problem) else _by_members)(problem, l1s, l2s, method, options)
    return _one_by_one(problem, l1s, l2s, method, runs, options)


def _one_by_one(
    problem: LinearProblem,
    l1s: np.ndarray,
    l2s: np.ndarray,
    method: str | Method,
    runs: list[Run],
    options: Any,
) -> list[Run]:
    """The `runs` so far and one for each point that is left, each handed the state of the last."""
    pairs = zip(l1s[len(runs) :].tolist(), l2s[len(runs) :].tolist(), strict=True)
    grid = [problem.replaced(l1=l1, l2=l2) for l1, l2 in pairs]
    penalised = [here for here in grid if here.usual_l1 > 0.0]
    relay, chosen, plan = Relay(), method, None
    if method == "auto" and penalised:
        # One plan for all: that of a point in the middle.
        with threads_of_our_own(problem):
            chosen, hedge = choice(penalised[len(penalised) // 2], method, options["tol"], None)
        plan = hedge.plan if hedge else None
    for here in grid:
        w0 = runs[-1].w if runs else None
        if chosen == "auto" or (plan is not None and here.usual_l1 == 0.0):
            runs.append(minimize(here, method, w0, **options))
        else:
            run = _handed(here, resolve(chosen), w0, relay, options)
            runs.append(run if plan is None else replace(run, plan=_of_point(plan, here, run)))
        if runs[-1].outcome is Outcome.INTERRUPTED:
            break
    return runs


def _handed(
    problem: LinearProblem, method: Method, w0: np.ndarray | None, relay: Relay, options: Any
) -> Run:
    """A run that begins with what the last one left to it."""
    start = problem.start if w0 is None else w0
    with threads_of_our_own(problem):
        return drive(
            problem,
            method,
            start,
            Limits(options["tol"], options["max_iter"]),
            seed=options["seed"],
            progress=options["progress"],
            remedy=Remedy(None) if has_gap(problem) else None,
            relay=relay,
        )


def _of_point(plan: Plan, problem: LinearProblem, run: Run) -> Plan:
    """The plan of the path, as that of one of its points, with what that took."""
    mine = replace(plan, problem=problem.name, target=run.certificate.limit)
    return mine.after(run.method, run.iterations, run.seconds)


def strongest(problem: LinearProblem) -> float:
    """The least l1 for which all coefficients are zero, a hair more: max |∇F(0, best b)|."""
    with threads_of_our_own(problem):
        return (1.0 + HAIR) * l1_max(problem.centred)


def sums_pay(problem: LinearProblem) -> bool:
    """Whether the sums of all features are worth their price: they may not even be needed."""
    n, p = problem.n, problem.p
    work = p * problem.matrix.entries
    return p <= MOST_FEATURES and (has_sums(problem) or (p <= 4 * n and work <= INSTANT))


def _grid(problem: LinearProblem, l1s: Any, points: int, ratio: float) -> np.ndarray:
    """The l1 of each point, float64[K]."""
    if l1s is None:
        points = check_count("points", points)
        ratio = check_number("ratio", ratio, above=0.0, at_most=1.0)
        top = strongest(problem)
        return np.geomspace(top, ratio * top, points) if top > 0.0 else np.zeros(points)
    grid = check_reals("l1s", l1s)
    if grid.ndim != 1 or not np.all(np.isfinite(grid) & (grid >= 0)):
        raise InputError(
            f"l1s must be a list of finite penalties ≥ 0, got {describe(l1s)}: "
            "give the strongest first"
        )
    return grid.astype(np.float64)


def _ridges(problem: LinearProblem, l1s: np.ndarray, l2s: Any, l1_ratio: Any) -> np.ndarray:
    """The l2 of each point, float64[K]."""
    if l1_ratio is not None:
        if l2s is not None:
            raise InputError("l1_ratio must be left out where l2s are given: both say what l2 is")
        rho = check_number("l1_ratio", l1_ratio, above=0.0, at_most=1.0)
        return l1s * ((1.0 - rho) / rho)
    if l2s is None:
        return np.full(l1s.size, problem.l2)
    grid = check_reals("l2s", l2s)
    if grid.shape != l1s.shape or not np.all(np.isfinite(grid) & (grid >= 0)):
        raise InputError(
            f"l2s must be {l1s.size} finite penalties ≥ 0, one for each of l1s, "
            f"got {describe(l2s)}: for one l2 at all points, set that of the problem"
        )
    return grid.astype(np.float64)


def _by_sums(
    problem: LinearProblem, l1s: np.ndarray, l2s: np.ndarray, method: str | Method, options: Any
) -> list[Run]:
    """A run for every point, from one look at the data; by `minimize` where rounding forbids."""
    started = now()
    tol, seed = options["tol"], options["seed"]
    points, gaps, starts, norms, scale = by_sums(problem, l1s, l2s, tol)
    seconds = (now() - started) / len(l1s)
    record = _Recorder(problem, scale, tol, seed)
    runs: list[Run] = []
    for k, gap in enumerate(gaps):
        w0 = runs[-1].w if runs else problem.start
        if not gap.gap <= tol * scale:
            here = problem.replaced(l1=float(l1s[k]), l2=float(l2s[k]))
            is_start = np.all(np.isfinite(points[k]))
            runs.append(minimize(here, method, points[k] if is_start else w0, **options))
            continue
        start, end = starts[k], float(norms[k])
        runs.append(
            record.run(
                float(l1s[k]),
                float(l2s[k]),
                w0,
                points[k],
                gap,
                start,
                end,
                1,
                seconds,
                float(not k),
            )
        )
    return runs


def by_sums(
    problem: LinearProblem, l1s: np.ndarray, l2s: np.ndarray, tol: float
) -> tuple[np.ndarray, list[Gap], np.ndarray, np.ndarray, float]:
    """The variables of every point, float[K, dim], and their gaps; where it began, and ended.

    In the end F(w = 0, best b), which the gaps are to be beside. All l1 are positive.
    """
    centred, dtype = problem.centred, problem.matrix.dtype
    with threads_of_our_own(problem), np.errstate(over="ignore", invalid="ignore"):
        sums, scale = centred.least_squares, constant_value(centred)
        whole = QuadraticPath.of(*sums.reduced(), is_positive=problem.is_positive)
        U, starts = whole.along(l1s, l2s, AIM * tol * scale)
        W = U if dtype == np.float64 else U.astype(dtype).astype(np.float64)
        b, delta = _intercepts(problem, centred, W, dtype)
        gaps, tilts = path_gaps(
            sums, problem.n, W, U, l1s, l2s, delta, is_positive=problem.is_positive
        )
    points = np.column_stack([W, b]).astype(dtype) if problem.fit_intercept else W.astype(dtype)
    return points, gaps, starts, _norms(tilts, U, l1s, l2s, problem.is_positive), scale


def _by_members(
    problem: LinearProblem, l1s: np.ndarray, l2s: np.ndarray, method: str | Method, options: Any
) -> list[Run]:
    """A run for every point, over features gathered once; maybe not for the last ones."""
    tol, seed = options["tol"], options["seed"]
    runs: list[Run] = []
    with threads_of_our_own(problem), np.errstate(over="ignore", invalid="ignore"):
        if problem.matrix.entries < THREADS_FROM:
            problem.threads = 1
        scale = constant_value(problem.centred)
        record = _Recorder(problem, scale, tol, seed)
        started = now()
        for k, point in enumerate(working_path(problem, l1s, l2s, tol * scale)):
            w0 = runs[-1].w if runs else problem.start
            l1, l2 = float(l1s[k]), float(l2s[k])
            if point.is_done:
                seconds = now() - started
                runs.append(
                    record.run(
                        l1, l2, w0, point.w, point.gap, point.start, point.norm, point.rounds,
                        seconds, float(point.rounds),
                    )
                )  # fmt: skip
            else:
                is_start = np.all(np.isfinite(point.w))
                here = problem.replaced(l1=l1, l2=l2)
                runs.append(minimize(here, method, point.w if is_start else w0, **options))
            started = now()
    return runs


def _intercepts(
    problem: LinearProblem, centred: LinearProblem, W: np.ndarray, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    """The intercept of every point in the variables that were asked for, and what it is off by."""
    K = len(W)
    if not problem.fit_intercept:
        return np.zeros(K), np.zeros(K)
    b = centred.least_squares.best_intercepts(W)
    shift = problem.features.place - centred.features.place
    lift = centred.term.origin - problem.term.origin
    moved = W * problem.features.units
    there = b + moved @ shift + lift
    sizes = np.abs(b) + np.abs(moved) @ np.abs(shift) + abs(lift)
    return there, unit(problem.p) * sizes + np.abs(there.astype(dtype) - there)


def _norms(
    tilts: np.ndarray, W: np.ndarray, l1s: np.ndarray, l2s: np.ndarray, is_positive: bool
) -> np.ndarray:
    """The largest entry of the shortest subgradient at each point."""
    l1s = l1s[:, None]
    G = tilts + l2s[:, None] * W
    at_zero = np.maximum(pulls(G, is_positive=is_positive) - l1s, 0.0)
    return np.where(W == 0.0, at_zero, np.abs(G + l1s * np.sign(W))).max(axis=1, initial=0.0)


class _Recorder:
    """Writes the runs of a path, which have all but their numbers in common."""

    def __init__(self, problem: LinearProblem, scale: float, tol: float, seed: int) -> None:
        self.problem = problem.replaced()
        self.scale, self.tol, self.seed = scale, tol, seed
        self.options, self.environment = CD().options, environment()

    def run(
        self,
        l1: float,
        l2: float,
        w0: np.ndarray,
        w: np.ndarray,
        gap: Gap,
        start: Any,
        norm: float,
        iterations: int,
        seconds: float,
        passes: float,
    ) -> Run:
        """The record of a point that began at `w0`, with the value and the gap `start`."""
        here = self.problem.replaced(l1=l1, l2=l2)
        certificate = gap_certificate(gap, self.scale, self.tol, l2)
        rows = np.array(
            [
                [0, 0, 0, 0.0, start[0], np.nan, start[1]],
                [iterations, passes, iterations, seconds, gap.primal, norm, gap.gap],
            ]
        )
        return Run(
            objective=here.name,
            method=CD.name,
            w=w,
            value=gap.primal,
            outcome=Outcome.CONVERGED,
            reason=f"{Outcome.CONVERGED} {certificate.statement}.",
            trace=Trace(rows),
            certificate=certificate,
            w0=w0,
            tol=self.tol,
            seed=self.seed,
            options=self.options,
            counts={"values": 0, "gradients": iterations, "hessian_vectors": 0, "passes": passes},
            environment=self.environment,
        )
