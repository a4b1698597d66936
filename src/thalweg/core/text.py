"""Text from anywhere, made fit to be shown: names of columns, classes and files are not ours.

    control characters, C0 and C1    a terminal obeys them: ESC ] 0 ; … renames its window
    bidirectional marks              what is shown stands in another order than what is there
    unseen and no characters         two names look alike; XML and UTF-8 have no place for some

Each of them is written as Python writes it, \\x1b or \\u202e: a reader sees that it is there. All
that prints goes through here, by `shown` to a terminal, `escaped` to HTML, `in_json` and `cell` to
files.
"""

from __future__ import annotations

import re
from html import escape

UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2061-\u206f\ud800-\udfff"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
UNSEEN_OR_BREAK = re.compile(f"{UNSEEN.pattern}|[\t\n]")
LONGEST = 1500  # letters of a sentence
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)", re.ASCII)
FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")  # wide signs as well
QUOTED = re.compile(r'[,;"\t\r\n]')  # separators of any country


def shown(text: object, *, lines: bool = False) -> str:
    """The text with what is unseen written out; line ends and tabs stay where `lines`.

    >>> print(shown("a\\x1b[31mb\\n"))
    a\\x1b[31mb\\n
    """
    return (UNSEEN if lines else UNSEEN_OR_BREAK).sub(_written_out, str(text))


def one_line(said: object, most: int = 200) -> str:
    """What a library or a file says, fit for a sentence: no line ends, no escapes, not for ever."""
    text = shown(" ".join(str(said).split()))
    return text if len(text) <= most else text[:most] + "…"


def sentence(text: str) -> str:
    """What is said of an error: on one line, and of what is very long both ends."""
    text = shown(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 3 :]}"


def escaped(text: object) -> str:
    """The text as HTML, which is XML as well."""
    return escape(shown(text, lines=True))


def in_json(text: str) -> str:
    """JSON that says the same with what is unseen written out: JSON has it in strings alone."""
    return UNSEEN.sub(_unit, text)


def cell(text: str, *, raw: bool = False) -> str:
    """A name as a field of CSV that no spreadsheet computes.

    What begins like a formula and is no number gets a ' in front, which spreadsheets take for the
    mark of a text. `raw` writes the name as it is, quoted as CSV wants it.
    """
    if not raw:
        text = shown(text, lines=True)
        if FORMULA.match(text) and not NUMBER.fullmatch(text):
            text = "'" + text
    return '"' + text.replace('"', '""') + '"' if QUOTED.search(text) else text


def _written_out(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode("ascii")


def _unit(found: re.Match[str]) -> str:
    """As JSON writes it: a pair of \\u for what lies beyond the first plane."""
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[k : k + 4]}" for k in range(0, len(units), 4))
