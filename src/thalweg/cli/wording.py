"""Sentences of the library as its command says them: `method='lbfgs'` is `-m lbfgs` here."""

from __future__ import annotations

import re

FLAGS = {"standardize=True": "--standardize", "fit_intercept=False": "--no-intercept"}
NAMES = (
    "loss", "l1", "l2", "tol", "max_iter", "time_limit", "seed", "drop", "impute", "task",
    "max_categories", "method",
)  # fmt: skip
_ARGUMENT = re.compile(
    rf"(?<![\w\[.,-])(?P<name>{'|'.join(NAMES)})=(?P<value>'[^']*'|\"[^\"]*\"|[\w./+-]*\w)?"
)


def as_typed(text: str) -> str:
    """The text with arguments of Python written as options.

    >>> as_typed("Try method='lbfgs' and max_iter=200.")
    'Try -m lbfgs and --max-iter 200.'
    """
    for argument, flag in FLAGS.items():
        text = text.replace(argument, flag)
    return _ARGUMENT.sub(_option, text)


def _option(found: re.Match[str]) -> str:
    before = found.string[: found.start()]
    opened = before.rfind("(")
    if opened > max(0, before.rfind(")")) and before[opened - 1].isalnum():
        return found[0]  # the argument of a call, f(x, l2=0.1), is Python and stays
    name = found["name"]
    flag = "-m" if name == "method" else "--" + name.replace("_", "-")
    value = (found["value"] or "").strip("'\"")
    return f"{flag} {value}" if value else flag
