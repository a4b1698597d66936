"""Watch a run beside its plan, and change the method when another is then done sooner: a hedge.

All methods share w, so that what one has done is not lost to the next. A plan may be wrong about a
method; what it then costs is bounded, as for one who rents skis before buying them:

    spent     seconds of the present method
    to go     seconds that it still needs, at its late rate
    other     seconds that the best of the other methods is predicted to take, from the start

The other one takes over when `spent` is a good part of `other`, and `to go` is well above it: a
wrong plan then costs about twice as much as the right one. It is one that descends at every step:
where those are slow, methods without a line search are slower. And it uses no less of the
curvature: what slows down factors of the Hessian slows down products with it even more, and steps
that learn it from gradients most. What a method takes longer than predicted because of the
condition, others that do not factorise will take too, and are expected to; but not what one takes
that steps in single samples or features, which is slowed down by what these have in common.

A method that keeps up a lower bound on F* is judged by its own gap, F(w) − bound, which is sure;
the others by what their last steps have gained. Gains a in a third of the steps and b in the next
one leave, if they go on falling by q = b/a, bq/(1 − q) to be gained.

No forecast is believed for ever: a run that has taken twice what was predicted of it has as much to
go again, or half of it by a sure bound, whatever its steps promise. Where a method stalls short of
the tolerance, the next one goes on at once.

Seconds of a short run are counted, as those of the plan are, so that the same problem goes the same
way every time; a run that takes a while is judged by the clock.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from thalweg.core.plan import Plan, PlanRow
from thalweg.methods.journey import Journey
from thalweg.methods.method import Method
from thalweg.methods.registry import METHODS, resolve
from thalweg.methods.rounding import rounding_of
from thalweg.planner.cost import Cost
from thalweg.planner.machine import Rates
from thalweg.planner.plan import rough_rows

EARLIEST = 3  # iterations; fewer say nothing of a rate
GROWTH = 1.25  # of the iterations between two looks: looking at every one would cost as much as it
DAMPED = 1.5  # times the predicted iterations of a method of second order, before its first look
SHORTEST = 0.005  # seconds to go, below which no change of method pays
BY_THE_CLOCK = 0.1  # seconds of a run whose time is measured
WELL_ABOVE, FAR_ABOVE = 1.5, 8.0  # times the other's seconds: what a change has to gain,
A_WHILE = 0.03  # and where less is to go, as forecasts after a few steps are off by much
LATE = 2.0  # times the predicted seconds, after which no forecast is believed
NO_END = 4.0  # times what was spent, where no end is in sight
SPENT, SPENT_SURELY = 0.7, 0.4  # of the other's seconds, before a change; where a gap is known


class Hedge:
    """What `drive` asks after every iteration."""

    def __init__(self, made: Plan) -> None:
        self.plan = made
        self._begun_at = 0  # iteration at which the present method took over
        self._seconds_before = 0.0  # of the methods before it
        self._look_at = first_look(made.rows[0])  # iterations of the present method
        self._tried = {made.best}
        self._has_stalled = False
        self._gaps: list[float] = []  # F − bound after each iteration of the present method

    def __call__(self, journey: Journey) -> Method | None:
        """The method to go on with, if it is to be another one."""
        bound = journey.method.lower_bound(journey.state)
        if bound > -math.inf:
            self._gaps.append(journey.state.value - bound)
        count = journey.iteration - self._begun_at
        if count < self._look_at:
            return None
        self._look_at = math.ceil(GROWTH * count)
        # Where the limit is below rounding, no method gets there.
        goal = max(journey.allowed, rounding_of(journey.first_value, np.dtype(np.float64)))
        is_sure = len(self._gaps) >= EARLIEST
        own = journey.trace["iteration"] >= self._begun_at  # a long trace leaves some of them out
        if is_sure:
            more = steps_by_gaps(np.array(self._gaps), goal)
        else:
            more = steps_by_gains(journey.trace["value"][own], goal) * count / (own.sum() - 1)
        spent = self._spent(journey, count, own)
        to_go = more * spent / count
        row = self.plan.row(journey.method.name)
        if row is not None and spent > LATE * row.predicted_seconds:
            to_go = max(to_go, spent / LATE if is_sure else spent)
        if to_go < SHORTEST:
            return None
        late = 1.0
        if row is not None and not journey.method.by_parts:
            late = max(1.0, (spent + min(to_go, NO_END * spent)) / row.predicted_seconds)
        other = self._best_other(journey, late)
        enough = SPENT_SURELY if is_sure else SPENT
        if other is None or spent < enough * other.predicted_seconds:
            return None
        gain = WELL_ABOVE if to_go >= A_WHILE else FAR_ABOVE
        if to_go < gain * other.predicted_seconds:
            return None
        about = f"about {to_go:.2g} s" if math.isfinite(to_go) else "no end in sight"
        return self._changed(
            journey, other, f"had {about} to go after {count} iterations in {spent:.2g} s"
        )

    def after_stall(self, journey: Journey) -> Method | None:
        """The method to go on with where the present one does not move any more, once in a run.

        What two methods cannot move, rounding holds.
        """
        if self._has_stalled:
            return None
        self._has_stalled = True
        # Two solutions of one system are one point: what learns as it goes may find a better one.
        other = self._best_other(journey, is_factorised=not journey.method.factorises)
        if other is None:
            return None
        count = journey.iteration - self._begun_at
        return self._changed(journey, other, f"stalled after {count} iterations")

    def _spent(self, journey: Journey, count: int, own: np.ndarray) -> float:
        """Seconds of the present method: counted, or by the clock where that is a while."""
        seconds = journey.trace["seconds"][own]
        if journey.seconds > BY_THE_CLOCK:
            # Of a typical iteration: one that something else interrupted is no sign.
            return float(np.median(np.diff(seconds))) * (len(seconds) - 1)
        passes = journey.trace["passes"][own]
        read = (passes[-1] - passes[0]) * Cost(journey.problem.objective, Rates()).gradient
        row = self.plan.row(journey.method.name)
        return max(float(read), count * row.seconds_per_iteration if row else 0.0)

    def _best_other(
        self, journey: Journey, late: float = 1.0, *, is_factorised: bool | None = None
    ) -> PlanRow | None:
        """The fastest of the methods that had no turn; where a rule chose, all are asked now.

        Those that do not factorise will be `late` too, that many times. `is_factorised`: whether
        those that do are preferred, or the others; by default one of no less curvature is taken.
        """
        if self.plan.is_by_rule:
            first = self.plan.rows[0]
            rows = rough_rows(journey.problem.objective, journey.tol)
            others = (row for row in rows if row.method != first.method)
            self.plan = replace(self.plan, rows=(first, *others))
        left = [
            row
            for row in self.plan.rows
            if row.eligible and row.method not in self._tried and METHODS[row.method].descends
        ]
        if is_factorised is None:
            left = [row for row in left if rung(METHODS[row.method]) >= rung(journey.method)]
        else:
            preferred = [r for r in left if METHODS[r.method].factorises == is_factorised]
            left = preferred or left

        def expected(row: PlanRow) -> float:
            return row.predicted_seconds * (1.0 if METHODS[row.method].factorises else late)

        chosen = min(left, key=expected, default=None)
        return chosen and replace(chosen, predicted_seconds=expected(chosen))

    def _changed(self, journey: Journey, other: PlanRow, why: str) -> Method:
        """The other method; writes down why, and begins to count anew."""
        name, seconds = journey.method.name, journey.seconds - self._seconds_before
        change = (
            f"{name} {why}, and {other.method} was predicted to take "
            f"{other.predicted_seconds:.2g} s: {other.method} goes on"
        )
        after = self.plan.after(name, journey.iteration - self._begun_at, seconds)
        self.plan = replace(after, changes=(*after.changes, change))
        self._begun_at, self._seconds_before = journey.iteration, journey.seconds
        self._look_at = first_look(other)
        self._tried.add(other.method)
        self._gaps = []
        return resolve(other.method)

    def record(self) -> dict[str, Any]:
        """Plain values that `from_record` takes."""
        return {
            "plan": self.plan.as_record(),
            "begun_at": self._begun_at,
            "seconds_before": self._seconds_before,
            "look_at": self._look_at,
            "tried": sorted(self._tried),
            "has_stalled": self._has_stalled,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Hedge:
        """The hedge as it was."""
        hedge = cls(Plan.from_record(record["plan"]))
        hedge._begun_at = record["begun_at"]
        hedge._seconds_before = record["seconds_before"]
        hedge._look_at = record["look_at"]
        hedge._tried = set(record["tried"])
        hedge._has_stalled = record.get("has_stalled", False)
        return hedge

    def finished(self, method: str, iterations: int, seconds: float) -> Plan:
        """The plan with what the run took."""
        return self.plan.after(method, iterations - self._begun_at, seconds - self._seconds_before)


def rung(method: Method | type[Method]) -> int:
    """How much of the curvature its steps use: that of factors, of products, of what was met."""
    return method.is_second_order + method.factorises


def first_look(row: PlanRow) -> int:
    """The iteration at which a method shows its rate: of second order, after its damped steps."""
    count = row.predicted_iterations
    if METHODS[row.method].is_second_order and math.isfinite(count):
        return max(EARLIEST, math.ceil(DAMPED * count))
    return EARLIEST


def steps_by_gaps(gaps: np.ndarray, goal: float) -> float:
    """Until a gap that falls as in the late half is at its goal."""
    last = len(gaps) - 1
    late, end = float(gaps[last // 2]), float(gaps[-1])
    if end <= goal:
        return 0.0
    if not late > end:
        return math.inf
    return (last - last // 2) * math.log(end / goal) / math.log(late / end)


def steps_by_gains(values: np.ndarray, goal: float) -> float:
    """Until what is left to gain is at its goal, where gains fall as in the last two thirds."""
    last = len(values) - 1
    third = last // 3
    before, after = (
        float(values[last - 2 * third] - values[last - third]),
        float(values[last - third] - values[last]),
    )
    if after <= 0.0:
        return math.inf if before > goal else 0.0
    if after >= before:
        return math.inf
    rate = after / before
    left = after * rate / (1.0 - rate)
    return third * math.log(left / goal) / -math.log(rate) if left > goal else 0.0
