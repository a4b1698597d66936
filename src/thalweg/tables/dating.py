"""The order that dates of a table are written in, column by column; see `dates`.

An order is known of a column that can be read in one alone. Others follow it, or `date_format`;
where neither says, the column is in doubt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from thalweg.tables.dates import EXPAND, ORDERS, SAID, Dated, as_moments
from thalweg.tables.problem import leave_out, unsettled


@dataclass
class Dating:
    """The columns that hold dates, and what is known of them."""

    dates: Mapping[str, Dated]
    way: str | None  # what dates are to become; None where nobody said
    order: str | None  # what was asked for, or another column tells
    likely: str  # of those in doubt
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, dates: Mapping[str, Dated], way: str | None, asked: str | None, *, has_commas: bool
    ) -> Dating:
        """Of the columns of a table; with decimal commas days come first."""
        told = {found.orders[0] for found in dates.values() if len(found.orders) == 1} - {"ymd"}
        order = asked or (told.pop() if len(told) == 1 else None)
        slashes = all(found.separator in ("/", "") for found in dates.values())
        return cls(dates, way, order, "mdy" if slashes and not has_commas else "dmy")

    def __contains__(self, name: str) -> bool:
        return name in self.dates

    def moments(self, series: Any) -> tuple[str, Any]:
        """The order of a column in text, empty of others, and its moments; or its problem."""
        name, found = series.name, self.dates[series.name]
        is_text = not series.dtype.is_temporal()
        example = series.drop_nulls()[0]
        if not found.orders:
            raise self._in_no_order(name, found, example)
        order = found.orders[0] if len(found.orders) == 1 else self.order
        if order not in found.orders:
            order = None
        if order is None or self.way is None:
            raise self._open(name, example, is_settled=order is not None)
        moments = as_moments(series, order)
        if is_text and order != "ymd":
            told = moments.drop_nulls()[0].date()
            self.notes.append(f"{name!r} holds dates, {SAID[order]}: {example!r} is {told}")
        return order if is_text else "", moments

    def _open(self, name: str, example: Any, *, is_settled: bool) -> Exception:
        """Dates of which it was not said what they are to become, or how they are written."""
        asked, ways = {}, []
        what = f"column {name!r} holds dates ({example})"
        if not is_settled:
            asked["date_format"] = self.likely
            what += ", day or month first"
            ways.append("say which, with date_format='dmy' or date_format='mdy'")
        if self.way is None:
            asked["dates"] = EXPAND
            what += ", which are not numbers"
            ways.append(
                "make year, month, weekday and hour of them, with dates='expand' or, going round, "
                "dates='cyclic'"
            )
        said = " and ".join(ways)
        return unsettled(name, f"{what}: {said}, or leave them out, with drop=[{name!r}]", **asked)

    def _in_no_order(self, name: str, found: Dated, example: Any) -> Exception:
        if found.strays:
            some = list(found.strays)
            shown = ", ".join(map(repr, some))
            return unsettled(
                name,
                f"column {name!r} holds dates and text ({shown}): if that stands for a missing "
                f"value, say so, with missing={some}, or leave it out, with drop=[{name!r}]",
                missing=some,
            )
        return leave_out(
            name,
            f"column {name!r} must write its dates in one order, one of {', '.join(ORDERS)}, and "
            f"does not ({example}): correct them, keep them as text, with text=[{name!r}], or "
            "leave it out",
        )
