"""A figure as SVG: text that a browser draws, with nothing fetched from elsewhere.

It can stand in a page, in a file or in a notebook. Its colours are CSS variables that follow
`prefers-color-scheme`; it paints its own background, so it is readable on any page. A page may set
the variables itself (`--tw-ink`, `--tw-paper`, …). It has a title and a description for screen
readers, no script, and no ids, so that many may stand in one page.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.checks import check_number
from thalweg.core.text import escaped
from thalweg.figures.frame import Frame
from thalweg.figures.isolines import chained, isolines
from thalweg.figures.layout import SWATCH, Drawn, Entry, Text, colour_span, layout
from thalweg.figures.palette import SHADES, shades
from thalweg.figures.spec import (
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
from thalweg.figures.styles import CODES, FAINT, MUTED, Style

WIDTH, NARROW_WIDTH = 640.0, 360.0
LEAST_WIDTH = 240.0
ALONG = 8  # markers on a curve that has them


def to_svg(figure: Figure, width: float = WIDTH) -> str:
    """The figure as one <svg> element, `width` units wide; it shrinks with the page."""
    width = check_number("width", width, at_least=LEAST_WIDTH)
    page = layout(figure, width)
    body = [
        f'<rect width="{_n(width)}" height="{_n(page.height)}" fill="var(--tw-paper)"/>',
        *(part for drawn in page.panels for part in _panel(drawn)),
        *(_swatch(entry) for entry in page.entries),
        *(_text(text) for text in page.texts),
    ]
    summary = " ".join([figure.summary, *(f"{note}." for note in figure.notes)])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="thalweg-figure" role="img" '
        f'viewBox="0 0 {_n(width)} {_n(page.height)}" '
        f'style="width:100%;max-width:{_n(width)}px;height:auto">'
        f"<title>{escaped(figure.title)}</title><desc>{escaped(summary)}</desc>"
        f"<style>{STYLE}</style>{''.join(body)}</svg>"
    )


def to_html(figure: Figure) -> str:
    """The figure twice, for wide and for narrow screens, of which a browser shows one."""
    return (
        f'<figure class="thalweg-both" style="margin:0"><style>{SWITCH}</style>'
        f'<div class="tw-wide">{to_svg(figure)}</div>'
        f'<div class="tw-narrow">{to_svg(figure, NARROW_WIDTH)}</div></figure>'
    )


def _variables(side: int) -> str:
    return ";".join(f"--tw-{name}:{codes[side]}" for name, codes in CODES.items())


# :where() weighs nothing, so that a page's own rules for the variables win.
STYLE = (
    f":where(.thalweg-figure){{{_variables(0)}}}"
    f"@media(prefers-color-scheme:dark){{:where(.thalweg-figure){{{_variables(1)}}}}}"
    ".thalweg-figure text{font-family:system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;"
    "fill:var(--tw-ink);stroke:none}"
    ".thalweg-figure .value{paint-order:stroke;stroke:var(--tw-paper);stroke-width:3px}"
    ".thalweg-figure .title{font-weight:600}.thalweg-figure .note{fill:var(--tw-muted)}"
)
SWITCH = (
    ".thalweg-both .tw-narrow{display:none}@media(max-width:520px){.thalweg-both .tw-wide"
    "{display:none}.thalweg-both .tw-narrow{display:block}}"
)


def _panel(drawn: Drawn) -> list[str]:
    frame = drawn.frame
    lines = "".join(
        f"M{_n(x)} {_n(frame.top)}V{_n(frame.bottom)}" for x in map(frame.across, drawn.x_ticks)
    )
    if not drawn.panel.y.categories:
        lines += "".join(
            f"M{_n(frame.left)} {_n(y)}H{_n(frame.right)}" for y in map(frame.down, drawn.y_ticks)
        )
    parts = [f'<path d="{lines}" stroke="var(--tw-grid)" fill="none"/>'] if lines else []
    for mark in drawn.panel.marks:
        parts.append(_mark(mark, frame))
        if isinstance(mark, Heatmap):
            parts.append(_colour_scale(frame, drawn.scale_top))
    if any(isinstance(mark, Bars) for mark in drawn.panel.marks):
        # Open to the right: names of bars stand there.
        line = f"M{_n(frame.left)} {_n(frame.top)}V{_n(frame.bottom)}H{_n(frame.right)}"
        return [*parts, f'<path d="{line}" fill="none" stroke="var(--tw-muted)"/>']
    parts.append(
        f'<rect x="{_n(frame.left)}" y="{_n(frame.top)}" width="{_n(frame.right - frame.left)}" '
        f'height="{_n(frame.bottom - frame.top)}" fill="none" stroke="var(--tw-muted)"/>'
    )
    return parts


def _mark(mark: Mark, frame: Frame) -> str:
    match mark:
        case Curve():
            pieces = frame.lines(mark.x, mark.y)
            return _lines(pieces, mark.style) + _markers(pieces, mark.style)
        case Band():
            return _band(mark, frame)
        case Bars():
            return _bars(mark, frame)
        case Histogram():
            return _histogram(mark, frame)
        case Heatmap():
            return _heatmap(mark, frame)
        case Contour():
            return "".join(
                _contour(isolines(mark.x, mark.y, mark.values, level), frame)
                for level in mark.levels
            )
        case Guide():
            return _lines(frame.lines(*guide_ends(mark, frame)), guide_style())
        case Point():
            x, y = frame.across(mark.x), frame.down(mark.y)
            is_inside = frame.left <= x <= frame.right and frame.top <= y <= frame.bottom
            return _shape(float(x), float(y), mark.shape, "ink", 5.0) if is_inside else ""


def guide_ends(mark: Guide, frame: Frame) -> tuple[np.ndarray, np.ndarray]:
    """Two points, x and y, between which a guide runs."""
    at = np.full(2, mark.at)
    return (np.array(frame.x_span), at) if mark.along == "x" else (at, np.array(frame.y_span))


def guide_style() -> Style:
    """That of tolerances and limits: grey and dotted."""
    return Style(MUTED, (1.5, 3.0), 1.6)


def _lines(pieces: Sequence[np.ndarray], style: Style) -> str:
    d = "".join("M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in piece) for piece in pieces)
    if not d:
        return ""
    dash = f' stroke-dasharray="{" ".join(map(_n, style.dash))}"' if style.dash else ""
    return (
        f'<path d="{d}" fill="none" stroke="var(--tw-{style.hue})" '
        f'stroke-width="{_n(style.width)}" stroke-linejoin="round"{dash}/>'
    )


def _markers(pieces: Sequence[np.ndarray], style: Style) -> str:
    points = np.concatenate(pieces) if pieces else np.empty((0, 2))
    if len(points) == 1:  # a line of one point is not seen
        return _shape(points[0, 0], points[0, 1], style.shape or "square", style.hue, 3.0)
    if not style.shape or not len(points):
        return ""
    # Evenly along the drawn line, as its points may crowd at one end.
    gone = np.append(0.0, np.cumsum(np.hypot(*np.diff(points, axis=0).T)))
    at = np.unique(np.searchsorted(gone, np.linspace(0.0, gone[-1], ALONG)))
    return "".join(
        _shape(x, y, style.shape, style.hue, 3.5) for x, y in points[np.minimum(at, len(gone) - 1)]
    )


def _shape(x: float, y: float, shape: str, hue: str, r: float) -> str:
    colour = f"var(--tw-{hue})"
    match shape:
        case "square":
            d = f"M{_n(x - r)} {_n(y - r)}h{_n(2 * r)}v{_n(2 * r)}h{_n(-2 * r)}z"
        case "triangle":
            d = f"M{_n(x)} {_n(y - 1.2 * r)}l{_n(1.2 * r)} {_n(2.1 * r)}h{_n(-2.4 * r)}z"
        case "diamond":
            s = 1.3 * r
            d = f"M{_n(x)} {_n(y - s)}l{_n(s)} {_n(s)}l{_n(-s)} {_n(s)}l{_n(-s)} {_n(-s)}z"
        case "cross":
            d = f"M{_n(x - r)} {_n(y)}h{_n(2 * r)}M{_n(x)} {_n(y - r)}v{_n(2 * r)}"
            return f'<path d="{d}" stroke="{colour}" stroke-width="2.5" fill="none"/>'
        case _:
            return (
                f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(r)}" fill="var(--tw-paper)" '
                f'stroke="{colour}" stroke-width="2"/>'
            )
    return f'<path d="{d}" fill="{colour}"/>'


def _band(mark: Band, frame: Frame) -> str:
    x = np.clip(frame.across(mark.x), frame.left, frame.right)
    low, high = (np.clip(frame.down(y), frame.top, frame.bottom) for y in (mark.low, mark.high))
    known = np.flatnonzero(np.isfinite(x + low + high))
    if not len(known):
        return ""
    around = [(x[k], high[k]) for k in known] + [(x[k], low[k]) for k in known[::-1]]
    d = "M" + "L".join(f"{_n(a)} {_n(b)}" for a, b in around) + "z"
    return f'<path d="{d}" fill="var(--tw-{mark.style.hue})" fill-opacity="0.22"/>'


def _bars(mark: Bars, frame: Frame) -> str:
    tall = mark.thickness * (frame.bottom - frame.top) / abs(frame.y_span[0] - frame.y_span[1])
    ends = np.clip(frame.across(mark.values), frame.left, frame.right)
    middles = frame.down(mark.rows)
    d = "".join(
        f"M{_n(frame.left)} {_n(y - tall / 2)}H{_n(end)}v{_n(tall)}H{_n(frame.left)}z"
        for end, y in zip(ends, middles, strict=True)
        if np.isfinite(end)
    )
    return _filled(d, mark.style)


def _histogram(mark: Histogram, frame: Frame) -> str:
    edges = np.clip(frame.across(mark.edges), frame.left, frame.right)
    tops = np.clip(frame.down(mark.heights), frame.top, frame.bottom)
    d = "".join(
        f"M{_n(a)} {_n(frame.bottom)}V{_n(top)}H{_n(b)}V{_n(frame.bottom)}z"
        for a, b, top in zip(edges[:-1], edges[1:], tops, strict=True)
        if np.isfinite(top) and top < frame.bottom
    )
    return _filled(d, mark.style)


def _filled(d: str, style: Style) -> str:
    """Solid, or the outline of its hue where the style is dashed."""
    if not d:
        return ""
    hue = f"var(--tw-{style.hue})"
    if style.dash:
        dash = " ".join(map(_n, style.dash))
        return (
            f'<path d="{d}" fill="{hue}" fill-opacity="0.25" stroke="{hue}" '
            f'stroke-dasharray="{dash}"/>'
        )
    return f'<path d="{d}" fill="{hue}"/>'


def _heatmap(mark: Heatmap, frame: Frame) -> str:
    """Neighbours in a row of one shade are one rectangle; all of one shade are one path."""
    codes = shades(mark.values, colour_span(mark), mark.scale)
    x = np.linspace(frame.left, frame.right, codes.shape[1] + 1)
    y = np.linspace(frame.top, frame.bottom, codes.shape[0] + 1)
    paths: dict[int, list[str]] = {}
    for i, row in enumerate(codes):
        ends = np.append(np.flatnonzero(np.diff(row)) + 1, len(row))
        starts = np.append(0, ends[:-1])
        for a, b in zip(starts, ends, strict=True):
            if row[a] >= 0:
                d = f"M{_n(x[a])} {_n(y[i])}H{_n(x[b])}V{_n(y[i + 1])}H{_n(x[a])}z"
                paths.setdefault(int(row[a]), []).append(d)
    return "".join(
        f'<path d="{"".join(d)}" fill="{SHADES[code]}" shape-rendering="crispEdges"/>'
        for code, d in sorted(paths.items())
    )


def _colour_scale(frame: Frame, top: float) -> str:
    # Each reaches to the right end, under the next: side by side, rounding leaves gaps.
    starts = np.linspace(frame.left, frame.right, len(SHADES), endpoint=False)
    return "".join(
        f'<rect x="{_n(a)}" y="{_n(top)}" width="{_n(frame.right - a)}" height="10" '
        f'fill="{shade}" shape-rendering="crispEdges"/>'
        for a, shade in zip(starts, SHADES, strict=True)
    )


def _contour(segments: np.ndarray, frame: Frame) -> str:
    pieces = [piece for line in chained(segments) for piece in frame.lines(line[:, 0], line[:, 1])]
    return _lines(pieces, FAINT).replace("<path ", '<path stroke-opacity="0.5" ')


def _swatch(entry: Entry) -> str:
    mark, x, y = entry.mark, entry.x, entry.y
    line = np.array([[x, y], [x + SWATCH - 8.0, y]])
    match mark:
        case Curve():
            middle = _shape(x + 11.0, y, mark.style.shape, mark.style.hue, 3.5)
            return _lines([line], mark.style) + (middle if mark.style.shape else "")
        case Guide():
            return _lines([line], guide_style())
        case Point():
            return _shape(x + 11.0, y, mark.shape, "ink", 5.0)
        case Band():
            d = f"M{_n(x)} {_n(y - 5)}h22v10h-22z"
            return f'<path d="{d}" fill="var(--tw-{mark.style.hue})" fill-opacity="0.22"/>'
        case Bars() | Histogram():
            return _filled(f"M{_n(x)} {_n(y - 5)}h22v10h-22z", mark.style)
    return ""


def _text(text: Text) -> str:
    anchor = "" if text.anchor == "start" else f' text-anchor="{text.anchor}"'
    whole = f"<title>{escaped(text.whole)}</title>" if text.whole else ""
    return (
        f'<text x="{_n(text.x)}" y="{_n(text.y)}" font-size="{_n(text.size)}" '
        f'class="{text.role}"{anchor}>{escaped(text.content)}{whole}</text>'
    )


def _n(number: float | np.ndarray) -> str:
    """A tenth of a unit is finer than a pixel."""
    text = f"{float(number):.1f}"
    return text[:-2] if text.endswith(".0") else text
