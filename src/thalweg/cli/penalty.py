"""A penalty on the command line: `--l2 1/n`."""

from __future__ import annotations

from typing import Any

import click

from thalweg.core.errors import InputError
from thalweg.runs.strength import Strength, strength_of


class PenaltyType(click.ParamType):
    """Reads `0.01` and `1/n`."""

    name = "number or c/n"
    kind_in_files = "text or a number"

    def convert(self, value: Any, param: Any, ctx: Any) -> Strength:
        """The text as a `Strength`."""
        try:
            return strength_of(param.name if param else "it", value)
        except InputError as problem:
            self.fail(str(problem))
