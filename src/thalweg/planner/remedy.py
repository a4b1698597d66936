"""What would have brought a run that ran out to its tolerance: one change, and what it costs.

The plan knows what every method takes from the start. A run that was cut by `max_iter` or
`time_limit` is told the fastest of them, with limits of twice what is predicted, so that following
the advice is enough. Where there was no plan, the method that ran, at the pace it had, is compared
with all others.
"""

from __future__ import annotations

import math

from thalweg.core.outcome import Outcome
from thalweg.core.plan import Plan, PlanRow, spelled_seconds
from thalweg.methods.ending import Ending
from thalweg.methods.registry import METHODS
from thalweg.planner.cost import Cost
from thalweg.planner.geometry import geometry
from thalweg.planner.machine import rates
from thalweg.planner.plan import priced, ranked
from thalweg.planner.prediction import candidates, difficulty

ROOM = 2.0  # times the prediction, which is a prediction
LITTLE = 4_000  # entries of X that are looked at


class Remedy:
    """What `drive` asks when the budget of a linear problem came to its end."""

    def __init__(self, planned: Plan | None) -> None:
        self.planned = planned

    def __call__(self, ending: Ending) -> str:
        """One sentence: what to change, and what that is predicted to cost."""
        planned = self.planned
        best = planned.rows[0] if planned and not planned.is_by_rule else _best(ending)
        limits = []
        done = int(ending.trace.last["iteration"])
        if best.method != ending.method.name:
            limits.append(f"method={best.method!r}")
        enough = _rounded_up(done + ROOM * best.predicted_iterations)
        if ending.outcome is Outcome.ITERATION_LIMIT:
            limits.append(f"max_iter={enough}")
        else:
            seconds = ROOM * best.predicted_seconds + ending.trace.last["seconds"]
            limits.append(f"time_limit={_digits(seconds)}")
        return (
            f"Try {' and '.join(limits)}: {best.method} is predicted to need "
            f"{best.predicted_iterations:,.0f} iterations from the start, "
            f"{spelled_seconds(best.predicted_seconds)}."
        )


def _best(ending: Ending) -> PlanRow:
    """The row of the method that is predicted to be the fastest."""
    problem, tol = ending.problem.objective, ending.certificate.evidence["tol"]
    hard = difficulty(problem, geometry(problem, LITTLE), tol)
    hopes = candidates(problem, hard, is_short=False)
    best = ranked(problem, priced(problem, hopes, Cost(problem, rates())))[0]
    name, last = ending.method.name, ending.trace.last
    if best.method == name or name not in hopes or not last["iteration"]:
        return best
    if METHODS[best.method].is_second_order and not ending.method.is_second_order:
        return best  # what is slow here has a cause that the other does not know
    hope = hopes[name].iterations
    own = hope * last["seconds"] / last["iteration"]
    if best.eligible and not own < best.predicted_seconds:
        return best
    return PlanRow(name, eligible=True, remark="", predicted_iterations=hope, predicted_seconds=own)


def _rounded_up(count: float) -> int:
    """The next number with one digit and zeros after it."""
    unit = 10 ** math.floor(math.log10(max(count, 1.0)))
    return int(math.ceil(count / unit) * unit)


def _digits(seconds: float) -> str:
    """Two digits, rounded up."""
    unit = 10.0 ** (math.floor(math.log10(max(seconds, 1e-3))) - 1)
    return f"{math.ceil(seconds / unit) * unit:.2g}"
