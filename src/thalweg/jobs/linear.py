"""A linear model as a job: the problem, its plan, the run, and what is said of them.

The plan is always made, also where the method is given: then predicted stands beside actual in
every report. It is made once and kept, so that a training that was killed goes on by what the first
process had decided, whatever the clock would say now.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from thalweg.core.errors import InputError, StorageError
from thalweg.core.plan import Plan
from thalweg.core.storage import from_json, to_json, write_file
from thalweg.doctor.diagnosis import diagnose
from thalweg.jobs.rows import Rows
from thalweg.jobs.trained import Trained
from thalweg.methods.problem import Problem
from thalweg.methods.registry import resolve
from thalweg.methods.roles import check_roles
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.minimize import minimize
from thalweg.planner.plan import plan
from thalweg.running.checkpoint import Checkpoint
from thalweg.runs.job import Job
from thalweg.runs.linear_model import FILE, LinearModel, classes_of, loss_of, names_of
from thalweg.runs.strength import Strengths
from thalweg.tables.encoding import Encoding

PLAN, CHECKPOINT = "plan.json", "checkpoint.npz"
PAUSE = 5.0  # seconds between checkpoints


def problem_of(job: Job, rows: Rows, encoding: Encoding) -> LinearProblem:
    """What is minimised."""
    if job.is_network:
        raise InputError("a network has no linear problem: leave --model and --recipe out")
    l1, l2 = job.penalties(len(rows.y))
    return LinearProblem(
        rows.X,
        rows.y,
        loss_of(job, encoding),
        l1=l1,
        l2=l2,
        standardize=job.standardize,
        fit_intercept=job.intercept,
    )


def ready_linear(job: Job, rows: Rows, encoding: Encoding) -> LinearProblem:
    """What is minimised; raises where the method does not exist, or does not take it.

    Where l1 or l2 is yet to be chosen it is none, and an l1 that may come is looked for.
    """
    problem = problem_of(_opening(job), rows, encoding)
    may_have_l1 = isinstance(job.l1, Strengths)
    check_linear(job, problem.replaced(l1=1.0) if may_have_l1 else problem, encoding)
    return problem


def _opening(job: Job) -> Job:
    """The job without the penalties that are to be chosen."""
    none = {name: 0.0 for name in ("l1", "l2") if isinstance(getattr(job, name), Strengths)}
    return job.changed(**none, one_standard_error=False) if none else job


def check_linear(job: Job, problem: LinearProblem, encoding: Encoding) -> None:
    """Raise where the method of the job does not exist, or does not take the problem."""
    if job.method != "auto":
        check_roles(resolve(job.method), Problem(problem, problem.dim, problem.start.dtype))


def train_linear(
    job: Job,
    problem: LinearProblem,
    encoding: Encoding,
    *,
    folder: Path | None = None,
    made: Plan | None = None,
    progress: bool = True,
) -> Trained:
    """Minimise, as `made` says where the method is "auto"; diagnose where it ended.

    In `folder` the plan is kept, and the run put aside every few seconds.
    """
    made = _plan(problem, job.tol, made, folder)
    run = minimize(
        problem,
        made if job.method == "auto" else job.method,
        tol=job.tol,
        max_iter=job.max_iter,
        time_limit=job.time_limit,
        seed=job.seed,
        checkpoint=None if folder is None else Checkpoint(folder / CHECKPOINT, seconds=PAUSE),
        progress=progress,
    )
    if run.plan is None:
        run = replace(run, plan=made.after(run.method, run.iterations, run.seconds))
    coefficients, intercepts = problem.coefficients(run.w)
    codes = np.empty(0) if problem.classes is None else np.asarray(problem.classes)
    classes = classes_of(encoding) if len(codes) else ()
    codes = codes.astype(np.int64)
    model = LinearModel(
        coefficients, intercepts, codes, problem.loss, classes, names_of(encoding),
        problem.rows.means, np.sqrt(problem.rows.variances),
    )  # fmt: skip
    findings = diagnose(
        problem,
        run,
        feature_names=encoding.feature_names,
        class_names=[classes[code] for code in codes.tolist()] or None,
    )
    return Trained(run, model, {FILE: model.to_bytes()}, findings)


def _plan(problem: LinearProblem, tol: float, made: Plan | None, folder: Path | None) -> Plan:
    """The plan in the folder, or the one at hand, or a new one; kept where there is a folder."""
    file = None if folder is None else folder / PLAN
    if file is not None and file.exists():
        try:
            return Plan.from_record(from_json(file.read_bytes(), source=str(file)))
        except (KeyError, TypeError, ValueError, AttributeError, StorageError) as damage:
            raise StorageError(
                f"{file} is damaged ({type(damage).__name__}: {damage}): remove it, and a new "
                "plan is made"
            ) from damage
    made = made or plan(problem, tol)
    if file is not None:
        write_file(file, to_json(made.as_record()))
    return made
