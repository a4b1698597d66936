"""Pieces of HTML: escaped text, tables, lists of facts, code to copy, files to save.

`Markup` is text that is HTML already; any other string is escaped when it is put into a piece, so
that a name with < or & in it cannot become a tag. All pieces are well-formed XML too, which is how
tests check that a page is closed where it was opened.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from thalweg.core.text import escaped

GOOD, WARN, BAD, INFO = "good", "warn", "bad", "info"
STACKS, DENSE = "stacks", "dense"  # kinds of tables
SIGNS = {GOOD: "✓", WARN: "!", BAD: "✕", INFO: "●"}  # tones, for those who see no colours
PLAIN_IN_URI = "-_.~!*'(),:;=@/+[]{}"  # need no % in a data URI


class Markup(str):
    """Text that is HTML."""

    __slots__ = ()


def html(content: Any) -> Markup:
    """The content as HTML: escaped unless it is that already."""
    return content if isinstance(content, Markup) else Markup(escaped(content))


def joined(parts: Iterable[Markup], between: str = "") -> Markup:
    """Pieces one after the other."""
    return Markup(between.join(parts))


def element(name: str, content: Any, **attributes: str) -> Markup:
    """An element; `class_` and `for_` stand for class and for."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for key, value in attributes.items()
        if value
    )
    return Markup(f"<{name}{written}>{html(content)}</{name}>")


def section(identity: str, title: str, parts: Iterable[Markup]) -> Markup:
    """A part of the page under a heading."""
    heading = element("h2", title, id=f"{identity}-title")
    return Markup(
        f'<section id="{identity}" aria-labelledby="{identity}-title">{heading}{joined(parts)}'
        "</section>"
    )


def html_table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    numbers: Sequence[int] = (),
    kind: str = "",
) -> Markup:
    """A table whose first column names the row; `numbers` are columns set to the right.

    One of the kind "stacks" becomes a list on narrow screens, each number with the head of its
    column; one that is "dense" is set small there.
    """
    aligned = ["n" if k in numbers else "" for k in range(len(heads))]
    head = joined(
        element("th", name, scope="col", class_=side)
        for name, side in zip(heads, aligned, strict=True)
    )
    body = []
    for first, *cells in rows:
        line = [
            element("td", cell, class_=side, data_head="" if isinstance(cell, Markup) else name)
            if kind == STACKS
            else element("td", cell, class_=side)
            for cell, side, name in zip(cells, aligned[1:], heads[1:], strict=True)
        ]
        body.append(element("tr", joined([element("th", first, scope="row"), *line])))
    whole = Markup(
        f"{element('caption', caption)}<thead>{element('tr', head)}</thead>"
        f"<tbody>{joined(body)}</tbody>"
    )
    return element("table", whole, class_=kind)


def facts(pairs: Iterable[tuple[str, Any]], kind: str = "facts") -> Markup:
    """Labels and what they stand for; those without content are left out."""
    entries = [
        element("div", Markup(element("dt", label) + element("dd", content)))
        for label, content in pairs
        if content not in ("", None)
    ]
    return element("dl", joined(entries), class_=kind) if entries else Markup()


def badge(text: str, tone: str) -> Markup:
    """A word in its colour, with a sign that tells the same."""
    sign = element("span", SIGNS[tone], aria_hidden="true")
    return element("span", Markup(f"{sign} {html(text)}"), class_=f"badge {tone}")


def to_copy(text: str, label: str = "") -> Markup:
    """Text to be copied: the page's script puts a button beside it."""
    name = element("p", label, class_="label") if label else Markup()
    return Markup(f'{name}<pre class="copy"><code>{escaped(text)}</code></pre>')


def folded(summary: str, content: Markup) -> Markup:
    """What is shown when it is asked for."""
    return Markup(f"<details>{element('summary', summary)}{content}</details>")


def to_save(text: str, name: str, kind: str, label: str) -> Markup:
    """A link that saves `text` as a file, which is in the link itself."""
    source = f"data:{kind};charset=utf-8,{quote(text, safe=PLAIN_IN_URI)}"
    return element("a", label, href=source, download=name)


def number(value: float | None) -> str:
    """Three digits; a dash where there is none."""
    if value is None or math.isnan(value):
        return "—"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    is_whole = value == round(value) and abs(value) < 1e6
    text = f"{abs(value):,.0f}" if is_whole else f"{abs(value):.3g}"
    return f"−{text}" if value < 0 else text
