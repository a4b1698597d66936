"""`diagnose`: what is wrong with a linear problem, a run on it, or a training that was watched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg.core.checks import describe
from thalweg.core.errors import InputError
from thalweg.core.finding import Finding
from thalweg.core.record import Record
from thalweg.core.run import Run
from thalweg.doctor.linear.facts.linear_facts import linear_facts
from thalweg.doctor.linear.symptoms import findings
from thalweg.objectives.linear import LinearProblem


def diagnose(
    problem: Any,
    run: Run | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> list[Finding]:
    """What is wrong with `problem`, worst first; an empty list where nothing is.

    Parameters
    ----------
    problem
        A `LinearProblem`: its columns, targets, penalty and conditioning are judged. Or the
        `Record` of a training that was watched, whose symptoms are told.
    run
        What `minimize` returned for the problem: κ is then measured at its solution, and what the
        penalty does is known.
    feature_names
        Of the columns, to be called by.
    class_names
        Of the classes, in the order of their labels, to be called by.

    >>> import numpy as np, thalweg as tw
    >>> X = np.random.default_rng(0).normal(size=(100, 3)) * [1.0, 1e4, 1.0]
    >>> problem = tw.LinearProblem(X, X @ [1.0, 1e-4, 2.0])
    >>> [(finding.name, finding.severity.name) for finding in tw.diagnose(problem)]
    [('unscaled inputs', 'ACT'), ('poor conditioning', 'WARN')]
    """
    if isinstance(problem, Record):
        if any(given is not None for given in (run, feature_names, class_names)):
            raise InputError("run and names must be left out for a Record: it has its own")
        from thalweg.doctor.nets import symptoms  # needs torch, which linear problems do without

        return symptoms.diagnose(problem)
    if not isinstance(problem, LinearProblem):
        raise InputError(
            f"problem must be a LinearProblem or a Record, got {describe(problem)}: "
            "state the model as tw.LinearProblem(X, y, loss), or watch a training by tw.watch"
        )
    if run is not None and not isinstance(run, Run):
        raise InputError(
            f"run must be what tw.minimize returned, got {describe(run)}: of a fitted estimator, "
            "pass one of its runs_"
        )
    if run is not None and run.w.shape != (problem.dim,):
        raise InputError(
            f"run must be one on this problem, which has {problem.dim} variables, "
            f"got one with {run.w.size}: run tw.minimize(problem)"
        )
    names = _names("feature_names", feature_names, problem.p, "as X has columns")
    K = 0 if problem.classes is None else len(problem.classes)
    classes = _names("class_names", class_names, K, "as y has classes")
    with np.errstate(all="ignore"):  # of squares that overflow: what follows from them is not said
        return findings(linear_facts(problem, run, names, classes))


def _names(
    argument: str, given: Sequence[str] | None, count: int, why: str
) -> tuple[str, ...] | None:
    """The names, as many as there are things to be named."""
    if given is None:
        return None
    if len(given) != count:
        raise InputError(f"{argument} must have {count} entries, {why}, got {len(given)}")
    return tuple(map(str, given))
