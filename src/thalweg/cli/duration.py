"""A time as it is typed: `30`, `30s`, `2m`, `1h`, in seconds."""

from __future__ import annotations

import math
from typing import Any

import click

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


class DurationType(click.ParamType):
    """Reads a number of seconds, minutes or hours."""

    name = "time"
    kind_in_files = "text or a number"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """The text in seconds."""
        text = str(value)
        unit = UNITS.get(text[-1:])
        try:
            seconds = float(text[:-1]) * unit if unit else float(text)
        except ValueError:
            seconds = math.nan
        if not (math.isfinite(seconds) and seconds > 0.0):
            self.fail(f"must be a time above 0 such as 30s, 2m or 1h, got {value!r}")
        return seconds
