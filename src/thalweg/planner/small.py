"""Small problems are decided by a rule: no look at the data is worth its price there.

Of the methods that are ever the fastest on a small problem, the one that is done first by what is
counted of the problem (`planner.cost`), with the usual spectrum and at the usual rates: nothing is
measured, so that the same problem is always decided alike. A method that has a short way is priced
by that (`methods.short_way`). `tw.plan` compares all methods.
"""

from __future__ import annotations

from dataclasses import replace

from thalweg.certificates.duality import constant_value
from thalweg.core.plan import EXACT, Measured, Plan
from thalweg.methods.expectation import Difficulty, Expected
from thalweg.methods.short_way import has_short_way
from thalweg.methods.table import METHODS
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.cost import Cost
from thalweg.planner.machine import Rates
from thalweg.planner.plan import A_MOMENT, ENDING, NEAR_IN_A_MOMENT, ranked
from thalweg.planner.prediction import rough_difficulty

MOST = 2_000_000  # entries times classes: more are no small problem
SMOOTH = ("cholesky", "newton", "newton-cg", "sdca")  # the more exact ones first
WITH_L1 = ("newton", "cd")
REASON = "CHOSEN by rule: small enough that no comparison is worth its price"


def small_plan(problem: LinearProblem, tol: float) -> Plan | None:
    """The plan of a small problem, by rule; None where methods are to be compared."""
    if problem.matrix.entries * problem.outputs > MOST:
        return None
    hard, usual = rough_difficulty(problem, tol), Rates()
    first, *others = [
        name
        for name in (WITH_L1 if problem.l1 else SMOOTH)
        if name != "cholesky" or problem.loss == "squared"
    ]
    hopes = {first: _hope(first, problem, hard)}
    row = ranked(problem, hopes, usual)[0]
    # Nothing is done sooner than its ending, so that none can be far ahead of this one.
    if not row.predicted_seconds <= NEAR_IN_A_MOMENT * ENDING * Cost(problem, usual).call:
        hopes |= {name: _hope(name, problem, hard) for name in others}
        row = ranked(problem, hopes, usual)[0]
    if not row.predicted_seconds <= A_MOMENT:
        return None
    return Plan(
        problem=problem.name,
        tol=tol,
        target=tol * constant_value(problem),
        geometry={"n": Measured(problem.n, EXACT), "p": Measured(problem.p, EXACT)},
        rows=(replace(row, remark=REASON),),
        seconds=0.0,
    )


def _hope(name: str, problem: LinearProblem, hard: Difficulty) -> Expected:
    """What to expect of a method, by its short way where it has one."""
    method = METHODS[name]()
    hope = method.expected(problem, hard)
    assert hope is not None  # all of these say what to expect
    if has_short_way(problem, method, problem.start.dtype):
        return hope._replace(passes={"short_step": 1.0})
    return hope
