"""What a person sees while a run goes on: a bar on a terminal, a few plain lines elsewhere.

Nothing is shown for runs that end within `PATIENCE` seconds. A terminal gets one updating line; a
file or a pipe gets at most ten lines, at times that double. All of it goes to stderr.
"""

from __future__ import annotations

import sys
from typing import Any

PATIENCE = 1.0  # seconds before a bar appears
FIRST_LINE = 5.0  # seconds before the first plain line; later ones at twice the time each
MOST_LINES = 10


class Progress:
    """Shows how far a run is. Use as a context manager."""

    def __init__(self, method: str, max_iter: int | None, *, shown: bool) -> None:
        self._method = method
        self._max_iter = max_iter
        self._shown = shown
        self._bar: Any = None
        self._task: Any = None
        self._next = PATIENCE if sys.stderr.isatty() else FIRST_LINE
        self._lines = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

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
        if sys.stderr.isatty():
            self._next = seconds + 0.1
            self._draw(iteration, text)
        elif self._lines < MOST_LINES:
            self._next = 2.0 * max(seconds, self._next)
            self._lines += 1
            where = f"{iteration}/{self._max_iter or '?'} iterations, {seconds:.0f} s"
            print(f"{self._method}: {where}, {text}", file=sys.stderr, flush=True)

    def _draw(self, iteration: int, text: str) -> None:
        if self._bar is None:
            # Here and not above: most runs never draw, and rich costs 50 ms to import.
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn(self._method),
                BarColumn(),
                TextColumn("{task.completed}/{task.total}"),
                TimeElapsedColumn(),
                TextColumn("{task.description}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task("", total=self._max_iter)
        self._bar.update(self._task, completed=iteration, description=text)
