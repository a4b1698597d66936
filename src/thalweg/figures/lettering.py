"""How wide text is, without a font at hand, and how it is broken into lines.

Browsers set a figure in whatever sans-serif they have. Widths here are those of DejaVu Sans, the
widest of the common ones, in ems: what does not overlap in it does not overlap in the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_WIDTHS = {
    **dict.fromkeys("ijl'|", 0.29), **dict.fromkeys(" .,:;I", 0.33),
    **dict.fromkeys("frt()[]-", 0.4),
    **dict.fromkeys("⁻⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂", 0.45), **dict.fromkeys("ckszvxyJ/", 0.58),
    **dict.fromkeys("0123456789abdeghnopquLF", 0.635), **dict.fromkeys("mwM", 0.98),
    **dict.fromkeys("W%@", 1.0), **dict.fromkeys("‖∞∇→⇒", 0.85),
}  # fmt: skip
OTHER = 0.78  # capitals, Greek, signs; CJK is wider still:
WIDE = 1.05
ELLIPSIS = "…"


def width(text: str, size: float) -> float:
    """About how many units a line of text takes at this font size, rather too many than too few."""
    return size * sum(_WIDTHS.get(c, WIDE if ord(c) > 0x2E80 else OTHER) for c in text)


def shortened(text: str, room: float, size: float) -> str:
    """The text, with its middle left out where it is too wide: both ends of a name tell most."""
    if width(text, size) <= room:
        return text
    for kept in range(len(text) - 1, 1, -1):
        head = (kept + 1) // 2
        short = text[:head] + ELLIPSIS + text[len(text) - (kept - head) :]
        if width(short, size) <= room:
            return short
    return ELLIPSIS


def told_apart(names: Sequence[str], room: float, size: float) -> list[str]:
    """Names no wider than `room`; where that would make two alike, without what all begin with."""
    short = [shortened(name, room, size) for name in names]
    if len(set(short)) == len(set(names)):
        return short
    parts = [name.split(".") for name in names]
    columns = list(zip(*parts, strict=False))
    same = next((k for k, column in enumerate(columns) if len(set(column)) > 1), 0)
    cores = [ELLIPSIS + ".".join(part[same:]) if same else ".".join(part) for part in parts]
    # They differ at their beginnings now, so their ends may go.
    return [core if width(core, size) <= room else _cut(core, room, size) for core in cores]


def _cut(text: str, room: float, size: float) -> str:
    while len(text) > 1 and width(text + ELLIPSIS, size) > room:
        text = text[:-1]
    return text + ELLIPSIS


def wrapped(text: str, room: float, size: float) -> list[str]:
    """The text in lines no wider than `room`, broken at spaces; a word too long is shortened."""
    lines: list[str] = []
    for word in _words(text, room, size):
        if lines and width(f"{lines[-1]} {word}", size) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _words(text: str, room: float, size: float) -> Iterable[str]:
    return (shortened(word, room, size) for word in text.split())
