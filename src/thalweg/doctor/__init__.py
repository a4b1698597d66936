"""Why training is slow, stuck or wrong: instruments around a loop, and what they found.

Needs the extra `nets`. Names are resolved when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Where each public name lives.
_HOMES = {
    "Record": "nets.probes.record",
    "SYMPTOMS": "doctor.symptoms",
    "Watch": "doctor.watch",
    "diagnose": "doctor.symptoms",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'thalweg.doctor' has no attribute {name!r}")
    value = getattr(import_module(f"thalweg.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
