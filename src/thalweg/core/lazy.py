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
    """What `name` is in `package`, which has it from then on; `homes` are modules by name."""
    if name not in homes:
        from thalweg.core.errors import suggest

        raise AttributeError(f"{package} has no {name!r}: {suggest(name, sorted(homes))}")
    home = homes[name]
    # A name of its module, or a module itself; not by getattr, which may ask here again.
    found = vars(import_module(home)).get(name)
    value = import_module(f"{home}.{name}") if found is None else found
    setattr(sys.modules[package], name, value)
    return value
