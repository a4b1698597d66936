"""Thalweg: a workbench for optimization in machine learning.

It plans, trains, certifies, diagnoses and reports. Public names stand in `__init__.pyi`, one line
each, and are resolved when they are first used (PEP 562), so that `import thalweg` costs little and
pulls in neither numba nor torch.
"""

from __future__ import annotations

import gc
import os
<<<<<<< HEAD
=======
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
>>>>>>> bcb3fa179221116de814fe92dada09abc88c800b
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
<<<<<<< HEAD
    return resolve(__name__, _HOMES, name)
=======
    if name not in _HOMES:
        from thalweg.core.errors import suggest

        raise AttributeError(f"thalweg has no {name!r}: {suggest(name, __all__)}")
    home = _HOMES[name]
    with _nothing_collected():
        # A name of its module, or a module itself; not by getattr, which would ask here again.
        found = vars(import_module(home)).get(name)
        value = import_module(f"{home}.{name}") if found is None else found
    globals()[name] = value
    return value
>>>>>>> bcb3fa179221116de814fe92dada09abc88c800b


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
