"""Why training is slow, stuck or wrong: instruments around a loop, and what they found.

Trainings need the extra `nets`, linear problems do not. Names are resolved when first used.
"""

from __future__ import annotations

from typing import Any

from thalweg.core.lazy import resolve

# Where each public name lives.
_HOMES = {
    "Escape": "doctor.saddle",
    "Record": "nets.probes.record",
    "SYMPTOMS": "doctor.symptoms",
    "Verdict": "doctor.treatment.verdict",
    "Watch": "doctor.watch",
    "check": "doctor.first_check",
    "diagnose": "doctor.diagnosis",
    "escape": "doctor.saddle",
    "shift": "doctor.symptoms.covariate_shift",
    "suggestion": "doctor.remedies.code",
    "treat": "doctor.treatment.treat",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    return resolve(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return __all__
