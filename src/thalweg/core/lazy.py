"""A package's public names, looked up when they are first used (PEP 562).

A package says where each of its names lives, and its `__getattr__` asks `resolve`: importing the
package then loads nothing, and the first use of a name loads what that name needs.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any


def resolve(package: str, homes: Mapping[str, str], name: str) -> Any:
    """What `name` is in `package`, which has it from then on; `homes` are modules of thalweg."""
    if name not in homes:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    value = getattr(import_module(f"thalweg.{homes[name]}"), name)
    setattr(sys.modules[package], name, value)
    return value
