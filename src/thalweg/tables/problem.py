"""What stands between columns and numbers: all of it at once, and arguments that settle it.

A column that could be read in two ways, or in none, is a `Problem`; those of one table are gathered
and raised as one `Unsettled`. Each has a remedy, arguments of `read` that take the likeliest way
out. `tried` reads the table again with all remedies until nothing is left to be settled, so that
what is advised has been done before it is said: one remedy may show another problem, as where "-"
is said to be a missing value, which is then to be filled.

A remedy is never taken unasked: it is a guess, and the reader decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from thalweg.core.errors import InputError

ROUNDS = 10  # of trying; each settles what the one before has shown
SEVERAL = ("drop", "missing", "text")  # arguments that hold more than one value


class Problem(NamedTuple):
    """Why a column cannot be used as it is."""

    column: str  # empty where it is one of several columns
    sentence: str  # what is wrong, and the ways out
    remedy: Mapping[str, Any]  # arguments of `read` that take the likeliest of them


class Unsettled(InputError):  # noqa: N818
    """Columns that cannot be used unless something is said of them."""

    def __init__(
        self,
        problems: Iterable[Problem],
        remedy: Mapping[str, Any] | None = None,
        asked: Mapping[str, Any] | None = None,
    ) -> None:
        self.problems = tuple(problems)
        self.remedy = dict(remedy or {})  # settles all problems; empty where that was not tried
        self.asked = dict(asked or {})  # what was said already
        told = "; ".join(each.sentence for each in self.problems)
        if self.remedy:
            words = ", ".join(f"{name}={value!r}" for name, value in self.remedy.items())
            told += f". All is settled with {words}"
        super().__init__(told)


def unsettled(column: str, sentence: str, **remedy: Any) -> Unsettled:
    """The problem of one column."""
    return Unsettled([Problem(column, sentence, remedy)])


def leave_out(column: str, sentence: str) -> Unsettled:
    """The problem of a column of which nothing can be made."""
    return unsettled(column, f"{sentence}, with drop={[column]}", drop=[column])


def tried(
    first: Unsettled, asked: Mapping[str, Any], again: Callable[[dict[str, Any]], Any]
) -> Unsettled:
    """The same with a remedy that was tried: `again` reads with the arguments that it is given."""
    problems, found = list(first.problems), first
    remedy: dict[str, Any] = {}
    for _ in range(ROUNDS):
        remedy = _with(remedy, found.problems)
        try:
            again(beside(asked, remedy))
        except Unsettled as more:
            found = more
            problems += [each for each in more.problems if each not in problems]
        except InputError as other:  # which no argument settles
            return Unsettled([*problems, Problem("", str(other), {})])
        else:
            return Unsettled(problems, remedy, asked)
    return Unsettled(problems)


def beside(asked: Mapping[str, Any], remedy: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked for, and the remedy; of arguments that hold several, the values of both."""
    return {
        **asked,
        **{
            name: [*several(asked.get(name)), *value] if name in SEVERAL else value
            for name, value in remedy.items()
        },
    }


def several(values: Any) -> Sequence[Any]:
    """One value, several or none as several."""
    if values is None:
        return ()
    return (values,) if isinstance(values, str | int) else tuple(values)


def _with(remedy: Mapping[str, Any], problems: Sequence[Problem]) -> dict[str, Any]:
    """The remedy, and those of problems.

    Where two contradict each other the first is taken, and the column of the second is left out if
    that does not settle it.
    """
    out = dict(remedy)
    for problem in problems:
        for name, value in problem.remedy.items():
            if name in SEVERAL:
                out[name] = list(dict.fromkeys([*out.get(name, ()), *value]))
            elif name == "max_categories":
                out[name] = max(out.get(name, 0), value)
            else:
                out.setdefault(name, value)
    if out == remedy:
        stuck = [each.column for each in problems if each.column]
        out["drop"] = list(dict.fromkeys([*out.get("drop", ()), *stuck]))
    return out
