"""The command that settles what is to be said of columns: what was typed, and the options it lacks.

It is printed on a line of its own and never wrapped, so that it can be copied as it stands. A word
that a shell would not take as it is, is quoted; where it holds what a terminal obeys or lacks, as
$'…' with its bytes in octal, which bash, zsh and ksh read.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from thalweg.core.text import UNSEEN_OR_BREAK
from thalweg.tables.problem import SEVERAL, Unsettled


def settling(
    problem: Unsettled, typed: Sequence[str], options: Collection[str], encoding: str = "utf-8"
) -> str:
    """The command; empty where nothing was found that settles all, or the verb cannot be told it.

    `typed`: the words after `thalweg`; `options`: those that the verb has.
    """
    flags = {name: "--" + name.replace("_", "-") for name in problem.remedy}
    if not flags or not set(flags.values()) <= set(options):
        return ""
    words = list(typed)
    ended = words.index("--") if "--" in words else len(words)
    before, after = words[:ended], words[ended:]
    for name, flag in flags.items():
        before = _with(before, flag, name, problem.remedy[name], problem.asked)
    return " ".join(typeable(word, encoding) for word in ("thalweg", *before, *after))


def _with(
    words: list[str], flag: str, name: str, value: Any, asked: Mapping[str, Any]
) -> list[str]:
    """The words and one option more; in the place of another that it contradicts."""
    is_typed = any(word == flag or word.startswith(f"{flag}=") for word in words)
    if name not in SEVERAL:
        return [*_without(words, flag), flag, str(value)]
    # What stands in a file of options is not asked for where the option is typed.
    values = value if is_typed else [*asked.get(name, ()), *value]
    return [*words, *(part for each in values for part in (flag, str(each)))]


def _without(words: Sequence[str], flag: str) -> list[str]:
    kept, skip = [], False
    for word in words:
        if skip or word.startswith(f"{flag}="):
            skip = False
        elif word == flag:
            skip = True
        else:
            kept.append(word)
    return kept


def typeable(word: str, encoding: str = "utf-8") -> str:
    """The word as a shell takes it, in letters that a terminal has and does not obey.

    >>> print(typeable("it's"), typeable("a\\tb"), typeable("plain"))
    'it'"'"'s' $'a\\011b' plain
    """
    try:
        word.encode(encoding)
    except UnicodeEncodeError:
        pass
    else:
        if not UNSEEN_OR_BREAK.search(word):
            return shlex.quote(word)
    octal = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b"'\\" else f"\\{byte:03o}"
        for byte in word.encode("utf-8", "surrogateescape")
    )
    return f"$'{octal}'"
