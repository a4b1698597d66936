"""Colours of a heat map: from dark blue to yellow, lighter all the way.

Cividis, which readers with and without colour blindness see nearly alike, and which is a scale of
greys in print. Nuñez, Anderton & Renslow, PLoS ONE 13 (2018). A cell without a number has no
colour: the paper shows.
"""

from __future__ import annotations

import numpy as np

from thalweg.figures.spec import LOG

_ANCHORS = np.array(
    [
        (0, 34, 78), (18, 53, 112), (59, 73, 108), (87, 93, 109), (112, 113, 115),
        (138, 134, 120), (165, 156, 116), (196, 181, 103), (230, 207, 80), (254, 232, 56),
    ]
)  # fmt: skip
COUNT = 32  # shades: as many as are told apart side by side


def _shades() -> tuple[str, ...]:
    at = np.linspace(0, len(_ANCHORS) - 1, COUNT)
    channels = [np.interp(at, np.arange(len(_ANCHORS)), channel) for channel in _ANCHORS.T]
    return tuple("#" + "".join(f"{int(c):02x}" for c in colour) for colour in np.round(channels).T)


SHADES = _shades()


def shades(values: np.ndarray, ends: tuple[float, float], scale: str) -> np.ndarray:
    """Which shade each value has, int[…]: −1 without a number, the ends' beyond them."""
    low, high = ends
    is_number = ~np.isnan(values)
    if scale == LOG:
        with np.errstate(all="ignore"):
            values = np.log10(np.maximum(values, 0.0))
        low, high = np.log10(low), np.log10(high)
    share = np.clip((np.where(is_number, values, low) - low) / (high - low), 0.0, 1.0)
    return np.where(is_number, np.minimum((share * COUNT).astype(int), COUNT - 1), -1)
