"""Small problems are decided by a rule: no plan is worth its price where a good method is instant.

    squared loss, no l1              cholesky     one factor, the coefficients to the last digit
    a Hessian is cheap               newton       a handful of steps, coefficients likewise
    l1, features beyond samples      cd           works on the features that are left
    K classes, l2 alone              newton-cg    no Hessian but that of each class by itself

if the whole work of that method, counted in multiplications, takes a moment on any machine. Nothing
is measured, so that the same problem is always decided alike; `tw.plan` compares all methods.
"""

from __future__ import annotations

from thalweg.certificates.duality import constant_value
from thalweg.core.plan import EXACT, Measured, Plan, PlanRow
from thalweg.methods.dual_step import has_fewer_samples
from thalweg.methods.expectation import hessian_work, sample_work
from thalweg.methods.ridge_system import is_dual
from thalweg.objectives.linear import LinearProblem

SMALL = 2e7  # multiplications that take no more than a moment, however busy the machine is
RATE = 2e9  # of them a second, about
OVERHEAD = 2e-4  # seconds that an iteration takes whatever the data are: the loop's own
STEPS = {"cholesky": 1, "newton": 7, "cd": 5, "newton-cg": 10}
PASSES = 100  # over X, that cd takes at most where it is chosen
PRODUCTS = 10  # with a Hessian, that a step of newton-cg takes where it is chosen
# Of the multiplications of newton-cg, which has no better rival there: to compare it with others
# takes longer than it does.
SURE = 5.0
REASON = "CHOSEN by rule: small enough that no comparison is worth its price"


def small_work(name: str, problem: LinearProblem) -> float:
    """Multiplications that a method takes in all, or infinity where no rule chooses it."""
    match name:
        case "cholesky" if problem.loss == "squared" and problem.l1 == 0.0:
            return sample_work(problem) if is_dual(problem) else hessian_work(problem)
        case "newton":
            return sample_work(problem) if has_fewer_samples(problem) else hessian_work(problem)
        case "newton-cg" if problem.term.is_matrix and problem.l1 == 0.0 and problem.l2 > 0.0:
            entries = problem.matrix.entries * problem.outputs
            return (0.5 * problem.p + 2.0 * PRODUCTS) * entries / SURE
        case "cd" if problem.l1 > 0.0 and not problem.term.is_matrix:
            return PASSES * problem.matrix.entries
    return float("inf")


def small_plan(problem: LinearProblem, tol: float) -> Plan | None:
    """The plan of a small problem, by rule; None where methods are to be compared."""
    for name, steps in STEPS.items():
        work = small_work(name, problem)
        if work > SMALL:
            continue
        each = OVERHEAD + work / RATE
        row = PlanRow(
            name,
            eligible=True,
            remark=REASON,
            predicted_iterations=steps,
            seconds_per_iteration=each,
            predicted_seconds=steps * each,
        )
        return Plan(
            problem=problem.name,
            tol=tol,
            target=tol * constant_value(problem),
            geometry={"n": Measured(problem.n, EXACT), "p": Measured(problem.p, EXACT)},
            rows=(row,),
            seconds=0.0,
        )
    return None
