"""Watch a run beside its plan, and change the method when it falls far behind.

    predicted       seconds of the chosen method, by the plan
    on its way to   seconds so far, plus those that the gradient norm still needs at its late rate

Where the second is more than 3 times the first, the plan was wrong about this method: its row gets
what was observed. If another method is then predicted to be done sooner, it goes on from the point
that was reached, and the plan says so.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from thalweg.core.plan import Plan
from thalweg.methods.loop import Journey
from thalweg.methods.method import Method
from thalweg.methods.table import resolve

BEHIND = 3.0  # times the prediction
EARLIEST = 6  # iterations; fewer say nothing of a rate
SHORTEST = 0.2  # seconds below which no change of method pays


class Watch:
    """What `drive` asks after every iteration."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._begun_at = 0  # iteration at which the present method took over
        self._seconds_before = 0.0  # of the methods before it
        self._tried = {plan.best}

    def __call__(self, journey: Journey) -> Method | None:
        """The method to go on with, if it is to be another one."""
        name = journey.method.name
        row = self.plan.row(name)
        count = journey.iteration - self._begun_at
        if count < EARLIEST or journey.seconds < SHORTEST:
            return None
        # Of a typical iteration: the first one may have waited for a compiler.
        elapsed = count * float(np.median(np.diff(journey.trace["seconds"][-count - 1 :])))
        if elapsed < max(SHORTEST, 0.05 * row.predicted_seconds):
            return None
        more = _iterations_to_go(journey, count)
        if (count + more) * elapsed / count <= BEHIND * row.predicted_seconds:
            return None
        remaining = more * elapsed / count
        others = [r for r in self.plan.rows if r.eligible and r.method not in self._tried]
        if not others or others[0].predicted_seconds >= remaining:
            return None
        other = others[0].method
        change = (
            f"{name} fell behind its prediction after {count} iterations "
            f"({elapsed:.2g} s, {remaining:.2g} s to go where {row.predicted_seconds:.2g} s were "
            f"predicted): {other} goes on"
        )
        plan = self.plan.after(name, count, elapsed)
        self.plan = replace(plan, changes=(*plan.changes, change))
        self._begun_at, self._seconds_before = journey.iteration, journey.seconds
        self._tried.add(other)
        return resolve(other)

    def finished(self, method: str, iterations: int, seconds: float) -> Plan:
        """The plan with what the run took."""
        return self.plan.after(method, iterations - self._begun_at, seconds - self._seconds_before)


def _iterations_to_go(journey: Journey, count: int) -> float:
    """Until the gradient norm has fallen as far as tol asks, at the rate of the late iterations.

    The gap falls like the square of the norm, and from about F(w₀) to tol times that.
    """
    norms = journey.trace["gradient_norm"][-count:]
    half = max(2, len(norms) // 2)
    start, end = float(np.max(norms[:-half] if len(norms) > half else norms[:1])), float(norms[-1])
    late = float(np.max(norms[-half : -half + 2]))
    goal = math.sqrt(journey.tol) * journey.first_norm
    if end <= goal:
        return 0.0
    if not 0.0 < end < late or not start:
        return math.inf
    return math.log(end / goal) / (math.log(late / end) / half)
