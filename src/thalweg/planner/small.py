"""Small problems are decided by a rule: no look at the data is worth its price there.

Of the methods that are ever the fastest on a small problem, the one that is done first by what is
counted of the problem (`planner.cost`), with the usual spectrum and at the usual rates: nothing is
measured, so that the same problem is always decided alike. `tw.plan` compares all methods.
"""

from __future__ import annotations

import math
from dataclasses import replace

from thalweg.certificates.duality import constant_value
from thalweg.core.clock import Clock
from thalweg.core.plan import EXACT, Measured, Plan, PlanRow
from thalweg.methods.cd import CD
from thalweg.methods.cholesky import Cholesky
from thalweg.methods.expectation import Difficulty
from thalweg.methods.newton import Newton
from thalweg.methods.registry import METHODS
from thalweg.methods.sdca import SDCA
from thalweg.methods.short_way import has_short_way
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.cost import Cost
from thalweg.planner.machine import Rates
from thalweg.planner.plan import best, priced
from thalweg.planner.prediction import (
    LOOKS,
    SHARE,
    candidates,
    crossing_of,
    is_worth_crossing,
    rough_difficulty,
)

A_MOMENT, LONGER = 0.02, 0.04  # seconds up to which a rule decides; where few methods compete
MOST, MORE = 2_000_000, 10_000_000  # entries times classes up to which it does
SMOOTH = ("cholesky", "newton", "newton-cg", "sdca")  # the more exact ones first
WITH_L1 = ("newton", "cd")
SUMMED = (("cholesky", "newton"), ("newton",))  # where X may be read a few times, and where not
A_GLANCE = 30_000  # entries of X that a look reads sooner than prices are worked out
FEW = 100_000  # entries of X that are read in no time
WORTH_DIGITS = 1.5  # times as long as dual ascent, that Newton may take for its digits
LARGE = 100  # variables of several classes
SURE = 6.0  # moments that the short way of several classes may take
A_LOOP = 2e-3  # seconds that a run of the loop takes at least, about
REASON = "CHOSEN by rule: small enough that no comparison is worth its price"


def small_plan(problem: LinearProblem, tol: float, among: tuple[str, ...] = ()) -> Plan | None:
    """The plan of a small problem, by rule; None where methods are to be compared.

    `among` the methods that are given, or those that the rule knows.

    Short ways are priced whether or not one will be taken: who listens to a run gets the same one.
    """
    if not _is_known(problem) or (names := _names(problem)) is None:
        return None
    names = among or names
    target = tol * constant_value(problem)  # which any run asks for: no part of planning
    clock, cost, first = Clock(), Cost(problem, Rates()), METHODS[names[0]].usual()
    rows: list[PlanRow] = []
    if has_short_way(problem, first):
        rows = _rows(problem, rough_difficulty(problem, tol, ()), names[:1], cost)
    # No loop is done sooner than this, so that none can be far ahead of a way without one.
    if not (rows and rows[0].predicted_seconds <= A_LOOP):
        hard = rough_difficulty(problem, tol, _looks(problem, names, cost, tol))
        rows = _rows(problem, hard, names, cost)
        least = min(row.predicted_seconds for row in rows)
        if least > A_LOOP and is_worth_crossing(problem, least, cost):
            hard = hard._replace(crossing=crossing_of(problem))
            rows = _rows(problem, hard, (*names, CD.name), cost)
            rows = [row for row in rows if row.eligible]
    exact, row = rows[0], best(problem, rows)
    # A gap of tol leaves coefficients with half its digits, or none where no penalty holds them;
    # steps of Newton's give them all, and the closed form those that are smallest.
    if METHODS[row.method].is_dual or problem.is_loose:
        worth = math.inf if exact.method == Cholesky.name else WORTH_DIGITS * row.predicted_seconds
        row = exact if exact.predicted_seconds <= min(A_MOMENT, worth) else row
    # Of several classes the short way has no rival, and to look for one takes half as long as it.
    is_sure = problem.term.is_matrix and has_short_way(problem, METHODS[row.method].usual())
    moment = LONGER if _is_narrow(problem) else A_MOMENT
    if not row.predicted_seconds <= (SURE * A_MOMENT if is_sure else moment):
        return None
    return Plan(
        problem=problem.name,
        tol=tol,
        target=target,
        geometry={"n": Measured(problem.n, EXACT), "p": Measured(problem.p, EXACT)},
        rows=(replace(row, remark=REASON),),
        seconds=clock.seconds,
        compiled=clock.compiled,
    )


def _looks(
    problem: LinearProblem, names: tuple[str, ...], cost: Cost, tol: float
) -> tuple[str, ...]:
    """What is worth a look at the rows: nothing, where what it would tell cannot change the choice.

    Those that ask for it are taken at their best, an l1 as near to what leaves nothing as can be,
    and rows that are orthogonal: where a look costs more than to find that out.
    """
    needs_l1 = problem.l1 > 0.0 or problem.by_column is not None
    if SDCA.name not in names:
        if not needs_l1 or problem.is_summed:
            return ()
        if problem.matrix.entries <= A_GLANCE:
            return (SHARE,)
    hard = rough_difficulty(problem, tol, ())._replace(crowding=0.0)
    winner = best(problem, _rows(problem, hard, names, cost)).method
    by_sums = winner == Newton.name and problem.loss == "squared"
    if winner == SDCA.name or (needs_l1 and not by_sums):
        return LOOKS if SDCA.name in names else (SHARE,)
    return ()


def _names(problem: LinearProblem) -> tuple[str, ...] | None:
    """The methods that are ever the fastest on such a problem; None where it is not small."""
    if problem.is_summed:  # all that is left to do is a system
        is_read_once = problem.matrix.entries > FEW and not problem.is_loose
        return SUMMED[not problem.is_smooth or is_read_once]
    if problem.matrix.entries * problem.outputs > (MORE if _is_narrow(problem) else MOST):
        return None
    if not problem.is_smooth:
        return WITH_L1
    if problem.loss == "squared":
        return SMOOTH
    # The Hessian of several classes is large: a method that needs none is as sure.
    return SMOOTH[2:] if problem.outputs > 1 and problem.dim > LARGE else SMOOTH[1:]


def _is_narrow(problem: LinearProblem) -> bool:
    """Whether few methods compete."""
    return not problem.is_smooth or problem.loss == "squared"


def _is_known(problem: LinearProblem) -> bool:
    """Whether kernels know the loss, and the penalty or what it is column by column."""
    if problem.by_column is None:
        return problem.is_built_in
    return not (problem.has_own_loss or problem.term.is_matrix)


def _rows(
    problem: LinearProblem, hard: Difficulty, names: tuple[str, ...], cost: Cost
) -> list[PlanRow]:
    return priced(problem, candidates(problem, hard, names, is_short=True), cost)
