"""A plan: what each method would cost on a problem, which one is chosen, and why.

Two numbers per method, as a database's EXPLAIN has estimates: `bound`, the iterations that a
theorem guarantees under the L and μ printed above them, and `predicted`, those to expect, with
their seconds, counted at the rates of the machine. The ranking is by predicted seconds. After
the run, the same record shows what was predicted beside what happened, as EXPLAIN ANALYZE does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from thalweg.core.grid import aligned, html_grid
from thalweg.core.kinds import NUMBER, check_kinds
from thalweg.core.storage import to_json
from thalweg.core.text import escaped, shown

EXACT, BOUNDED, ESTIMATED = "exact", "bounded", "estimated"
NOTICED = 0.5  # seconds of compiling that are told; less is taken by reading kernels from disk
SHOWN = 8  # rows of the methods that could do it; the others are in `rows`

ROW: dict[str, Any] = {  # of a plan, as a file holds it
    "method": str, "eligible": bool, "remark": str, "bound": (NUMBER, None),
    "predicted_iterations": NUMBER, "seconds_per_iteration": NUMBER, "predicted_seconds": NUMBER,
    "memory": NUMBER, "actual_iterations": (NUMBER, None), "actual_seconds": (NUMBER, None),
}  # fmt: skip
PLAN: dict[str, Any] = {
    "problem": str, "tol": NUMBER, "target": NUMBER, "geometry": {str: (list, tuple)},
    "rows": [ROW], "seconds": NUMBER, "advice": str, "changes": [str], "compiled": (NUMBER, None),
}  # fmt: skip


class Measured(NamedTuple):
    """A number and how it is known."""

    value: float
    how: str  # "exact", "bounded" (at most this) or "estimated"

    def __str__(self) -> str:
        sign = {EXACT: "=", BOUNDED: "≤", ESTIMATED: "≈"}[self.how]
        return f"{sign} {self.value:.3g}"


@dataclass(frozen=True)
class PlanRow:
    """One method of a plan."""

    method: str
    eligible: bool
    remark: str  # why it is, or is not, eligible; why it was chosen
    bound: float | None = None  # iterations, guaranteed; None where no theorem applies
    predicted_iterations: float = math.inf
    seconds_per_iteration: float = math.inf
    predicted_seconds: float = math.inf  # all of the run, set-up included
    memory: int = 0  # bytes beyond the data
    actual_iterations: int | None = None
    actual_seconds: float | None = None

    @property
    def spelled(self) -> tuple[str, ...]:
        """Bound, iterations, seconds of each and of all, memory."""
        return (
            "—" if self.bound is None else f"{spelled_count(self.bound)} it",
            f"{spelled_count(self.predicted_iterations)} it",
            spelled_seconds(self.seconds_per_iteration),
            spelled_seconds(self.predicted_seconds),
            spelled_bytes(self.memory),
        )


class Predicted:
    """What a plan of any kind has: numbers that were measured, and a form as plain values."""

    geometry: Mapping[str, Measured]

    def to_json(self) -> str:
        """The plan as JSON text."""
        return to_json(self.as_record()).decode()

    def as_record(self) -> dict[str, Any]:
        """The plan as plain values."""
        plain: dict[str, Any] = asdict(self)  # type: ignore[call-overload]
        return plain | {"geometry": {k: list(v) for k, v in self.geometry.items()}}


@dataclass(frozen=True)
class Plan(Predicted):
    """What the methods would cost on a problem, the cheapest first."""

    problem: str
    tol: float
    target: float  # the duality gap, or other measure, that `tol` stands for
    geometry: Mapping[str, Measured]
    rows: tuple[PlanRow, ...]  # ranked by predicted seconds, those that cannot do it last
    seconds: float  # that planning took
    advice: str = ""  # what would make the problem easier
    changes: tuple[str, ...] = field(default=())  # of the method, during the run
    compiled: float = 0.0  # seconds for kernels, once a machine; not in those of planning

    @property
    def best(self) -> str:
        """The method that is predicted to be done first."""
        return self.rows[0].method

    @property
    def is_by_rule(self) -> bool:
        """Whether a rule decided, and nothing was compared."""
        return len(self.rows) == 1

    def row(self, method: str) -> PlanRow | None:
        """The row of a method; None for one that was not a candidate."""
        return next((row for row in self.rows if row.method == method), None)

    def after(self, method: str, iterations: int, seconds: float) -> Plan:
        """The plan with what a run by this method took."""
        rows = tuple(
            replace(row, actual_iterations=iterations, actual_seconds=seconds)
            if row.method == method
            else row
            for row in self.rows
        )
        return replace(self, rows=rows)

    def summary(self, method: str) -> str:
        """One line on what was predicted of this method, and what it took."""
        row = self.row(method)
        if row is None:
            return f"nothing was predicted of {method}"
        text = f"{spelled_count(row.predicted_iterations)} iterations in "
        text += f"{spelled_seconds(row.predicted_seconds)} predicted"
        if row.actual_seconds is not None and row.actual_iterations is not None:
            text += f", {spelled_count(row.actual_iterations)} in "
            text += f"{spelled_seconds(row.actual_seconds)} needed"
        return text + "".join(f"; {change}" for change in self.changes)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Plan:
        """The plan that `as_record` wrote."""
        check_kinds(record, PLAN, source="the plan")
        if not record["rows"] or not all(
            len(each) == 2 and NUMBER(each[0]) and each[1] in (EXACT, BOUNDED, ESTIMATED)
            for each in record["geometry"].values()
        ):
            raise ValueError("no such plan: it has no rows, or no such geometry")
        return cls(
            **{
                **record,
                "geometry": {k: Measured(*v) for k, v in record["geometry"].items()},
                "rows": tuple(PlanRow(**row) for row in record["rows"]),
                "changes": tuple(record["changes"]),
                "compiled": record.get("compiled") or 0.0,
            }
        )

    def __repr__(self) -> str:
        lines = [f"Problem    {self.problem}", *self._geometry_lines()]
        lines.append(f"Target     gap ≤ {self.target:.3g} (tol = {self.tol:g})")
        if self.advice:
            lines.append(f"Advice     {self.advice}")
        lines += ["", *aligned(self._cells())]
        refused = [row for row in self.rows if not row.eligible]
        lines += [f"  {row.method}: {row.remark}" for row in refused]
        lines += [
            "bound = guaranteed under the L and μ above; predicted = usual counts at the rates of "
            "this",
            f"machine, not guaranteed. Planning took {spelled_seconds(self.seconds)}"
            f"{spelled_compiled(self.compiled)}.",
        ]
        lines += [f"Changed    {change}" for change in self.changes]
        return "\n".join(map(shown, lines))

    def _repr_html_(self) -> str:
        notes = [*self._geometry_lines(), self.advice, *self.changes]
        return (
            '<div style="font-family:sans-serif">'
            f"<div><strong>Plan</strong> {escaped(self.problem)}, gap ≤ {self.target:.3g}</div>"
            + "".join(f"<div>{escaped(note.strip())}</div>" for note in notes if note)
            + f"{html_grid(self._cells())}</div>"
        )

    def _geometry_lines(self) -> list[str]:
        names = list(self.geometry)
        halves = [names[: len(names) // 2], names[len(names) // 2 :]]
        texts = ["   ".join(f"{name} {self.geometry[name]}" for name in half) for half in halves]
        return [f"Geometry   {texts[0]}", f"           {texts[1]}"]

    def _cells(self) -> list[tuple[str, ...]]:
        is_done = any(row.actual_seconds is not None for row in self.rows)
        heads = ("  method", "bound", "predicted", "per it", "time", "memory")
        table: list[tuple[str, ...]] = [(*heads, *(("actual", "took") * is_done), "remark")]
        able = [row for row in self.rows if row.eligible]
        shown = able[:SHOWN] + [row for row in able[SHOWN:] if row.actual_seconds is not None]
        for place, row in enumerate(shown):
            cells: tuple[str, ...] = (("▸ " if place == 0 else "  ") + row.method, *row.spelled)
            if is_done:
                happened = row.actual_iterations is not None and row.actual_seconds is not None
                cells += (
                    f"{spelled_count(row.actual_iterations or 0)} it" if happened else "",
                    spelled_seconds(row.actual_seconds or 0.0) if happened else "",
                )
            table.append((*cells, row.remark))
        return table


def spelled_count(number: float) -> str:
    """A number of iterations."""
    if not math.isfinite(number):
        return "∞"
    return f"{number:,.0f}" if number < 1e6 else f"{number:.1e}"


def spelled_seconds(seconds: float) -> str:
    """Three digits and a unit; whole seconds from a thousand on."""
    if not math.isfinite(seconds):
        return "∞"
    if seconds >= 1e3:
        return f"{seconds:,.0f} s"
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if seconds * factor >= 1.0:
            return f"{seconds * factor:.3g} {unit}"
    return f"{1e6 * seconds:.3g} µs"


def spelled_compiled(seconds: float) -> str:
    """What follows a time: that compiling was beside it, where anyone noticed."""
    return f"; compiled {spelled_seconds(seconds)}, once" if seconds >= NOTICED else ""


def spelled_bytes(size: int) -> str:
    """Three digits and a unit."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size = size / 1000  # type: ignore[assignment]
    return f"{size:.3g} TB"
