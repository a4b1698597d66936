"""Why training is slow, stuck or wrong: instruments around a loop, and what they found.

Trainings need the extra `nets`, linear problems do not. Names are resolved when first used.
"""

from __future__ import annotations

from typing import Any

from thalweg.core.lazy import resolve

# Where each public name lives.
_HOMES = {
    "Escape": "doctor.nets.saddle",
    "Record": "core.record",
    "SYMPTOMS": "doctor.nets.symptoms",
    "Treatment": "doctor.nets.treatment.treatment",
    "Watch": "doctor.nets.watch",
    "check": "doctor.nets.first_check",
    "diagnose": "doctor.diagnosis",
    "escape": "doctor.nets.saddle",
    "shift": "doctor.nets.symptoms.covariate_shift",
    "suggestion": "doctor.nets.remedies.code",
    "treat": "doctor.nets.treatment.treat",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    return resolve(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return __all__
