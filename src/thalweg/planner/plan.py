"""`plan`: what every method would cost on a problem, and which one to take.

geometry             what the data look like (`planner.geometry`)
bound, predicted     iterations that theory guarantees, and to expect (`planner.prediction`)
cost                 seconds of a pass, timed on these data (`planner.cost`)
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import replace

from thalweg.certificates.duality import constant_value
from thalweg.core.checks import check_number, describe
from thalweg.core.errors import InputError
from thalweg.core.plan import ESTIMATED, Measured, Plan, PlanRow
from thalweg.methods.dual_step import has_fewer_samples
from thalweg.methods.problem import Problem
from thalweg.methods.ridge_system import is_dual
from thalweg.methods.table import METHODS
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.cost import Cost
from thalweg.planner.geometry import Geometry, geometry
from thalweg.planner.prediction import expected

# The more exact ones first, those that draw samples after those that do not.
CANDIDATES = (
    "cholesky", "newton", "newton-cg", "lbfgs", "cd", "fista", "sdca", "saga", "sag", "svrg",
    "catalyst", "nesterov", "gd",
)  # fmt: skip
# Seconds that nobody notices. Among methods this near the fastest the first of the candidates is
# taken, and likewise where its whole work is small: the choice on small data does not change with
# the noise of a clock.
A_MOMENT = 0.02
SMALL = 2e7  # multiplications that take no more than a moment, however busy the machine is
OVERHEAD = 2e-4  # seconds that an iteration takes whatever the data are: the loop's own
ENDING = 1e-3  # seconds that a run takes around its iterations: checks, a certificate, a verdict
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
    started = time.perf_counter()
    problem = problem.centred  # as methods will see it
    shape = geometry(problem)
    rows = ranked(problem, tol, shape, CANDIDATES)
    return Plan(
        problem=problem.name,
        tol=tol,
        target=tol * constant_value(problem),
        geometry=_numbers(shape),
        rows=tuple(rows),
        seconds=time.perf_counter() - started,
        advice=_advice(problem, shape),
    )


def ranked(
    problem: LinearProblem, tol: float, shape: Geometry, names: Iterable[str]
) -> list[PlanRow]:
    """A row for each of these candidates, the one to choose first."""
    cost = Cost(problem)
    rows: list[PlanRow] = []
    for name in names:
        # What cannot be chosen any more is not worth compiling a kernel for.
        best = min((row.predicted_seconds for row in rows), default=math.inf)
        if any(_is_small(row, problem) for row in rows):
            best = -math.inf
        rows.append(_row(name, problem, shape, cost, tol, best))
    rows.sort(key=lambda row: (not row.eligible, row.predicted_seconds))
    return _chosen_first(rows, problem)


def _chosen_first(rows: list[PlanRow], problem: LinearProblem) -> list[PlanRow]:
    """The rows with the chosen one in front: the fastest, or a more exact one that is as fast."""
    near = [
        row
        for row in rows
        if row.predicted_seconds <= rows[0].predicted_seconds + A_MOMENT or _is_small(row, problem)
    ]
    chosen = min(near, key=lambda row: CANDIDATES.index(row.method))
    others = [row for row in rows if row is not chosen]
    remark = "CHOSEN" if chosen is rows[0] else "CHOSEN: as fast, and the more exact"
    return [replace(chosen, remark=remark), *others]


def _is_small(row: PlanRow, problem: LinearProblem) -> bool:
    """Whether all that a method would do is done in a moment."""
    width = problem.matrix.entries / problem.n * problem.outputs  # of a row, without zeros
    hessian = problem.n * (width + problem.fit_intercept) ** 2 + problem.dim**3 / 3
    of_samples = problem.n**2 * width + problem.n**3 / 3
    work = {
        "cholesky": of_samples if is_dual(problem) else hessian,
        "newton": of_samples if has_fewer_samples(problem) else hessian,
    }
    work |= {"cd": 100 * problem.matrix.entries, "fista": 2_000 * problem.matrix.entries}
    return row.eligible and work.get(row.method, math.inf) <= SMALL


def _row(
    name: str, problem: LinearProblem, shape: Geometry, cost: Cost, tol: float, best: float
) -> PlanRow:
    refusal = _refusal(name, problem)
    if refusal:
        return PlanRow(name, eligible=False, remark=refusal)
    hope = expected(name, problem, shape, tol)
    if not math.isfinite(hope.iterations):
        return PlanRow(name, eligible=False, remark="no rate is known without an l2 penalty")
    # Where the least that it can cost is too much already, nothing else is timed: of two that are
    # within a moment of each other the one before would be taken.
    seconds = OVERHEAD + sum(count * cost.least(kind) for kind, count in hope.passes.items())
    remark = "at least"
    if hope.iterations * seconds < best - A_MOMENT or hope.passes.keys() == {"gradient"}:
        prices = (count * getattr(cost, kind) for kind, count in hope.passes.items())
        seconds, remark = OVERHEAD + sum(prices), ""
    numbers = hope.vectors_n * problem.n * problem.outputs + hope.vectors_p * problem.dim
    return PlanRow(
        name,
        eligible=True,
        remark=remark,
        bound=hope.bound,
        predicted_iterations=hope.iterations,
        seconds_per_iteration=seconds,
        predicted_seconds=ENDING + hope.iterations * seconds,
        memory=int(8 * numbers),
    )


def _refusal(name: str, problem: LinearProblem) -> str:
    """Why the method cannot take this problem; empty where it can."""
    method = METHODS[name]
    if name == "cd" and problem.l1 == 0.0:
        return "works on the few features that an l1 penalty leaves: without one there are none"
    if problem.l1 > 0.0 and not (method.takes_penalty or method.takes_linear_penalty):
        return "needs a smooth objective: l1 has no gradient at 0"
    try:
        method().check(Problem(problem, problem.dim, problem.start.dtype))
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
    about = "about " if spread.how == ESTIMATED else ""
    return (
        f"badly scaled: the largest feature scale is {about}{spread.value:.2g} times the smallest; "
        "standardize=True makes them equal (and changes what the penalties mean)"
    )
