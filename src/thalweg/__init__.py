"""Thalweg: a workbench for optimization in machine learning.

It plans, trains, certifies, diagnoses and reports. Public names stand in `__init__.pyi`, one line
each, and are resolved when they are first used (PEP 562), so that `import thalweg` costs little and
pulls in neither numba nor torch.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from thalweg.core.lazy import resolve


def _homes() -> dict[str, str]:
    """The module of each public name: the lines `from <module> import <name> as <name>`."""
    with open(os.path.join(os.path.dirname(__file__), "__init__.pyi"), encoding="utf-8") as stub:
        words = [line.split() for line in stub if line.startswith("from ")]
    return {name: module for _, module, _, name, *_ in words}


_HOMES = _homes()
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("thalweg")
    with _nothing_collected():
        return resolve(__name__, _HOMES, name)


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """While modules are loaded, hardly anything becomes garbage: to look for it took a fifth."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
