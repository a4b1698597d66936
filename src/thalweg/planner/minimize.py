"""`minimize`: check the input, choose the method, drive it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.certificates.duality import has_gap
from thalweg.core.checks import (
    check_callable,
    check_count,
    check_number,
    check_vector,
    describe,
)
from thalweg.core.errors import InputError
from thalweg.core.objective import ObjectiveProtocol, is_composite, known, name_of
from thalweg.core.plan import Plan
from thalweg.core.run import Run
from thalweg.kernels.threads import available_threads, blas_threads
from thalweg.methods.journey import Step
from thalweg.methods.loop import Limits, drive
from thalweg.methods.method import Method
from thalweg.methods.registry import METHODS, resolve
from thalweg.methods.short_way import short_way
from thalweg.objectives.function import Objective
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.choice import choose
from thalweg.planner.hedge import Hedge
from thalweg.planner.plan import plan
from thalweg.planner.remedy import Remedy
from thalweg.planner.small import small_plan
from thalweg.running import checkpoint as storage
from thalweg.running.checkpoint import Checkpoint

AMPLE = 1.0  # seconds of a limit that a short way, which takes some milliseconds, stays within
MANY = 20  # iterations of a limit, likewise; who asks for fewer means those that a callback sees


def minimize(
    objective: Any,
    method: str | Method | Plan = "auto",
    w0: Any = None,
    *,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    time_limit: float | None = None,
    seed: int = 0,
    callback: Callable[[Step], bool | None] | None = None,
    checkpoint: str | Path | Checkpoint | None = None,
    progress: bool = True,
) -> Run:
    """Minimise `objective` from `w0` and return the run, however it ended.

    Parameters
    ----------
    objective
        A surface, an `Objective`, a `Regularized`, or any function of a vector (its gradient is
        then taken by finite differences).
    method
        A name from `METHODS`, such as "lbfgs" or "adam[lr=0.1]", a method such as
        `tw.Adam(lr=0.1)`, "auto", or a plan of this problem that was made before, which is then
        followed as "auto" follows its own.
    w0
        Where to start; the objective's customary start if left out. float32 stays float32.
    tol
        Stop when ‖∇f(w)‖∞ ≤ tol · max(1, ‖∇f(w₀)‖∞).
    max_iter, time_limit
        Stop after so many iterations, or so many seconds.
    seed
        Decides all randomness of the run: the same seed gives the same bits.
    callback
        Called with a `Step` after every iteration; returning True stops the run.
    checkpoint
        A file, or a `Checkpoint`. The run is put aside there regularly, and goes on from there if
        the file exists.
    progress
        Whether to show progress on stderr when the run takes longer than a moment.

    >>> import thalweg as tw
    >>> run = tw.minimize(tw.surfaces.Rosenbrock(), "lbfgs", [-1.5, 2.0], tol=1e-10)
    >>> run.outcome.name, run.w.round(6).tolist()
    ('CONVERGED', [1.0, 1.0])
    """
    objective = _objective(objective)
    tol = check_number("tol", tol, above=0.0, advice="use time_limit or max_iter to stop")
    kept = Checkpoint.of(checkpoint)
    max_iter = check_count("max_iter", max_iter, at_least=0)
    seed = check_count("seed", seed, at_least=0)
    if time_limit is not None:
        time_limit = check_number("time_limit", time_limit, at_least=0.0)
    callback, progress = _callback(callback), _flag("progress", progress)
    start = _start(objective, w0)
    is_limited = max_iter < MANY or (time_limit is not None and time_limit < AMPLE)
    is_short = callback is None and kept is None and not is_limited
    if is_short and (rule := _rule(objective, method, tol)) is not None:
        by = METHODS[rule.best].usual()
        found = short_way(objective, by, start, tol=tol, max_iter=max_iter, seed=seed, plan=rule)
        if found is not None:
            return found
        method = rule
    with threads_of_our_own(objective):
        chosen, hedge = choice(objective, method, tol, kept, is_ruled=is_short)
        run = drive(
            objective,
            chosen,
            start,
            Limits(tol, max_iter, time_limit),
            seed=seed,
            callback=callback,
            checkpoint=kept,
            progress=progress,
            overseer=hedge,
            remedy=Remedy(hedge.plan if hedge else None) if _has_rivals(objective) else None,
        )
    if hedge is None:
        return run
    return replace(run, plan=hedge.finished(run.method, run.iterations, run.seconds))


def _has_rivals(objective: Any) -> bool:
    """Whether a plan knows which methods would do, and how soon."""
    return has_gap(objective) and not objective.has_corners


def _rule(objective: Any, method: str | Method | Plan, tol: float) -> Plan | None:
    """The plan of a small problem whose method a rule decides; None where it is not for a rule."""
    if isinstance(method, Plan):
        return method if method.is_by_rule and method.problem == name_of(objective) else None
    if method != "auto" or not isinstance(objective, LinearProblem):
        return None
    return small_plan(objective.centred, tol)


def choice(
    objective: Any,
    method: str | Method | Plan,
    tol: float,
    kept: Checkpoint | None,
    *,
    is_ruled: bool = False,
) -> tuple[Method, Hedge | None]:
    """The method to begin with, and where a plan decided it, what watches over that plan.

    `is_ruled`: whether a rule for small problems has been asked for, and is `method` if it decided.
    """
    if isinstance(method, Plan):
        if method.problem != name_of(objective):
            raise InputError(
                f"method must be a plan of this problem, {name_of(objective)}, got one of "
                f"{method.problem}: make it by tw.plan(problem)"
            )
    elif method != "auto":
        return resolve(method), None
    elif not isinstance(objective, LinearProblem):
        return choose(objective), None
    left = storage.load(kept.file) if kept else None
    if left is None:
        made = method if isinstance(method, Plan) else None
        if made is None and not is_ruled:  # a short way is not to be tried
            made = small_plan(objective.centred, tol)
        hedge = Hedge(made or plan(objective, tol))
        return resolve(hedge.plan.best), hedge
    # What was decided then, by the clock of then, holds.
    left_by = METHODS[left.identity["method"]](**left.identity["options"])
    record = left.progress.get("watch")
    return left_by, Hedge.from_record(record) if record else None


@contextmanager
def threads_of_our_own(objective: Any) -> Iterator[None]:
    """All cores for passes over the data of a linear problem, and one in each for BLAS.

    A thread that BLAS woke for a product too small for two goes on looking for work for some 20 ms,
    and takes a core from the pass that comes next.
    """
    if not isinstance(objective, LinearProblem):
        yield
        return
    given = objective.threads
    objective.threads = given or available_threads()
    try:
        with blas_threads(1):
            yield
    finally:
        objective.threads = given


def _objective(objective: Any) -> Any:
    if isinstance(objective, LinearProblem):  # to ask for its attributes would take 20 µs
        return objective
    if isinstance(objective, type):
        raise InputError(
            f"objective must be an objective, got the class {objective.__name__}: "
            f"make one with {objective.__name__}()"
        )
    if is_composite(objective) or isinstance(objective, ObjectiveProtocol):
        return objective
    if callable(objective):
        return Objective(objective)
    raise InputError(
        f"objective must be an objective or a function of a vector, got {describe(objective)}: "
        "pass a surface, tw.Objective(value, gradient), or a function"
    )


def _start(objective: Any, w0: Any) -> np.ndarray:
    """A vector of its own to start from."""
    start = known(objective, "start") if w0 is None else w0
    if start is None:
        raise InputError(
            f"w0 must be given: {name_of(objective)} has no customary start; "
            "pass a vector with one entry per variable"
        )
    return check_vector("w0", start, dim=objective.dim)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{name} must be True or False, got {describe(value)}")
    return value


def _callback(callback: Any) -> Any:
    if callback is not None:
        check_callable("callback", callback, signature="of a Step that returns True to stop")
    return callback
