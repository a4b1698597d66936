"""What is held out, on the command line: `--validation 0.2` or `--validation rows.csv`."""

from __future__ import annotations

from typing import Any

import click


class ShareType(click.ParamType):
    """Reads a number as a share, and all else as a file."""

    name = "share or file"
    kind_in_files = "text or a number"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | str:
        """A share between 0 and 1, or a path."""
        try:
            share = float(value)
        except ValueError:
            return str(value)
        if not 0.0 < share < 1.0:
            self.fail(f"must be a share of the rows between 0 and 1, or a file, got {value!r}")
        return share
