"""What a report is about: runs, and whatever else is known of them.

All but the runs may be missing; a section without content is left out. Of several runs, what is
known of each goes into their ranking (`thalweg.core.ranking`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import Any

from thalweg.core.chosen import Chosen
from thalweg.core.coefficient import Coefficient
from thalweg.core.explanation import Explanation
from thalweg.core.finding import Finding
from thalweg.core.ranking import Contender, Scores, ranked
from thalweg.core.run import Run


@dataclass(frozen=True, eq=False)
class Subject:
    """Everything that a page may show."""

    runs: tuple[Run, ...]
    title: str = ""
    objective: Any = None  # what was minimised, for theory's line where no plan has L and μ
    record: Any = None  # a `thalweg.core.record.Record` of a network
    findings: tuple[Finding, ...] = ()  # worst first; those of the runs are shown too
    point: Any = None  # a `CriticalPoint`: minimum, saddle or neither; of several runs, the best's
    spectrum: Any = None  # a `SpectralDensity` of the Hessian where the run ended
    data: tuple[tuple[str, str], ...] = ()  # what the data are: label and text
    scaling: tuple[tuple[str, float, float], ...] = ()  # feature, mean, standard deviation
    scores: Scores = field(default_factory=dict)
    command: str = ""  # that made the runs
    script: str = ""  # Python that does the same
    settings: Mapping[str, Any] = field(default_factory=dict)  # the job, field by field
    notes: tuple[str, ...] = ()  # what a reader should know, one sentence each
    coefficients: tuple[Coefficient, ...] = ()  # of a linear model, the largest first
    explanation: Explanation | None = None  # what matters to the model, and where it errs
    chosen: Chosen | None = None  # how the penalties were chosen
    points: tuple[Any, ...] = ()  # of several runs, that of each or None
    scores_of_runs: tuple[Scores, ...] = ()  # of several runs, those of each

    @cached_property
    def ranked(self) -> list[Contender]:
        """The runs with what is known of each, best first."""
        if len(self.runs) == 1:
            return [Contender(self.runs[0], self.point, self.scores)]
        best, *others = ranked(
            Contender(run, point, scores or {})
            for run, point, scores in zip_longest(self.runs, self.points, self.scores_of_runs)
        )
        return [best if self.point is None else best._replace(point=self.point), *others]
