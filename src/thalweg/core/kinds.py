"""What a record read from a file must hold, before anything in it is used: kinds of values, nested.

    str, bool, str | None      a type, or several
    NUMBER, COUNT, UNICODE     a test of one value: a float's, whole and at least 0, in UTF-8
    one_of("a", "b")           a test for these values and no other
    [kind]                     a list of such
    {str: kind}                a table with any names
    {"name": kind, …}          a table with these names, and others beside them
    (kind, kind)               one or the other
    row(str, NUMBER)           a list of as many

A folder of a run may come from anywhere: what does not fit is damage, told by the place and by what
stands there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from thalweg.core.checks import describe
from thalweg.core.errors import StorageError

LARGEST = 2**63  # a count of anything is below it


def NUMBER(value: Any) -> bool:
    """Whether it is a number that a float holds; no truth value is one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, float) or abs(value) < LARGEST


def COUNT(value: Any) -> bool:
    """Whether it is a whole number from 0 on."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST


def UNICODE(value: Any) -> bool:
    """Whether it is text that UTF-8 has: JSON may hold half a pair of surrogates."""
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


def row(*kinds: Any) -> Callable[[Any], bool]:
    """A test for a list with one value of each of these kinds."""
    return lambda value: (
        isinstance(value, list | tuple)
        and len(value) == len(kinds)
        and all(_wrong(each, kind, "") is None for each, kind in zip(value, kinds, strict=True))
    )


def one_of(*values: Any) -> Callable[[Any], bool]:
    """A test for one of these values."""
    return lambda value: isinstance(value, type(values[0])) and value in values


def check_kinds(content: Any, kinds: Any, *, source: str) -> None:
    """Raise unless `content` is as `kinds` has it."""
    wrong = _wrong(content, kinds, "")
    if wrong is not None:
        place, value = wrong
        raise damaged(source, TypeError(f"{place or 'it'} is {describe(value)}"))


def damaged(source: str, problem: Exception) -> StorageError:
    """What is said of a file that is not as it was written."""
    return StorageError(
        f"{source} is damaged ({type(problem).__name__}: {problem}): "
        "restore it from a copy, or train again"
    )


def _wrong(value: Any, kind: Any, place: str) -> tuple[str, Any] | None:
    """The first place where it does not fit, and what stands there."""
    if kind is None:
        return None if value is None else (place, value)
    if isinstance(kind, tuple):
        found = [_wrong(value, each, place) for each in kind]
        return None if None in found else max(found, key=lambda each: len(each[0] if each else ""))
    if isinstance(kind, list):
        if not isinstance(value, list | tuple):
            return place, value
        parts = [(f"{place}[{k}]", each, kind[0]) for k, each in enumerate(value)]
    elif isinstance(kind, Mapping):
        if not isinstance(value, Mapping):
            return place, value
        names = value if str in kind else kind
        parts = [(_named(place, name), value.get(name), kind.get(name, kind.get(str)))
                 for name in names]  # fmt: skip
    elif isinstance(kind, type) or not callable(kind):
        is_truth = isinstance(value, bool) and kind is int
        return None if isinstance(value, kind) and not is_truth else (place, value)
    else:
        return None if kind(value) else (place, value)
    return next(filter(None, (_wrong(each, own, where) for where, each, own in parts)), None)


def _named(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
