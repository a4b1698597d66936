"""Libraries that only some need: imported when they are met, or a sentence on how to get them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from thalweg.core.errors import InputError


def optional(module: str, what: Any, *, extra: str, instead: str) -> Any:
    """The module, which `what` needs; it comes with `thalweg[extra]`, and `instead` does without.

    For `a.b` it is b.
    """
    try:
        return import_module(module)
    except ImportError as problem:
        raise InputError(
            f"{what} needs {module.partition('.')[0]}, which is not installed: "
            f"pip install 'thalweg[{extra}]', or {instead}"
        ) from problem
