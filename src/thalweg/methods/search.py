"""A search as a value: what a method takes to find how far to go, with numbers of its own.

    tw.LBFGS(search=tw.StrongWolfe(curvature=0.1))      as an object
    tw.LBFGS(search="strong-wolfe[curvature=0.1]")      as text, as on the command line

A search is a frozen dataclass of its numbers. It is kept with a run as text, which is read back to
the same search: a checkpoint knows what it was made with.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from thalweg.core.checks import check_known, describe
from thalweg.core.errors import InputError, suggest
from thalweg.core.options import name_and_options


@dataclass(frozen=True)
class Search:
    """Base of all searches: a name and numbers."""

    name: ClassVar[str]

    def __str__(self) -> str:
        """The name with the numbers that are not usual."""
        own = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"{self.name}[{', '.join(own)}]" if own else self.name


def search_of(given: Any, kinds: tuple[type[Search], ...]) -> Search | None:
    """The search that a value or a text stands for, if it is of one of these kinds."""
    if given is None or isinstance(given, kinds):
        return given
    examples = " or ".join(f"tw.{kind.__name__}()" for kind in kinds)
    if not isinstance(given, str):
        raise InputError(f"search must be {examples}, got {describe(given)}")
    by_name = {kind.name: kind for kind in kinds}
    name, options = name_and_options(given)
    if name not in by_name:
        raise InputError(f"search must be {examples}, got {given!r}: {suggest(name, by_name)}")
    check_known(name, "option", options, [field.name for field in fields(by_name[name])])
    return by_name[name](**options)
