"""A time on the command line: `--time-limit 2m`."""

from __future__ import annotations

from typing import Any

import click

from thalweg.core.duration import seconds_in
from thalweg.core.errors import InputError


class DurationType(click.ParamType):
    """Reads a number of seconds, minutes or hours."""

    name = "time"
    kind_in_files = "text or a number"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """The text in seconds."""
        try:
            return seconds_in(str(value))
        except InputError as problem:
            self.fail(str(problem))
