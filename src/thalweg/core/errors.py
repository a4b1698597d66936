"""The exceptions: bad input is one, a run that ends badly is not (that is an `Outcome`)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from thalweg.core.text import sentence


class ThalwegError(Exception):
    """Base of everything that Thalweg raises on purpose.

    Its sentence may hold names out of files, and ends up on a terminal: it is made fit for one.
    """

    def __init__(self, *said: object) -> None:
        super().__init__(*(sentence(each) if isinstance(each, str) else each for each in said))


class InputError(ThalwegError, ValueError):
    """An argument cannot be used; the message names it, the condition, what came and a way out."""


class StorageError(ThalwegError, OSError):
    """A saved run or checkpoint cannot be written or read; nothing on disk was changed."""


class WriteError(StorageError):
    """A file could not be written: the disk is full, or the place is not writable."""


def suggest(name: str, known: Iterable[str]) -> str:
    """A clause that helps with a misspelt `name`: the nearest known one, and all of them."""
    choices = sorted(known)
    near = difflib.get_close_matches(name, choices, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{hint}Known: {', '.join(choices)}."
