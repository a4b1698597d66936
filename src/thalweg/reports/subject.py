"""What a report is about: runs, and whatever else is known of them.

All but the runs may be missing; a section without content is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from thalweg.core.finding import Finding
from thalweg.core.run import Run


@dataclass(frozen=True, eq=False)
class Subject:
    """Everything that a page may show."""

    runs: tuple[Run, ...]
    title: str = ""
    objective: Any = None  # what was minimised, for theory's line where no plan has L and μ
    record: Any = None  # a `thalweg.core.record.Record` of a network
    findings: tuple[Finding, ...] = ()  # worst first; those of the runs are shown too
    point: Any = None  # a `CriticalPoint`: minimum, saddle or neither
    spectrum: Any = None  # a `SpectralDensity` of the Hessian where the run ended
    data: tuple[tuple[str, str], ...] = ()  # what the data are: label and text
    scaling: tuple[tuple[str, float, float], ...] = ()  # feature, mean, standard deviation
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # rows → measure → x
    command: str = ""  # that made the runs
    script: str = ""  # Python that does the same
    settings: Mapping[str, Any] = field(default_factory=dict)  # the job, field by field
    notes: tuple[str, ...] = ()  # what a reader should know, one sentence each
