"""What a person reads: answers on stdout, notes on stderr, as wide and as colourful as the screen.

One palette and one kind of table for every verb. A narrow screen loses columns, those that matter
least first; the last column is text and goes on below itself. Colours are for terminals, and not
where NO_COLOR is set or TERM is dumb; a pipe gets plain text, 100 columns wide.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import click

from thalweg.cli.letters import encoding_of, spelled
from thalweg.core.text import shown

WIDEST = 100  # columns of text, and of a pipe
NARROWEST = 20
TEXT = 18  # columns that a last column of text wants at least
BETWEEN = 2  # spaces between columns
TIED = "\u00a0"  # a space where no line is to end

GOOD, BAD, DOUBTFUL, CHIEF, FAINT = "good", "bad", "doubtful", "chief", "faint"
PALETTE: dict[str, dict[str, Any]] = {
    GOOD: {"fg": "green"},
    BAD: {"fg": "red"},
    DOUBTFUL: {"fg": "yellow"},
    CHIEF: {"bold": True},
    FAINT: {"dim": True},
}

_CODES = {code for tone in PALETTE.values() for code in click.style("|", **tone).split("|")}
OWN = re.compile(f"({'|'.join(map(re.escape, sorted(_CODES)))})")  # written by `paint`


class Screen(NamedTuple):
    """What a stream can show."""

    columns: int
    has_colour: bool
    is_terminal: bool
    encoding: str

    def paint(self, text: str, tone: str | None) -> str:
        """The text in a colour of the palette, or as it is."""
        return click.style(text, **PALETTE[tone]) if tone and self.has_colour else text

    def spelled(self, text: str) -> str:
        """The text in letters that the stream has, and that no terminal obeys."""
        return spelled(shown(text, lines=True), self.encoding)

    def wrapped(self, text: str, indent: int = 0, hanging: int = 0) -> list[str]:
        """Lines no longer than the screen, the later ones `hanging` further in."""
        lines = textwrap.wrap(
            TIED.join(map(self.spelled, text.split(TIED))),
            self.columns,
            initial_indent=" " * indent,
            subsequent_indent=" " * (indent + hanging),
            break_long_words=False,
            break_on_hyphens=False,
        )
        return [line.replace(TIED, " ") for line in lines] or [""]

    def kept(self, text: str, hanging: int = 4) -> str:
        """Lines as they are, but for those that are longer than the screen."""
        lines = self.spelled(text).splitlines()
        return "\n".join(
            line if len(line) <= self.columns else "\n".join(self._folded(line, hanging))
            for line in lines
        )

    def _folded(self, line: str, hanging: int) -> list[str]:
        indent = len(line) - len(line.lstrip())
        return self.wrapped(line.lstrip(), indent, hanging)

    def labelled(self, label: str, text: str, width: int = 11, tone: str | None = None) -> str:
        """A label in a column of its own, and text beside it."""
        head, *rest = self.wrapped(label.ljust(width) + text, hanging=width)
        if tone:
            head = self.paint(head[: len(label)], tone) + head[len(label) :]
        return "\n".join([head, *rest])


class Column(NamedTuple):
    """A column of a table."""

    head: str
    is_right: bool = False  # numbers end under each other
    rank: int = 0  # the higher, the sooner a narrow screen does without it; 0 always stays


def screen_of(stream: Any = None) -> Screen:
    """What the stream can show; stdout where None."""
    stream = sys.stdout if stream is None else stream
    is_terminal = bool(getattr(stream, "isatty", lambda: False)())
    has_colour = is_terminal and not os.environ.get("NO_COLOR") and not _is_dumb()
    columns = max(NARROWEST, min(WIDEST, _columns(stream)))
    return Screen(columns, has_colour, is_terminal, encoding_of(stream))


def grid(
    screen: Screen,
    columns: Sequence[Column],
    rows: Iterable[Sequence[str]],
    tones: Sequence[str | None] = (),
) -> str:
    """Rows under their heads; a tone colours its row."""
    cells = [[screen.spelled(shown(cell)) for cell in row] for row in rows]
    heads = [screen.spelled(column.head) for column in columns]
    kept = _kept(screen, columns, heads, cells)
    widths = {k: max(len(row[k]) for row in (heads, *cells)) for k in kept}
    lines = []
    for place, row in enumerate((heads, *cells)):
        tone = FAINT if place == 0 else tones[place - 1] if tones else None
        first, *rest = _row(screen, columns, kept, widths, row)
        lines += [screen.paint(first, tone), *rest]
    return "\n".join(lines)


def say(*lines: str) -> None:
    """Answer, on stdout; of codes that a terminal obeys, those of `Screen.paint` alone."""
    screen = screen_of()
    parts = OWN.split("\n".join(lines)) if screen.has_colour else ["\n".join(lines)]
    text = "".join(part if OWN.fullmatch(part) else screen.spelled(part) for part in parts)
    click.echo(text, color=screen.has_colour)


def say_json(record: Any) -> None:
    """Answer in JSON, which is UTF-8 whatever the terminal is."""
    from thalweg.core.storage import to_json

    click.echo(to_json(record), nl=False)


def note(text: str, label: str = "note") -> None:
    """Something worth knowing, on stderr; one line where it is no terminal. Not with --quiet."""
    context = click.get_current_context(silent=True)
    if context is not None and context.params.get("quiet"):
        return
    screen = screen_of(sys.stderr)
    lines = [screen.spelled(shown(f"{label}: {text}"))]
    if screen.is_terminal:
        lines = screen.wrapped(lines[0], hanging=2)
    lines[0] = screen.paint(lines[0][: len(label)], DOUBTFUL) + lines[0][len(label) :]
    click.echo("\n".join(lines), err=True, color=screen.has_colour)


def _columns(stream: Any) -> int:
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError, AttributeError):
        return WIDEST


def _is_dumb() -> bool:
    return os.environ.get("TERM") == "dumb"


def _kept(
    screen: Screen, columns: Sequence[Column], heads: list[str], cells: list[list[str]]
) -> list[int]:
    """Places of the columns that the screen has room for; those that are empty go first."""
    kept = [k for k in range(len(columns)) if any(row[k] for row in cells) or not columns[k].rank]
    while True:
        wide = [max(len(row[k]) for row in (heads, *cells)) for k in kept]
        last = kept[-1]
        if not columns[last].is_right:
            wide[-1] = min(wide[-1], TEXT)
        dear = max(kept, key=lambda k: columns[k].rank)
        if sum(wide) + BETWEEN * (len(kept) - 1) <= screen.columns or not columns[dear].rank:
            return kept
        kept.remove(dear)


def _row(
    screen: Screen,
    columns: Sequence[Column],
    kept: list[int],
    widths: dict[int, int],
    row: Sequence[str],
) -> list[str]:
    *before, last = kept
    parts = [
        row[k].rjust(widths[k]) if columns[k].is_right else row[k].ljust(widths[k]) for k in before
    ]
    start = sum(widths[k] + BETWEEN for k in before)
    if columns[last].is_right:
        whole = "".join(part + " " * BETWEEN for part in parts) + row[last].rjust(widths[last])
        return [whole.rstrip()]
    head = "".join(part + " " * BETWEEN for part in parts)
    room = screen.columns - start
    if room < min(TEXT, widths[last]):  # no room beside the others: below them
        below = screen.wrapped(row[last], indent=4) if row[last] else []
        return [head.rstrip(), *below]
    text = textwrap.wrap(row[last], room, break_on_hyphens=False) or [""]
    return [(head + text[0]).rstrip(), *(" " * start + more for more in text[1:])]
