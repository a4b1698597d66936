"""What is said when something goes wrong: one paragraph on stderr, and an exit code.

    bad usage, bad data, no room       what is wrong and the way out                     2
    Ctrl-C                             what is kept                                    130
    anything else                      a bug of Thalweg, its traceback put to a file     1

With THALWEG_DEBUG=1 the traceback of a bug is printed instead.
"""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import click

from thalweg.cli.exit_code import BAD_INPUT, BUG, QUIT
from thalweg.cli.screen import BAD, screen_of
from thalweg.cli.wording import as_typed
from thalweg.core.errors import ThalwegError
from thalweg.core.text import shown

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
EXTRAS = {"torch": "nets", "polars": "files", "pyarrow": "files", "matplotlib": "plots"}


class Failure(NamedTuple):
    """What is said of an exception, and the exit code."""

    sentence: str
    code: int


class Quit(Exception):  # noqa: N818
    """Ctrl-C where something is to be said of it: what was kept, and how to go on."""


def failure_of(problem: BaseException) -> Failure:
    """What to say of `problem`."""
    if isinstance(problem, click.UsageError):
        path = problem.ctx.command_path if problem.ctx else "thalweg"
        return Failure(f"{_usage(problem)} Help: {path} --help", BAD_INPUT)
    if isinstance(problem, click.ClickException):
        return Failure(problem.format_message(), problem.exit_code)
    if isinstance(problem, ThalwegError):
        return Failure(as_typed(str(problem)), BAD_INPUT)
    if isinstance(problem, Quit):
        return Failure(str(problem), QUIT)
    if isinstance(problem, KeyboardInterrupt | click.Abort):
        return Failure("interrupted: nothing was saved", QUIT)
    if isinstance(problem, MemoryError):
        return Failure(
            "out of memory: leave columns out with --drop, or take fewer rows; --sparse needs "
            "less where most entries are zero",
            BAD_INPUT,
        )
    if isinstance(problem, ModuleNotFoundError) and problem.name in EXTRAS:
        extra = EXTRAS[problem.name]
        return Failure(
            f"this needs {problem.name}, which is not installed: pip install 'thalweg[{extra}]'",
            BAD_INPUT,
        )
    if isinstance(problem, OSError) and problem.filename is not None:
        return Failure(f"{problem.filename}: {problem.strerror or problem}", BAD_INPUT)
    if isinstance(problem, OSError) and problem.errno in NO_ROOM:
        return Failure(
            f"stdout cannot be written ({problem.strerror}): the answer is lost, what was saved is "
            "kept; send it where there is room",
            BAD_INPUT,
        )
    return _bug(problem)


def show(failure: Failure) -> None:
    """Print the paragraph on stderr."""
    screen = screen_of(sys.stderr)
    head = "Error: "
    text = screen.spelled(shown(failure.sentence))
    lines = screen.wrapped(head + text) if screen.is_terminal else [head + text]
    lines[0] = screen.paint(lines[0][: len(head)], BAD) + lines[0][len(head) :]
    click.echo("\n".join(lines), err=True, color=screen.has_colour)


def _usage(problem: click.UsageError) -> str:
    if isinstance(problem, click.NoSuchOption):
        near = f": did you mean {problem.possibilities[0]}?" if problem.possibilities else "."
        return f"No such option {problem.option_name}{near}"
    message = " ".join(problem.format_message().split())
    return message if message.endswith((".", "?")) else f"{message}."


def _bug(problem: BaseException) -> Failure:
    text = "".join(traceback.format_exception(problem))
    what = f"this is a bug in thalweg ({type(problem).__name__}: {problem})"
    if os.environ.get("THALWEG_DEBUG"):
        click.echo(shown(text, lines=True), err=True)
        return Failure(what, BUG)
    place = Path(tempfile.gettempdir()) / f"thalweg-bug-{datetime.now(UTC):%Y%m%dT%H%M%S}.txt"
    command = " ".join(sys.argv)
    try:
        place.write_text(f"{command}\n\n{text}", encoding="utf-8")
    except OSError:
        return Failure(f"{what}; THALWEG_DEBUG=1 shows where", BUG)
    return Failure(f"{what}. Where it happened is written to {place}: please report it", BUG)
