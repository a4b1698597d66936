"""A record on one screen: its word first, as text for a terminal and as HTML for a notebook.

The HTML is static: no script, no outside request, readable in light and dark.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from functools import partial

from thalweg.core.text import escaped, shown

WIDTH = 80  # columns
GOOD, BAD, NEUTRAL = "good", "bad", "neutral"

# Okabe–Ito green and vermilion: told apart by colour-blind readers, on white and on black. They are
# those of an edge: as text they would be too faint on one of both.
_COLOURS = {GOOD: "#009e73", BAD: "#d55e00", NEUTRAL: "#56b4e9"}


def count_of(number: int, thing: str) -> str:
    """A number with its noun: 1 iteration, 2 iterations."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def text_card(word: str, headline: str, lines: Iterable[str]) -> str:
    """The word and what it is about on the first line, the evidence indented below."""
    wrap = partial(
        textwrap.fill,
        width=WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join([f"{word}  {shown(headline)}", *(wrap(shown(each)) for each in lines if each)])


def html_card(
    word: str, headline: str, rows: Iterable[tuple[str, str]], *, tone: str = NEUTRAL
) -> str:
    """The same as a table with a coloured edge."""
    cells = "".join(
        f'<tr><th style="text-align:left;font-weight:normal;opacity:.7;padding:0 1em 0 0;'
        f'vertical-align:top">{escaped(label)}</th>'
        f'<td style="text-align:left">{escaped(content)}</td></tr>'
        for label, content in rows
        if content
    )
    colour = _COLOURS[tone]
    return (
        f'<div style="border-left:4px solid {colour};padding:.3em .8em;font-family:sans-serif">'
        f"<div><strong>{escaped(word)}</strong> {escaped(headline)}</div>"
        f'<table style="border:none;border-collapse:collapse;margin-top:.3em">{cells}</table></div>'
    )
