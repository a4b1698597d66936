"""`plan`: what every method would cost on a problem, and which one to take.

geometry             what the data look like (`planner.geometry`)
bound, predicted     iterations that theory guarantees, and to expect (`methods.expectation`)
cost                 seconds, counted at the rates of this machine (`planner.cost`)
pilot                conjugate gradients on some rows, where it is worth it (`planner.pilot`)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from thalweg.certificates.duality import constant_value
from thalweg.core.checks import check_number, describe
from thalweg.core.clock import Clock
from thalweg.core.errors import InputError
from thalweg.core.plan import Measured, Plan, PlanRow
from thalweg.methods.expectation import Expected
from thalweg.methods.method import Method
from thalweg.methods.own_terms import unfamiliar, way_out
from thalweg.methods.problem import Problem
from thalweg.methods.registry import METHODS
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.cost import Cost
from thalweg.planner.geometry import Geometry, geometry
from thalweg.planner.machine import Rates, rates
from thalweg.planner.pilot import pilot
from thalweg.planner.prediction import (
    candidates,
    crossing_of,
    difficulty,
    is_worth_crossing,
    rough_difficulty,
)

# Times the fastest: among those the first of the table is taken, the more exact.
NEAR, NEAR_AT_ONCE = 1.15, 1.3
AT_ONCE = 0.005  # seconds below which the latter holds, without l1
ENDING = 8  # calls that a run takes around its iterations: checks, a certificate, a verdict;
SHORT_ENDING = 4  # and a short way
WORTH_A_PILOT = 0.04  # seconds of the fastest method
BADLY_SCALED = 1e3  # largest over smallest feature scale from which standardizing is worth a word


def plan(problem: LinearProblem, tol: float = 1e-6) -> Plan:
    """What each method would take to bring `problem` to `tol`, the fastest first.

    >>> import thalweg as tw
    >>> from sklearn.datasets import load_breast_cancer
    >>> problem = tw.LinearProblem(
    ...     *load_breast_cancer(return_X_y=True), loss="logistic", l2=1e-3, standardize=True
    ... )
    >>> tw.plan(problem).best in tw.METHODS
    True
    """
    if not isinstance(problem, LinearProblem):
        raise InputError(
            f"plan needs a LinearProblem, whose constants it can measure, got {describe(problem)}: "
            "for other objectives minimize(..., method='auto') chooses by what they offer"
        )
    tol = check_number("tol", tol, above=0.0)
    clock = Clock()
    problem = problem.centred  # as methods will see it
    shape, speed, scale = geometry(problem), rates(), constant_value(problem)
    hard = difficulty(problem, shape, tol)
    cost = Cost(problem, speed)
    rows = ranked(problem, priced(problem, candidates(problem, hard, is_short=False), cost))
    if is_worth_crossing(problem, rows[0].predicted_seconds, cost):
        hard = hard._replace(crossing=crossing_of(problem))
        hopes = candidates(problem, hard, is_short=False)
        rows = ranked(problem, priced(problem, hopes, cost))
    # Huber's loss has hardly any curvature at w = 0, where the squared hinge has all of it; of a
    # user's own nobody knows.
    has_pilot = problem.is_smooth and problem.loss != "huber" and not problem.has_own_loss
    if has_pilot and rows[0].predicted_seconds > WORTH_A_PILOT:
        steps = pilot(problem, tol, scale, rows[0].predicted_seconds)
        if steps is not None:
            hard = hard._replace(steps=steps)
        hopes = candidates(problem, hard, is_short=False)
        rows = ranked(problem, priced(problem, hopes, cost))
    return Plan(
        problem=problem.name,
        tol=tol,
        target=tol * scale,
        geometry=_numbers(shape),
        rows=tuple(rows),
        seconds=clock.seconds,
        compiled=clock.compiled,
        advice=_advice(problem, shape),
    )


def rough_rows(problem: LinearProblem, tol: float) -> list[PlanRow]:
    """The rows of a plan that does not look at the rows of the data: of a small problem."""
    hard = rough_difficulty(problem, tol)
    hopes = candidates(problem, hard, is_short=False)
    return ranked(problem, priced(problem, hopes, Cost(problem, Rates())))


def priced(problem: LinearProblem, hopes: Mapping[str, Expected], cost: Cost) -> list[PlanRow]:
    """A row for each of these candidates, in their order."""
    seen = Problem(problem, problem.dim, problem.start.dtype)
    return [_row(name, hope, seen, cost) for name, hope in hopes.items()]


def ranked(problem: LinearProblem, rows: list[PlanRow]) -> list[PlanRow]:
    """The rows, which come in the order of the table, the best first and the others by time."""
    chosen = best(problem, rows)
    rows = sorted(rows, key=lambda row: (not row.eligible, row.predicted_seconds))
    others = [row for row in rows if row is not chosen]
    remark = "CHOSEN" if chosen is rows[0] else "CHOSEN: about as fast, and the more exact"
    return [replace(chosen, remark=remark), *others]


def best(problem: LinearProblem, rows: list[PlanRow]) -> PlanRow:
    """Of the rows that are about as fast as the fastest, the first: the more exact."""
    # Where all is smooth, methods that learn no curvature are left to those who ask for them.
    able = [row for row in rows if not problem.is_smooth or _leads(METHODS[row.method])]
    least = min(row.predicted_seconds for row in able)
    near = least * (NEAR_AT_ONCE if least <= AT_ONCE and problem.is_smooth else NEAR)
    return next(row for row in able if row.predicted_seconds <= near)


def _leads(method: type[Method]) -> bool:
    """Whether it may be chosen for a smooth problem: it descends, or ascends in the dual."""
    return method.descends or method.is_dual


def _row(name: str, hope: Expected, seen: Problem, cost: Cost) -> PlanRow:
    problem: LinearProblem = seen.objective
    refusal = _own_terms(name, problem) or hope.refusal or _refusal(name, seen)
    if refusal:
        return PlanRow(name, eligible=False, remark=refusal)
    if not math.isfinite(hope.iterations):
        return PlanRow(name, eligible=False, remark="no rate is known without an l2 penalty")
    seconds = cost.of(hope.passes)
    ending = SHORT_ENDING if "short_step" in hope.passes else ENDING
    numbers = hope.vectors_n * problem.n * problem.outputs + hope.vectors_p * problem.dim
    return PlanRow(
        name,
        eligible=True,
        remark="",
        bound=hope.bound,
        predicted_iterations=hope.iterations,
        seconds_per_iteration=seconds,
        predicted_seconds=ending * cost.call + hope.iterations * seconds,
        memory=int(8 * numbers),
    )


def _own_terms(name: str, problem: LinearProblem) -> str:
    """What of a user's own the method cannot take; empty where it can."""
    why = unfamiliar(METHODS[name], problem)
    return f"{why}: {way_out(problem)}" if why else ""


def _refusal(name: str, seen: Problem) -> str:
    """Why the method cannot take this problem; empty where it can."""
    method = METHODS[name]
    if seen.is_composite and not (method.takes_penalty or method.takes_linear_penalty):
        return "needs a smooth objective: l1 has no gradient at 0"
    try:
        method.usual().check(seen)
    except InputError as why:
        return str(why)
    return ""


def _numbers(shape: Geometry) -> dict[str, Measured]:
    """The geometry as it is printed."""
    return {
        "L": shape.L,
        "L_max": shape.L_max,
        "L_mean": shape.L_mean,
        "μ": shape.mu,
        "κ": shape.kappa,
        "n": Measured(shape.n, "exact"),
        "p": Measured(shape.p, "exact"),
        "density": Measured(shape.density, "exact"),
        "row norms, largest/smallest": shape.row_spread,
        "feature scales, largest/smallest": shape.feature_spread,
    }


def _advice(problem: LinearProblem, shape: Geometry) -> str:
    """What would make the problem easier, if there is something."""
    spread = shape.feature_spread
    if problem.standardize or spread.value < BADLY_SCALED:
        return ""
    return (
        f"badly scaled: the largest feature scale is {spread.value:.2g} times the smallest; "
        "standardize=True makes them equal (and changes what the penalties mean)"
    )
