"""A penalty on the command line: `--l2 1/n`, or several to choose from: `--l2 1/n,10/n`."""

from __future__ import annotations

from typing import Any

import click

from thalweg.core.errors import InputError
from thalweg.runs.strength import Strength, Strengths, strength_of


class PenaltyType(click.ParamType):
    """Reads `0.01`, `1/n`, `1/n,10/n` and `auto`."""

    name = "number, c/n, list or auto"
    kind_in_files = "text or a number"

    def convert(self, value: Any, param: Any, ctx: Any) -> Strength | Strengths:
        """The text as a `Strength`, or as several."""
        try:
            return strength_of(param.name if param else "it", value)
        except InputError as problem:
            self.fail(str(problem))
