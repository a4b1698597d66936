"""A name with options as it is typed: `adam[lr=0.1, betas=(0.9, 0.99)]`, `sag[sampling=lipschitz]`.

A value is a literal of Python: a number, a tuple, text in quotes, True, None. What is none of them
is a word, and needs no quotes. Commas within brackets and quotes part nothing.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

from thalweg.core.errors import InputError

_WRITTEN = re.compile(r"(?P<name>[\w-]+)\s*(\[(?P<options>.*)\])?", re.S)


def name_in(text: str) -> str | None:
    """The name alone; None where the text is no name with options."""
    found = _WRITTEN.fullmatch(text.strip())
    return found["name"] if found else None


def name_and_options(text: str) -> tuple[str, dict[str, Any]]:
    """The name and its options.

    >>> name_and_options("adam[lr=0.1, betas=(0.9, 0.99)]")
    ('adam', {'lr': 0.1, 'betas': (0.9, 0.99)})
    """
    found = _WRITTEN.fullmatch(text.strip())
    if found is None:
        raise InputError(f"a name must read name or name[option=value], got {text!r}")
    options: dict[str, Any] = {}
    for part in filter(None, map(str.strip, _parts(found["options"] or ""))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (equals and name and value):
            raise InputError(
                f"options must read name=value, got {part!r} in {text!r}: "
                "write, for example, adam[lr=0.1]"
            )
        if name in options:
            raise InputError(f"an option must be given once, got {name!r} twice in {text!r}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a word that is nearly a number, 1is
                options[name] = ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            options[name] = value
    return found["name"], options


def _parts(text: str) -> list[str]:
    """The text between commas that stand in no brackets and no quotes."""
    parts, start, depth, quote = [], 0, 0, ""
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and not depth:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]
