"""A figure as PNG or PDF, drawn by matplotlib (extra `plots`) from the same description.

Ranges, ticks, colours and dashes are those of the SVG; matplotlib sets the text.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.core.extra import optional
from thalweg.core.storage import write_file
from thalweg.figures.frame import spans
from thalweg.figures.layout import NOTE, colour_span, layout
from thalweg.figures.lettering import wrapped
from thalweg.figures.palette import SHADES
from thalweg.figures.spec import (
    LOG,
    Band,
    Bars,
    Contour,
    Curve,
    Figure,
    Guide,
    Heatmap,
    Histogram,
    Mark,
    Point,
)
from thalweg.figures.styles import CODES, Style
from thalweg.figures.svg import WIDTH, guide_style

DOTS = 200  # an inch
MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "cross": "P"}
UNITS = 80.0  # of the layout, an inch


def to_png(figure: Figure, file: str | Path) -> None:
    """Write the figure as PNG."""
    _write(figure, file, "png")


def to_pdf(figure: Figure, file: str | Path) -> None:
    """Write the figure as PDF, whose lines and letters scale."""
    _write(figure, file, "pdf")


def drawing(figure: Figure) -> tuple[Any, list[Any]]:
    """The figure as matplotlib has it, and its axes."""
    Canvas = plotting("PNG and PDF").Figure
    columns = min(figure.columns, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    page = layout(figure, WIDTH)
    canvas = Canvas(figsize=(WIDTH / UNITS, (page.height + 12.0) / UNITS), layout="constrained")
    canvas.suptitle(figure.title, fontsize=11, fontweight="bold", x=0.02, ha="left", wrap=True)
    grid = canvas.subplots(rows, columns, squeeze=False)
    flat = list(grid.ravel())
    for axes in flat[len(figure.panels) :]:
        axes.set_axis_off()
    for axes, drawn in zip(flat, page.panels, strict=False):
        panel = drawn.panel
        axes.set_xscale(panel.x.scale)
        axes.set_yscale(panel.y.scale)
        across, down = spans(panel)
        for mark in panel.marks:
            _draw(canvas, axes, mark)
        if any(isinstance(mark, Bars) for mark in panel.marks):
            across = (across[0], _beyond(*across, panel.x.scale))
            axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlim(*across)
        axes.set_ylim(*down)
        axes.set_xlabel(panel.x.label, fontsize=9)
        axes.set_ylabel(panel.y.label, fontsize=9)
        axes.set_title(panel.title, fontsize=9, loc="left")
        _ticks(axes, panel, drawn.x_ticks)
        axes.tick_params(labelsize=8)
    _legend(canvas, flat, figure.notes)
    return canvas, flat[: len(figure.panels)]


def _beyond(low: float, high: float, scale: str) -> float:
    """A third farther to the right: room for the labels of bars."""
    return high * (high / low) ** 0.35 if scale == LOG else high + 0.35 * (high - low)


def plotting(what: str) -> Any:
    """matplotlib.figure, or a sentence on how to get it."""
    instead = "save as .svg, which needs nothing"
    return optional("matplotlib.figure", what, extra="plots", instead=instead)


def _write(figure: Figure, file: str | Path, form: str) -> None:
    canvas, _ = drawing(figure)
    out = io.BytesIO()
    # Without its date, the same figure gives the same bytes.
    about = {"CreationDate": None} if form == "pdf" else None
    canvas.savefig(out, format=form, dpi=DOTS, metadata=about)
    write_file(Path(file), out.getvalue())


def _draw(canvas: Any, axes: Any, mark: Mark) -> None:
    match mark:
        case Curve():
            alone = {"marker": "s"} if len(mark.x) == 1 else {}  # a line of one point is not seen
            axes.plot(mark.x, mark.y, label=mark.name or None, **{**_line(mark.style), **alone})
        case Band():
            axes.fill_between(
                mark.x, mark.low, mark.high, color=_code(mark.style.hue), alpha=0.22,
                linewidth=0, label=mark.name or None,
            )  # fmt: skip
        case Bars():
            axes.barh(mark.rows, mark.values, mark.thickness, label=mark.name, **_fill(mark.style))
            for row, value, label in zip(mark.rows, mark.values, mark.labels, strict=False):
                axes.annotate(
                    label, (value, row), (3, 0), textcoords="offset points", va="center", fontsize=7
                )
        case Histogram():
            axes.stairs(mark.heights, mark.edges, label=mark.name, **_fill(mark.style))
        case Heatmap():
            _heatmap(canvas, axes, mark)
        case Contour():
            axes.contour(
                mark.x, mark.y, mark.values, mark.levels, colors=_code("muted"), linewidths=0.6,
                alpha=0.6,
            )  # fmt: skip
        case Guide():
            across = axes.axhline if mark.along == "x" else axes.axvline
            across(mark.at, label=mark.name or None, **_line(guide_style()))
        case Point():
            axes.plot(
                [mark.x], [mark.y], MARKERS[mark.shape], color=_code("ink"), label=mark.name,
                markerfacecolor="white" if mark.shape == "circle" else _code("ink"), zorder=5,
            )  # fmt: skip


def _heatmap(canvas: Any, axes: Any, mark: Heatmap) -> None:
    from matplotlib.colors import ListedColormap, LogNorm, Normalize

    low, high = colour_span(mark)
    norm = (LogNorm if mark.scale == LOG else Normalize)(low, high)
    # Beyond the ends the colours are the ends': a norm of 0 has no logarithm.
    image = axes.imshow(
        np.clip(mark.values, low, high), ListedColormap(list(SHADES)), norm=norm, aspect="auto",
        interpolation="nearest",
    )  # fmt: skip
    bar = canvas.colorbar(image, ax=axes)
    bar.set_label(mark.label, fontsize=8)
    bar.ax.tick_params(labelsize=7)


def _ticks(axes: Any, panel: Any, places: tuple[float, ...]) -> None:
    if panel.x.categories:
        axes.set_xticks(places, [panel.x.categories[int(k)] for k in places])
    if panel.y.categories:
        axes.set_yticks(range(len(panel.y.categories)), panel.y.categories)


def _legend(canvas: Any, axes: list[Any], notes: tuple[str, ...]) -> None:
    """Below all panels, with the notes above it, for which room is kept in this way alone."""
    named: dict[str, Any] = {}
    for each in axes:
        for handle, label in zip(*each.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    if named or notes:
        said = "\n".join(line for note in notes for line in wrapped(note, WIDTH, NOTE))
        canvas.legend(
            list(named.values()), list(named), loc="outside lower left", fontsize=8, frameon=False,
            ncols=min(max(len(named), 1), 4), title=said, title_fontsize=7, alignment="left",
        )  # fmt: skip


def _line(style: Style) -> dict[str, Any]:
    # Dashes are given in units of the width.
    dash = (0, tuple(length / style.width for length in style.dash)) if style.dash else "-"
    return {
        "color": _code(style.hue),
        "linestyle": dash,
        "linewidth": 0.7 * style.width,
        "marker": MARKERS.get(style.shape, ""),
        "markevery": 0.12,
        "markersize": 4,
    }


def _fill(style: Style) -> dict[str, Any]:
    colour = _code(style.hue)
    if style.dash:
        return {"fill": True, "facecolor": colour + "40", "edgecolor": colour, "linestyle": "--"}
    return {"fill": True, "color": colour}


def _code(hue: str) -> str:
    return CODES[hue][0]
