"""Rows of cells as aligned text, and as HTML: how plans of both kinds are printed."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.core.text import escaped

Row = tuple[str, ...]


def aligned(rows: Sequence[Row]) -> list[str]:
    """A line a row: the first column to the left, the others to the right, the last as it is."""
    widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:-1]]
    lines = []
    for first, *middle, last in rows:
        padded = [cell.rjust(width) for cell, width in zip(middle, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *padded, last]).rstrip())
    return lines


def html_grid(rows: Sequence[Row]) -> str:
    """A table of the same rows, the first of which are its heads."""
    heads, *cells = rows
    head = "".join(f"<th>{escaped(cell)}</th>" for cell in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escaped(cell)}</td>" for cell in row) + "</tr>" for row in cells
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
