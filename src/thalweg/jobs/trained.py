"""What a training came to, a linear model's and a network's alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from thalweg.certificates.critical_point import CriticalPoint
from thalweg.core.finding import Finding
from thalweg.core.run import Run
from thalweg.runs.prediction import Model


class Trained(NamedTuple):
    """A run, the model it ended with, and what is to be kept of both."""

    run: Run
    model: Model
    files: Mapping[str, bytes]  # by name in the run's folder
    findings: list[Finding]
    point: CriticalPoint | str | None = None  # where a network ended, or why that is not known

    @property
    def model_file(self) -> bytes:
        """What the file of the model holds."""
        return next(each for name, each in self.files.items() if name.startswith("model."))
