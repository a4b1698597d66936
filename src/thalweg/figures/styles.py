"""One colour and one dash for each method, in every figure.

The hues are those of Okabe & Ito, which colour-blind readers tell apart; yellow, too faint on
white, is left out, and black is the colour of the text, light on a dark page. On white the light
hues are darkened and on black the dark ones lightened until each stands out from its background
by a contrast of 3 : 1 or more (WCAG 2.1, 1.4.11), so each hue has two codes. Seven hues and three
dashes make twenty-one pairs: one for each method of the first release. A later one, and a name that
is no method of Thalweg, gets a pair with a dash of another kind, by a sum over its letters, so that
it is the same tomorrow.

Okabe & Ito, "Color Universal Design", 2008.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, replace

INK, BLUE, VERMILION, *_, SKY = HUES = (
    "ink", "blue", "vermilion", "green", "orange", "purple", "sky",
)  # fmt: skip
MUTED = "muted"  # contours, guides, grids
# hue: on a light page, on a dark page
CODES = {
    "ink": ("#1b1f24", "#e6e8eb"),
    "blue": ("#0072b2", "#3f9bd8"),
    "vermilion": ("#d55e00", "#e8731a"),
    "green": ("#008f68", "#1fb58a"),
    "orange": ("#b87d00", "#e69f00"),
    "purple": ("#bc5f92", "#d78cb4"),
    "sky": ("#2f93cc", "#6cc0f0"),
    "muted": ("#6b737c", "#98a1aa"),
    "grid": ("#e3e6ea", "#30363d"),
    "paper": ("#ffffff", "#15181c"),
}
SOLID, DASHED, DOTTED = (), (7.0, 3.0), (2.0, 2.5)
OTHERS = ((9.0, 3.0, 2.0, 3.0), (9.0, 2.5, 2.0, 2.5, 2.0, 2.5))  # for names that are no method
THEORY = (4.0, 5.0)  # thin as well, so that it is not taken for a run
SHAPES = ("circle", "square", "triangle", "diamond")

_METHODS = {
    SOLID: ("gd", "nesterov", "lbfgs", "adam", "sag", "sgd", "newton"),
    DASHED: ("heavy-ball", "fista", "bfgs", "nadam", "saga", "iag", "newton-cg"),
    DOTTED: ("catalyst", "sdca", "cd", "rmsprop", "svrg", "adagrad", "cholesky"),
}


@dataclass(frozen=True)
class Style:
    """How a mark is drawn."""

    hue: str = INK
    dash: tuple[float, ...] = SOLID
    width: float = 2.0
    shape: str = ""  # markers along a line, to tell two runs of one method apart


PLAIN = Style()
FAINT = Style(MUTED, SOLID, 1.0)
METHODS = {
    name: Style(hue, dash)
    for dash, names in _METHODS.items()
    for hue, name in zip(HUES, names, strict=True)
}


def style_of(method: str, repeat: int = 0) -> Style:
    """The style of a method, by name: "adam", "adam[lr=0.1]" and an optimizer's "Adam" are one.

    `repeat` counts earlier runs of the same method in a figure: they share colour and dash, and
    differ by markers.
    """
    style = METHODS.get(_plain(method)) or _other(_plain(method))
    return replace(style, shape=SHAPES[(repeat - 1) % len(SHAPES)]) if repeat else style


def theory_of(style: Style) -> Style:
    """The line of theory that goes with a method: its colour, thin and broken."""
    return replace(style, dash=THEORY, width=1.2, shape="")


def _plain(method: str) -> str:
    """The name without options, words joined by hyphens: HeavyBall and heavy-ball are one."""
    bare = re.split(r"[\[( ]", method.strip(), maxsplit=1)[0]
    hyphened = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "-", bare)
    for name in (hyphened.lower(), bare.lower(), bare.lower().replace("_", "-")):
        if name in METHODS:
            return name
    return bare.lower()


def _other(name: str) -> Style:
    code = zlib.crc32(name.encode())
    return Style(HUES[code % len(HUES)], OTHERS[code // len(HUES) % len(OTHERS)])
