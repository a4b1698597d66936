"""Stdin, stdout and stderr as whoever calls the command left them: closed, full, or with no reader.

closed      the null device takes its place: else the next file that is opened would get its
            number, and what a library prints would go into that file
stderr that cannot be written       notes and progress are lost, and nothing else
stdout that cannot be written       its reader has gone, or there is no room: the answer is lost
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any


class Forgiving:
    """A stream that loses what it cannot write."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, or lose all from here on."""
        try:
            return int(self._stream.write(text))
        except OSError:
            silence(self._stream)
            return len(text)

    def flush(self) -> None:
        """The same of what has been written and waits."""
        try:
            self._stream.flush()
        except OSError:
            silence(self._stream)


@contextlib.contextmanager
def usable() -> Iterator[None]:
    """Have all three streams, and a stderr that stops nothing."""
    _fill_gaps()
    before = sys.stderr
    sys.stderr = Forgiving(before)
    try:
        yield
    finally:
        sys.stderr = before


def silence(*streams: Any) -> None:
    """Have nothing more written to streams that fail: the interpreter would complain at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _fill_gaps() -> None:
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
