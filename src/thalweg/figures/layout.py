"""Where everything stands: frames, numbers, names, legend and notes, so that no text meets another.

From top to bottom: title; panels, each with the name of its y axis above its upper left corner,
where it needs not be turned to be read; one legend for all; notes. The width is given and the
height follows. Numbers along an axis are as many as fit: a tick that would touch its neighbour's
label goes with all others of its kind to a coarser step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from thalweg.figures.frame import Frame, spans
from thalweg.figures.lettering import shortened, told_apart, width, wrapped
from thalweg.figures.spec import (
    Bars,
    Contour,
    Figure,
    Heatmap,
    Mark,
    Panel,
)
from thalweg.figures.ticks import span, ticks

SIZE, TITLE, NOTE = 12.0, 15.0, 11.0  # of letters
LINE = 1.35  # of a letter's size, from one line to the next
EDGE = 10.0  # around everything
GAP = 22.0  # between panels
SWATCH = 30.0  # of a legend entry, before its name
NARROW = 520.0  # below this, panels stand below each other
START, MIDDLE, END = "start", "middle", "end"


@dataclass(frozen=True)
class Text:
    """One line of text; (x, y) is the start, middle or end of its base line."""

    x: float
    y: float
    content: str
    size: float = SIZE
    anchor: str = START
    role: str = "label"  # "title", "label", "note", or "value", at the end of a bar
    whole: str = ""  # the text in full where it was shortened

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom, about."""
        wide = width(self.content, self.size) * (1.08 if self.role == "title" else 1.0)
        left = self.x - {START: 0.0, MIDDLE: 0.5, END: 1.0}[self.anchor] * wide
        return left, self.y - 0.8 * self.size, left + wide, self.y + 0.25 * self.size


@dataclass(frozen=True)
class Entry:
    """One line of the legend: where its swatch begins, and what it shows."""

    x: float
    y: float
    mark: Mark


@dataclass(frozen=True)
class Drawn:
    """A panel in its frame, with the places of its ticks."""

    panel: Panel
    frame: Frame
    x_ticks: tuple[float, ...]
    y_ticks: tuple[float, ...]
    scale_top: float  # of the colour scale, where there is a heat map


@dataclass(frozen=True)
class Layout:
    """A figure at one width."""

    width: float
    height: float
    panels: tuple[Drawn, ...]
    texts: tuple[Text, ...]
    entries: tuple[Entry, ...]


def layout(figure: Figure, wide: float) -> Layout:
    """Place all parts of a figure in a picture of this width."""
    texts: list[Text] = []
    y = _lines(texts, figure.title, EDGE, EDGE, wide - 2 * EDGE, TITLE, "title") + 4.0
    columns = min(figure.columns, len(figure.panels)) if wide >= NARROW else 1
    room = (wide - 2 * EDGE - (columns - 1) * GAP) / columns
    panels: list[Drawn] = []
    for first in range(0, len(figure.panels), columns):
        row = figure.panels[first : first + columns]
        tops = [EDGE + k * (room + GAP) for k in range(len(row))]
        # Panels of a row begin at one height, below the longest of their names.
        heads = [_head(panel, room) for panel in row]
        deepest = max(len(lines) for lines in heads)
        bottoms = []
        for panel, left, lines in zip(row, tops, heads, strict=True):
            for k, line in enumerate(lines):
                role = "title" if panel.title and k == 0 else "label"
                base = y + SIZE + (deepest - len(lines) + k) * LINE * SIZE
                texts.append(Text(left, base, line, role=role))
            top = y + deepest * LINE * SIZE + 6.0
            drawn, bottom = _panel(panel, left, top, room, texts)
            panels.append(drawn)
            bottoms.append(bottom)
        y = max(bottoms) + 8.0
    entries, y = _legend(figure, y, wide, texts)
    for note in figure.notes:
        y = _lines(texts, note, EDGE, y, wide - 2 * EDGE, NOTE, "note")
    return Layout(wide, math.ceil(y + EDGE), tuple(panels), tuple(texts), tuple(entries))


def _head(panel: Panel, room: float) -> list[str]:
    lines = [shortened(panel.title, room, SIZE * 1.08)] if panel.title else []
    return lines + wrapped(panel.y.label, room, SIZE)


def _panel(
    panel: Panel, left: float, top: float, room: float, texts: list[Text]
) -> tuple[Drawn, float]:
    """The panel with its top left corner here, and where it ends, texts below it included."""
    x_span, y_span = spans(panel)
    right = left + room
    tall = _height(panel, room)
    if panel.y.categories:
        most = max(0.3 * room, 60.0)
        names = told_apart(panel.y.categories, most, SIZE)
        y_marks = list(zip(map(float, range(len(names))), names, strict=True))
        fits = max(1, math.ceil(len(names) * 1.15 * SIZE / tall))
        y_marks = y_marks[::fits]  # names of every k-th row, where rows are thin
    else:
        y_marks = ticks(*y_span, panel.y.scale, most=max(2, int(tall // 36)))
    inset = max((width(label, SIZE) for _, label in y_marks), default=0.0) + 10.0
    frame = Frame(
        left + inset, top, right - 6.0, top + tall, x_span, y_span, panel.x.scale, panel.y.scale
    )
    frame = replace(frame, right=_clear_of_labels(panel, frame, right))
    for place, label in y_marks:
        whole = panel.y.categories[int(place)] if panel.y.categories else ""
        texts.append(
            Text(
                frame.left - 7.0,
                float(frame.down(place)) + 0.35 * SIZE,
                label,
                anchor=END,
                whole=whole if whole != label else "",
            )
        )
    x_marks = _x_ticks(panel, frame, left, right)
    base = frame.bottom + 5.0 + SIZE
    texts += [Text(at, base, label, anchor=MIDDLE) for _, at, label in x_marks]
    y = base + 4.0
    for line in wrapped(panel.x.label, room, SIZE):
        y += LINE * SIZE
        half = width(line, SIZE) / 2  # below the frame's middle, and not beyond the picture
        middle = min(max((frame.left + frame.right) / 2, left + half), right - half)
        texts.append(Text(middle, y, line, anchor=MIDDLE))
    scale_top = y + 14.0
    for mark in panel.marks:
        if isinstance(mark, Heatmap):
            y = _colour_scale(mark, frame, left, right, scale_top, texts)
        elif isinstance(mark, Bars):
            for row, value, label in zip(mark.rows, mark.values, mark.labels, strict=False):
                at = float(frame.across(value))
                at = frame.left if math.isnan(at) else min(max(at, frame.left), frame.right)
                texts.append(
                    Text(at + 5.0, float(frame.down(row)) + 0.35 * SIZE, label, role="value")
                )
    places = tuple(place for place, _, _ in x_marks)
    return Drawn(panel, frame, places, tuple(p for p, _ in y_marks), scale_top), y + 6.0


def _clear_of_labels(panel: Panel, frame: Frame, right: float) -> float:
    """How far right the frame may reach, so that the labels of its bars end before `right`."""
    reach = frame.right
    for mark in (mark for mark in panel.marks if isinstance(mark, Bars)):
        wide = np.nan_to_num(frame.across(mark.values) - frame.left)
        for part, label in zip(wide / (frame.right - frame.left), mark.labels, strict=False):
            room = right - frame.left - 7.0 - width(label, SIZE)
            reach = min(reach, frame.left + room / min(max(float(part), 0.2), 1.0))
    return reach


def _height(panel: Panel, room: float) -> float:
    rows = len(panel.y.categories)
    if any(isinstance(mark, Bars) for mark in panel.marks):
        thinnest = min(mark.thickness for mark in panel.marks if isinstance(mark, Bars))
        return rows * (24.0 if thinnest > 0.5 else 38.0)
    if rows:
        return min(max(rows * 18.0, 90.0), 420.0)
    if any(isinstance(mark, Contour) for mark in panel.marks):
        return min(0.72 * room, 420.0)
    return min(max(0.42 * room, 150.0), 280.0)


def _x_ticks(
    panel: Panel, frame: Frame, left: float, right: float
) -> list[tuple[float, float, str]]:
    """Places, where they lie and their labels: the most of which no two touch."""
    for most in range(9, 0, -1):
        if panel.x.categories:
            every = max(1, math.ceil(len(panel.x.categories) / most))
            found = [(float(k), name) for k, name in enumerate(panel.x.categories)][::every]
        else:
            found = ticks(*frame.x_span, panel.x.scale, most=most)
        placed, ends = [], -math.inf
        for place, label in found:
            half = width(label, SIZE) / 2
            at = float(frame.across(place))
            at = min(max(at, left + half), right - half)
            if at - half < ends + 8.0:
                break
            placed.append((place, at, label))
            ends = at + half
        if len(placed) == len(found):
            return placed
    return placed[:1]


def _colour_scale(
    mark: Heatmap, frame: Frame, left: float, right: float, top: float, texts: list[Text]
) -> float:
    """Numbers and name under the strip of colours; returns where they end."""
    low, high = colour_span(mark)
    bar = Frame(frame.left, top, frame.right, top + 10.0, (low, high), (0, 1), mark.scale, "linear")
    base, ends = top + 10.0 + SIZE + 3.0, -math.inf
    for place, label in ticks(low, high, mark.scale, most=5):
        half = width(label, SIZE) / 2
        at = min(max(float(bar.across(place)), left + half), right - half)
        if at - half >= ends + 8.0:
            texts.append(Text(at, base, label, anchor=MIDDLE))
            ends = at + half
    for line in wrapped(mark.label, right - left, SIZE):
        base += LINE * SIZE
        half = width(line, SIZE) / 2
        middle = min(max((frame.left + frame.right) / 2, left + half), right - half)
        texts.append(Text(middle, base, line, anchor=MIDDLE))
    return base + 4.0


def colour_span(mark: Heatmap) -> tuple[float, float]:
    """What the two ends of the colours stand for."""
    return span([mark.values], mark.scale, None, None)


def _legend(figure: Figure, y: float, wide: float, texts: list[Text]) -> tuple[list[Entry], float]:
    """Entries from left to right, as many in a line as fit; each name once."""
    entries: list[Entry] = []
    x, names = EDGE, set()
    for mark in (mark for panel in figure.panels for mark in panel.marks):
        name = "" if isinstance(mark, Heatmap | Contour) else mark.name
        if not name or name in names:
            continue
        names.add(name)
        label = shortened(name, wide - 2 * EDGE - SWATCH, SIZE)
        needed = SWATCH + width(label, SIZE)
        if x > EDGE and x + needed > wide - EDGE:
            x, y = EDGE, y + 1.5 * SIZE
        entries.append(Entry(x, y + 0.55 * SIZE, mark))
        texts.append(Text(x + SWATCH, y + SIZE, label, whole=name if label != name else ""))
        x += needed + 18.0
    return entries, y + (1.5 * SIZE + 4.0 if entries else 0.0)


def _lines(
    texts: list[Text], content: str, x: float, y: float, room: float, size: float, role: str
) -> float:
    """Wrapped text from here down; returns where it ends."""
    for line in wrapped(content, room / (1.08 if role == "title" else 1.0), size):
        texts.append(Text(x, y + size, line, size, role=role))
        y += LINE * size
    return y
