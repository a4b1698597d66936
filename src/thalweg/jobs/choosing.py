"""Choose l1 and l2 of a linear model by folds: which of a grid leaves the least loss on other rows?

    for every fold     the model along the grid, each point begun where the last one ended, on the
                       rows that are kept, and its mean loss on those that are left out
    mean, error        over the folds, of every point
    chosen             the least mean, or the strongest point within one standard error of it

The loss is the model's own, without penalties: squared error of numbers, log loss of classes. Rows
that are held out for the end have no part in it. What was found goes to `choice.json`, so that a
training that is killed and resumed chooses once.

A grid that is left to the data: of l1 from the one where the first coefficient leaves zero down to
a thousandth of it, of l2 from a hundred times the largest curvature of a feature down to a
millionth of that, at equal ratios, in three digits, which can be typed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from thalweg.core.choice import BEST, ONE_ERROR, choose
from thalweg.core.chosen import CHOSEN, Chosen, Tried
from thalweg.core.clock import now
from thalweg.core.kinds import check_kinds, damaged
from thalweg.core.outcome import Outcome
from thalweg.core.storage import from_json, to_json, write_file
from thalweg.jobs.linear import problem_of
from thalweg.jobs.rows import Rows, splits_of
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.path import path, strongest
from thalweg.running.progress import Progress
from thalweg.runs.job import Job
from thalweg.runs.strength import Strength, Strengths
from thalweg.tables.encoding import Encoding

CHOICE = "choice.json"
FOLDS = 5  # where the job does not say how many
L1_POINTS, L1_RANGE = 16, 1e-3
L2_POINTS, L2_RANGE = 17, 1e-8
STRONG = 100.0  # times the curvature of a feature: many that say the same need a stronger l2
TOL = 1e-5  # of a point: losses are compared in three digits
MEASURES = {
    "squared": "half the squared error", "logistic": "log loss", "multinomial": "log loss",
    "squared-hinge": "squared hinge", "huber": "Huber's loss", "poisson": "half the deviance",
    "gamma": "half the deviance",
}  # fmt: skip


def chosen_of(
    job: Job, rows: Rows, encoding: Encoding, folder: Path, *, progress: bool = True
) -> Chosen:
    """What the grid of the job comes to on these rows; read where it has been found before."""
    file = folder / CHOICE
    if not file.exists():
        write_file(file, to_json(_found(job, rows, encoding, progress).to_dict()))
    content = from_json(file.read_bytes(), source=str(file))
    check_kinds(content, CHOSEN, source=str(file))
    try:
        return Chosen.from_dict(content)
    except (LookupError, TypeError, ValueError) as problem:
        raise damaged(str(file), problem) from problem


def _found(job: Job, rows: Rows, encoding: Encoding, progress: bool) -> Chosen:
    job = job if job.folds else job.changed(folds=FOLDS)
    settled = job.settled("0", "0")
    whole = problem_of(settled, rows, encoding)
    grid = grid_of(job, whole)
    # Losses are asked for in the units of X, whatever a fold's own rows would make of them.
    plain = problem_of(settled.changed(standardize=False), rows, encoding)
    losses, begun = [], now()
    splits = list(splits_of(job, rows.y, encoding))
    with Progress("choosing", len(splits), shown=progress, unit="folds") as bar:
        for kept, left_out in splits:
            part = problem_of(settled, Rows(rows.X[kept], rows.y[kept]), encoding)
            test = plain.sample(left_out)
            losses.append([test.value(w) for w in _along(part, grid, plain, job)])
            if bar.is_due(now() - begun):
                bar.show(len(losses), now() - begun, f"{len(grid)} penalties each")
    scores = -np.array(losses)
    sizes = np.array([(l1.of(whole.n), l2.of(whole.n)) for l1, l2 in grid])
    rule = ONE_ERROR if job.one_standard_error else BEST
    found = choose(scores, sizes.sum(axis=1), [{} for _ in grid], MEASURES[whole.loss], rule)
    means = -scores.mean(axis=0)
    errors = scores.std(axis=0, ddof=1) / len(scores) ** 0.5
    points = tuple(
        Tried(str(l1), str(l2), (float(size[0]), float(size[1])), float(mean), float(error))
        for (l1, l2), size, mean, error in zip(grid, sizes, means, errors, strict=True)
    )
    best = int(np.argmin(np.where(np.isfinite(means), means, np.inf)))
    return Chosen(found.measure, job.folds, rule, found.index, best, points)


def grid_of(job: Job, problem: LinearProblem) -> list[tuple[Strength, Strength]]:
    """All pairs of l1 and l2, for each l2 the strongest l1 first."""
    l1s = _strengths(job.l1, problem, strongest, L1_POINTS, L1_RANGE)
    l2s = _strengths(job.l2, problem, _strongest_l2, L2_POINTS, L2_RANGE)
    return [(l1, l2) for l2 in l2s for l1 in l1s]


def _strengths(
    given: Any, problem: LinearProblem, top: Any, points: int, share: float
) -> list[Strength]:
    if isinstance(given, Strength):
        return [given]
    assert isinstance(given, Strengths)
    if given.points:
        return sorted(given.points, key=lambda each: -each.of(problem.n))
    first = top(problem)
    if not first > 0.0:
        return [Strength(0.0)]
    return [Strength(float(f"{size:.3g}")) for size in np.geomspace(first, share * first, points)]


def _strongest_l2(problem: LinearProblem) -> float:
    """One that leaves next to nothing of any coefficient."""
    seen = problem.centred
    bound = seen.curvature_bound if seen.has_bound else 1.0
    return float(STRONG * bound * seen.column_squares[: problem.p].max(initial=0.0))


def _along(
    part: LinearProblem, grid: list[tuple[Strength, Strength]], plain: LinearProblem, job: Job
) -> list[np.ndarray]:
    """The variables of `plain` for every point of the grid, trained on a part of the rows."""
    pairs = np.array([(l1.of(part.n), l2.of(part.n)) for l1, l2 in grid])
    count = len({l1 for l1, _ in grid})
    # Along one l2 after the other; where l1 is but one, along all l2.
    lines = np.split(pairs, len(pairs) // count) if count > 1 else [pairs]
    found = []
    for line in lines:
        runs = path(part, line[:, 0], l2s=line[:, 1], tol=TOL, seed=job.seed, progress=False)
        if runs[-1].outcome is Outcome.INTERRUPTED:
            raise KeyboardInterrupt
        found += [plain.features.join(*part.coefficients(run.w)) for run in runs]
    return found
