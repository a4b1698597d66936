"""A time as it is typed: `30`, `30s`, `2m`, `1h`, in seconds."""

from __future__ import annotations

import math

from thalweg.core.errors import InputError

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def seconds_in(text: str, *, needs_unit: bool = False) -> float:
    """The time in seconds; a number without a unit is seconds, or refused.

    >>> seconds_in("2m")
    120.0
    """
    number, unit = (text[:-1], text[-1]) if text[-1:] in (*UNITS,) else (text, "")
    try:
        seconds = math.nan if needs_unit and not unit else float(number) * UNITS.get(unit, 1.0)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0.0):
        raise InputError(f"must be a time above 0 such as 30s, 2m or 1h, got {text!r}")
    return seconds
