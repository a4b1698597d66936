"""Watch a run beside its plan, and change the method when it falls far behind.

    predicted       seconds of the chosen method, by the plan
    on its way to   seconds so far, plus those that the gradient norm still needs at its late rate

Where the second is more than 3 times the first, the plan was wrong about this method: its row gets
what was observed. If another method is then predicted to be done sooner, it goes on from the point
that was reached, and the plan says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from thalweg.core.plan import Plan
from thalweg.methods.loop import Journey
from thalweg.methods.method import Method
from thalweg.methods.table import resolve
from thalweg.planner.plan import plan

BEHIND = 3.0  # times the prediction
EARLIEST = 6  # iterations; fewer say nothing of a rate
GROWTH = 1.25  # of the iterations between two looks: looking at every one would cost as much as it
SHORTEST = 0.2  # seconds below which no change of method pays


class Watch:
    """What `drive` asks after every iteration."""

    def __init__(self, made: Plan) -> None:
        self.plan = made
        self._begun_at = 0  # iteration at which the present method took over
        self._seconds_before = 0.0  # of the methods before it
        self._look_at = EARLIEST  # iterations of the present method
        self._tried = {made.best}

    def __call__(self, journey: Journey) -> Method | None:
        """The method to go on with, if it is to be another one."""
        count = journey.iteration - self._begun_at
        if count < self._look_at or journey.seconds < SHORTEST:
            return None
        self._look_at = math.ceil(GROWTH * count)
        name = journey.method.name
        row = self.plan.row(name)
        if row is None:
            return None
        own = journey.trace["iteration"] >= self._begun_at  # a long trace leaves some of them out
        at, seconds, norms = (
            journey.trace[column][own] for column in ("iteration", "seconds", "gradient_norm")
        )
        # Of a typical iteration: one may have waited for a processor.
        elapsed = count * float(np.median(np.diff(seconds) / np.diff(at)))
        if elapsed < max(SHORTEST, 0.05 * row.predicted_seconds):
            return None
        goal = math.sqrt(journey.tol) * journey.first_norm
        more = _iterations_to_go(at, norms, goal)
        if (count + more) * elapsed / count <= BEHIND * row.predicted_seconds:
            return None
        remaining = more * elapsed / count
        if self.plan.is_by_rule:  # which was wrong: now compare
            measured = plan(journey.objective, journey.tol)
            self.plan = replace(
                measured, rows=(row, *(r for r in measured.rows if r.method != name))
            )
        others = [r for r in self.plan.rows if r.eligible and r.method not in self._tried]
        if not others or others[0].predicted_seconds >= remaining:
            return None
        other = others[0].method
        change = (
            f"{name} fell behind its prediction after {count} iterations "
            f"({elapsed:.2g} s, {remaining:.2g} s to go where {row.predicted_seconds:.2g} s were "
            f"predicted): {other} goes on"
        )
        after = self.plan.after(name, count, elapsed)
        self.plan = replace(after, changes=(*after.changes, change))
        self._begun_at, self._seconds_before = journey.iteration, journey.seconds
        self._look_at = EARLIEST
        self._tried.add(other)
        return resolve(other)

    def record(self) -> dict[str, Any]:
        """Plain values that `from_record` takes."""
        return {
            "plan": self.plan.as_record(),
            "begun_at": self._begun_at,
            "seconds_before": self._seconds_before,
            "look_at": self._look_at,
            "tried": sorted(self._tried),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Watch:
        """The watch as it was."""
        watch = cls(Plan.from_record(record["plan"]))
        watch._begun_at = record["begun_at"]
        watch._seconds_before = record["seconds_before"]
        watch._look_at = record["look_at"]
        watch._tried = set(record["tried"])
        return watch

    def finished(self, method: str, iterations: int, seconds: float) -> Plan:
        """The plan with what the run took."""
        return self.plan.after(method, iterations - self._begun_at, seconds - self._seconds_before)


def _iterations_to_go(at: np.ndarray, norms: np.ndarray, goal: float) -> float:
    """Until the gradient norm is at its goal, at the rate of the late half of the iterations.

    The gap falls like the square of the norm, and from about F(w₀) to tol times that.
    """
    half = max(2, len(norms) // 2)
    late, end = float(np.max(norms[-half : -half + 2])), float(norms[-1])
    if end <= goal:
        return 0.0
    if not 0.0 < end < late:
        return math.inf
    return math.log(end / goal) / (math.log(late / end) / float(at[-1] - at[-half]))
