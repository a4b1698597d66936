"""What a person sees while a run goes on: a bar on a terminal, a few plain lines elsewhere.

Nothing is shown for runs that end within `PATIENCE` seconds. A terminal gets one line that is
written over and removed at the end, as wide as the terminal and in letters that it has, without
colours or escape codes; a file, a pipe or a dumb terminal gets at most ten lines, at times that
double. All of it goes to stderr, and a reader who has gone ends no run.
"""

from __future__ import annotations

import contextlib
import os
import sys

from thalweg.core.text import shown

PATIENCE = 1.0  # seconds before a bar appears
FIRST_LINE = 5.0  # seconds before the first plain line; later ones at twice the time each
MOST_LINES = 10
BAR = 20  # columns of the bar, a quarter of a terminal at most


class Progress:
    """Shows how far a run is. Use as a context manager."""

    def __init__(
        self, method: str, max_iter: int | None, *, shown: bool, unit: str = "iterations"
    ) -> None:
        self._unit = unit
        self._method = method
        self._max_iter = max_iter
        self._shown = shown
        self._next = PATIENCE if _is_terminal() else FIRST_LINE
        self._lines = 0
        self._drawn = 0  # columns of the line on the terminal

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn:
            _write("\r" + " " * self._drawn + "\r")

    def update(self, iteration: int, row: dict[str, float], limit: float) -> None:
        """Say where the run is, if it is time to; `row` is the newest of the trace."""
        if self.is_due(row["seconds"]):
            text = f"f = {row['value']:.6g}, ‖∇f‖∞ = {row['gradient_norm']:.2e} (to {limit:.1e})"
            self.show(iteration, row["seconds"], text)

    def is_due(self, seconds: float) -> bool:
        """Whether it is time to say something."""
        return self._shown and seconds >= self._next

    def show(self, iteration: int, seconds: float, text: str) -> None:
        """Say `text` where the run is now, and wait for the next time."""
        if _is_terminal():
            self._next = seconds + 0.1
            self._draw(iteration, seconds, text)
        elif self._lines < MOST_LINES:
            self._next = 2.0 * max(seconds, self._next)
            self._lines += 1
            where = f"{iteration}/{self._max_iter or '?'} {self._unit}, {seconds:.0f} s"
            _write(shown(f"{self._method}: {where}, {text}") + "\n")

    def _draw(self, iteration: int, seconds: float, text: str) -> None:
        columns, parts = _columns(), [self._method]
        if self._max_iter and columns >= 4 * BAR:
            done = min(BAR, BAR * iteration // self._max_iter)
            parts.append("━" * done + "─" * (BAR - done))
        parts += [f"{iteration}/{self._max_iter or '?'}", f"{seconds:.0f} s", text]
        line = _in_its_letters("  ".join(parts))[: columns - 1]
        _write("\r" + line.ljust(self._drawn))
        self._drawn = len(line)


def _is_terminal() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _columns() -> int:
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _in_its_letters(line: str) -> str:
    """The line as stderr will write it: what it spells out takes more room."""
    encoding = sys.stderr.encoding or "utf-8"
    line = shown(line)
    return line.encode(encoding, sys.stderr.errors or "replace").decode(encoding)


def _write(text: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        sys.stderr.write(text)
        sys.stderr.flush()
