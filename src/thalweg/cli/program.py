"""The command with its verbs. What a verb needs is imported when it runs, so that help is quick."""

from __future__ import annotations

import io
import sys
from typing import Any

import click

from thalweg.cli.diagnose import diagnose
from thalweg.core.errors import ThalwegError


class BadInput(click.ClickException):
    """What a user can put right: one paragraph on stderr, no traceback."""

    exit_code = 2


class Program(click.Group):
    """A group of verbs whose errors of input are sentences."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; what it raises on purpose ends in exit code 2."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # κ on a terminal that has no κ
        try:
            return super().invoke(ctx)
        except ThalwegError as problem:
            raise BadInput(str(problem)) from problem


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="thalweg")
def main() -> None:
    """A workbench for optimization in machine learning."""


main.add_command(diagnose)
