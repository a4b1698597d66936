"""A figure in a page: one drawing for wide screens, one for narrow ones, and its numbers to save.

How much of a curve is drawn depends on how many curves a page has, as a page may not be larger than
1 MB: `Detail` says how many points a curve and how many cells a row of a heat map may have.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from thalweg.figures.spec import Band, Bars, Curve, Figure, Heatmap, Histogram, Mark
from thalweg.figures.svg import NARROW_WIDTH, to_svg
from thalweg.reports.markup import Markup, element, joined, to_save

MOST_CSV = 30_000  # letters in a link under a figure
FEWEST = 40  # points of a curve, below which its course is lost


class Detail(NamedTuple):
    """How finely a page draws."""

    points: int = 500  # of a curve
    cells: int = 100  # of a row of a heat map
    with_csv: bool = True

    def coarser(self) -> Detail:
        """Half of it."""
        return Detail(max(FEWEST, self.points // 2), max(FEWEST, self.cells // 2), False)


def drawing(
    figure: Figure, name: str, detail: Detail, *, narrow: Figure | None = None, title: str = ""
) -> Markup:
    """The figure as <figure>, `name` being that of files saved from it."""
    wide = replace(figure, title=title or figure.title)
    slim = replace(narrow or figure, title=wide.title)
    links = []
    if detail.with_csv and len(text := to_csv(figure)) <= MOST_CSV:
        links.append(to_save(text, f"{name}.csv", "text/csv", "CSV"))
    return Markup(
        f'<figure class="thalweg-both" data-name="{name}"><div class="tw-wide">{to_svg(wide)}</div>'
        f'<div class="tw-narrow">{to_svg(slim, NARROW_WIDTH)}</div>{caption(links)}</figure>'
    )


def caption(links: Iterable[Markup]) -> Markup:
    """Where the links to a figure's files are; the script adds one for its drawing."""
    return element("figcaption", joined(links, " "), class_="save")


def to_csv(figure: Figure) -> str:
    """The numbers that a figure shows, one mark after the other."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("panel", "mark", "x", "y", "y_high"))
    for panel in figure.panels:
        for mark in panel.marks:
            for name, *cells in _rows(mark, panel.y.categories):
                written = [c if isinstance(c, str) else f"{c:.5g}" for c in cells]
                writer.writerow((panel.title, name, *written))
    return out.getvalue()


def _rows(mark: Mark, categories: tuple[str, ...]) -> Iterator[tuple[str | float, ...]]:
    match mark:
        case Curve():
            yield from ((mark.name, *pair) for pair in zip(mark.x, mark.y, strict=True))
        case Band():
            triples = zip(mark.x, mark.low, mark.high, strict=True)
            yield from ((mark.name, *triple) for triple in triples)
        case Bars():
            names = [categories[round(row)] for row in mark.rows]
            yield from ((mark.name, *pair) for pair in zip(names, mark.values, strict=True))
        case Histogram():
            pairs = zip(mark.edges[:-1], mark.heights, strict=True)
            yield from ((mark.name, *pair) for pair in pairs)
        case Heatmap():
            for name, row in zip(categories, mark.values, strict=True):
                yield from ((name, k, value) for k, value in enumerate(row))
