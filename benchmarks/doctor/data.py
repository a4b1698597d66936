"""The data of a program: what is taken and what is done to it, and what comes of that.

    Data("circles", scaling="none", changes=(("scale", 100.0),))

`doctor.prepare` makes a `Split` of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Data:
    """Where samples come from, and what is done to them."""

    source: str
    rows: int | None = None  # training rows; None: all there are
    scaling: str = "z-score"  # see `_scaled`
    as_images: bool = False
    target_scaling: str = "z-score"  # or "none", of a regression's targets
    precision: str = "float32"
    changes: tuple[tuple[str, float], ...] = ()  # name and amount


@dataclass(frozen=True)
class Split:
    """Samples as arrays while they are prepared, as tensors when they are ready."""

    x: Any  # training, [n, …]
    y: Any  # int64[n], or float[n]
    x_val: Any  # as the program evaluates itself
    y_val: Any
    x_fresh: Any  # as its users will: differs where something leaks
    y_fresh: Any
    classes: int  # 0: a regression
