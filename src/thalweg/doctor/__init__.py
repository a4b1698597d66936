"""Why training is slow, stuck or wrong: instruments around a loop, and what they found.

Trainings need the extra `nets`, linear problems do not. Names are resolved when first used.
"""

from __future__ import annotations

from typing import Any

from thalweg.core.lazy import resolve

# Where each public name lives.
_HOMES = {
    "Escape": "thalweg.doctor.nets.saddle",
    "Record": "thalweg.core.record",
    "SYMPTOMS": "thalweg.doctor.nets.symptoms",
    "Treatment": "thalweg.doctor.nets.treatment.treatment",
    "Watch": "thalweg.doctor.nets.watch",
    "check": "thalweg.doctor.nets.first_check",
    "diagnose": "thalweg.doctor.diagnosis",
    "escape": "thalweg.doctor.nets.saddle",
    "shift": "thalweg.doctor.nets.symptoms.covariate_shift",
    "suggestion": "thalweg.doctor.nets.remedies.code",
    "treat": "thalweg.doctor.nets.treatment.treat",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    return resolve(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return __all__
