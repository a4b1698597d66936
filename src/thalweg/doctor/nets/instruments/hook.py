"""What a model calls: timed, silent while paused or compiled, and no part of the model's copies.

A hook belongs to the model it was put on, not to a copy: copying or pickling a model (early
stopping, averaging, torch.save) puts a function that does nothing in its place. While
`torch.compile` traces, a hook does nothing either, so that nothing of it gets into compiled code.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch


class Meter:
    """Seconds that instruments have taken."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.is_paused = False  # whether hooks are to do nothing

    def read(self) -> float:
        """The seconds since the last reading."""
        seconds, self.seconds = self.seconds, 0.0
        return seconds


class Hook:
    """Calls `function` and never changes what passes by."""

    def __init__(self, function: Callable[..., None], meter: Meter) -> None:
        self.function, self.meter = function, meter

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Call it."""
        if torch.compiler.is_compiling() or self.meter.is_paused:
            return
        begun = time.perf_counter()
        self.function(*args, **kwargs)
        self.meter.seconds += time.perf_counter() - begun

    def __reduce__(self) -> Any:
        return _nothing, ()


def _nothing() -> Callable[..., None]:
    return ignore


def ignore(*args: Any, **kwargs: Any) -> None:
    """Nothing, in place of a hook."""
