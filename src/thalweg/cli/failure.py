"""What is said when something goes wrong: one paragraph on stderr, and an exit code.

    bad usage, bad data, no room       what is wrong and the way out                     2
    columns to be settled              what is wrong with each, and the command          2
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
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import click

from thalweg.cli.exit_code import BAD_INPUT, BUG, QUIT
from thalweg.cli.screen import BAD, screen_of
from thalweg.cli.settling import settling
from thalweg.cli.wording import as_typed
from thalweg.core.errors import ThalwegError
from thalweg.core.text import sentence, shown
from thalweg.tables.problem import Unsettled

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
EXTRAS = {"torch": "nets", "matplotlib": "plots"}


SETTLES = "This settles it, and may be changed where something else is meant:"
MOST = 20  # columns that are told of


class Failure(NamedTuple):
    """What is said of an exception, and the exit code."""

    sentence: str
    code: int
    several: tuple[str, ...] = ()  # what it is made of, where it is not one thing
    command: str = ""  # that settles it


class Quit(Exception):  # noqa: N818
    """Ctrl-C where something is to be said of it: what was kept, and how to go on."""


def failure_of(
    problem: BaseException, typed: Sequence[str] = (), options: Collection[str] = ()
) -> Failure:
    """What to say of `problem`, where a verb that has `options` was `typed`."""
    if isinstance(problem, click.UsageError):
        path = problem.ctx.command_path if problem.ctx else "thalweg"
        return Failure(f"{_usage(problem)} Help: {path} --help", BAD_INPUT)
    if isinstance(problem, click.ClickException):
        return Failure(problem.format_message(), problem.exit_code)
    if isinstance(problem, Unsettled):
        return _unsettled(problem, typed, options)
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
    for each in failure.several:
        one = screen.spelled(shown(each))
        lines += screen.wrapped(one, 2, 2) if screen.is_terminal else [f"  {one}"]
    if failure.command:
        lines += [SETTLES, failure.command]  # on one line however long, to be copied
    click.echo("\n".join(lines), err=True, color=screen.has_colour)


def _unsettled(problem: Unsettled, typed: Sequence[str], options: Collection[str]) -> Failure:
    """All that is to be settled of the columns of some data, and the command that does."""
    command = settling(problem, typed, options, screen_of(sys.stderr).encoding)
    told = [as_typed(sentence(each.sentence)) for each in problem.problems]
    if len(told) == 1:
        return Failure(told[0], BAD_INPUT, command=command)
    more = [f"and {len(told) - MOST:,} more"] if len(told) > MOST else []
    return Failure(
        f"{len(told)} things are to be settled before these columns are numbers:",
        BAD_INPUT,
        (*told[:MOST], *more),
        command,
    )


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
