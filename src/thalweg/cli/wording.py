"""Sentences of the library as its command says them: `method='lbfgs'` is `-m lbfgs` here."""

from __future__ import annotations

import ast
import re
import shlex

FLAGS = {"standardize=True": "--standardize", "fit_intercept=False": "--no-intercept"}
NAMES = (
    "loss", "l1", "l2", "tol", "max_iter", "time_limit", "seed", "drop", "impute", "task",
    "max_categories", "missing", "decimal", "thousands", "text", "memory", "dates",
    "date_format", "ids", "method",
)  # fmt: skip
_TEXT = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""  # as repr writes it
_ARGUMENT = re.compile(
    rf"(?<![\w\[.,-])(?P<name>{'|'.join(NAMES)})="
    rf"(?P<value>\[(?:{_TEXT})(?:, (?:{_TEXT}))*\]|{_TEXT}|[\w./+-]*\w)?"
)
_TWICE = re.compile(r"(--[\w-]+) \(\1\)")  # where a sentence names both


def as_typed(text: str) -> str:
    """The text with arguments of Python written as options.

    >>> as_typed("Try method='lbfgs' and max_iter=200.")
    'Try -m lbfgs and --max-iter 200.'
    """
    for argument, flag in FLAGS.items():
        text = text.replace(argument, flag)
    return _TWICE.sub(r"\1", _ARGUMENT.sub(_option, text))


def _option(found: re.Match[str]) -> str:
    before = found.string[: found.start()]
    opened = before.rfind("(")
    if opened > max(0, before.rfind(")")) and before[opened - 1].isalnum():
        return found[0]  # the argument of a call, f(x, l2=0.1), is Python and stays
    name = found["name"]
    flag = "-m" if name == "method" else "--" + name.replace("_", "-")
    value = found["value"]
    if not value:
        return flag
    plain = ast.literal_eval(value) if value[0] in "['\"" else value
    several = plain if isinstance(plain, list) else [plain]
    return " ".join(f"{flag} {shlex.quote(str(each))}" for each in several)
