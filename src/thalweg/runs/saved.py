"""A saved run, loaded: what was asked, what happened, and the model to use again.

Nothing in a folder is executed. A network that was built by code of its user's needs that code
named again, since a folder may come from anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from thalweg.certificates.critical_point import CriticalPoint
from thalweg.core.chosen import Chosen
from thalweg.core.coefficient import Coefficient
from thalweg.core.errors import InputError, StorageError
from thalweg.core.explanation import Explanation
from thalweg.core.finding import Finding, Severity
from thalweg.core.kinds import damaged
from thalweg.core.ranking import Contender
from thalweg.core.run import Run
from thalweg.core.storage import read_folder
from thalweg.reports.subject import Subject
from thalweg.runs.coefficients import coefficients_of
from thalweg.runs.folder import (
    NETWORK,
    RACE,
    RESULT,
    Header,
    encoding_of,
    explanation_of,
    fingerprint_of,
    header_of,
    result_of,
)
from thalweg.runs.job import Job
from thalweg.runs.linear_model import FILE, LinearModel, loss_of, read_linear_model
from thalweg.runs.prediction import Model, Prediction
from thalweg.tables.encoding import Encoding


@dataclass(frozen=True, eq=False, repr=False)
class Saved:
    """One run of `runs/`."""

    folder: Path
    header: Header
    encoding: Encoding
    result: Mapping[str, Any] | None  # None while it has not been finished

    @property
    def job(self) -> Job:
        """What was asked, with the penalties that were chosen."""
        asked, found = self.header.job, self.chosen
        return asked if found is None else asked.settled(found.point.l1, found.point.l2)

    @cached_property
    def chosen(self) -> Chosen | None:
        """How l1 and l2 were chosen, where there were several."""
        record = (self.result or {}).get("choice")
        try:
            return None if record is None else Chosen.from_dict(record)
        except (LookupError, TypeError, ValueError) as problem:
            raise damaged(f"{self.folder}/{RESULT}", problem) from problem

    @property
    def members(self) -> tuple[Saved, ...]:
        """Itself; a race has several."""
        return (self,)

    @property
    def best(self) -> Saved:
        """Itself; a race has a winner."""
        return self

    @cached_property
    def run(self) -> Run:
        """What happened."""
        told, run = self.finished(), Run.load(self.folder)
        known = (told["method"], told["outcome"], told["iterations"], told["seconds"])
        found = (run.method, run.outcome.name, run.iterations, run.seconds)
        if found != known:
            raise damaged(
                f"{self.folder}/{RESULT}", ValueError(f"it tells of {known}, run.json of {found}")
            )
        return run

    @property
    def point(self) -> CriticalPoint | None:
        """The point where a network's training ended; None where it was not looked at."""
        record = self.finished().get("point")
        return CriticalPoint(**record) if isinstance(record, dict) else None

    @property
    def contender(self) -> Contender:
        """What it is ranked by, and its verdict."""
        return Contender(self.run, self.point, self.scores)

    @property
    def scores(self) -> dict[str, dict[str, float]]:
        """How good it is: rows ("training", "held out", "folds") → measure → number."""
        return dict(self.finished()["scores"])

    @property
    def findings(self) -> list[Finding]:
        """What is wrong, worst first."""
        return [
            Finding(**{**each, "severity": Severity(each["severity"])})
            for each in self.finished()["findings"]
        ]

    def finished(self) -> Mapping[str, Any]:
        """The result, or a sentence where there is none yet."""
        if self.result is None:
            raise InputError(
                f"{self.folder} has not been finished: go on with it by "
                f"thalweg train --resume {self.folder}"
            )
        return self.result

    def predict(
        self, source: Any, *, builder: str = "", memory: str | float | None = None
    ) -> Prediction:
        """What the model says of new rows, columns matched by name."""
        model = self.model(builder=builder)
        table = self.encoding.table(source, memory=memory)
        values, odds = model.answers(table.X)
        name = self.encoding.target.name if self.encoding.target else "y"
        return Prediction(values, model.classes, odds, name, table.y, tuple(table.notes))

    def model(self, *, builder: str = "") -> Model:
        """What answers for encoded rows."""
        if self.job.is_network:
            from thalweg.runs.network_model import load_network

            self._check_own(NETWORK)
            return load_network(self.folder, self.job, self.encoding, builder)
        return self.linear_model

    @cached_property
    def explanation(self) -> Explanation | None:
        """What matters to the model and where it errs, as measured when it was trained."""
        return explanation_of(self.folder, self.finished().get("model"))

    def coefficients(self, most: int | None = None) -> list[Coefficient]:
        """Of a linear model, the largest per standard deviation first."""
        return coefficients_of(self.linear_model, self.encoding, most)

    @cached_property
    def linear_model(self) -> LinearModel:
        """Coefficients and intercepts, in the units of X."""
        if self.job.is_network:
            raise InputError(f"{self.folder} must be a linear model, got a network: use module()")
        self._check_own(FILE)
        loss = loss_of(self.job, self.encoding)
        return read_linear_model(self.folder, loss, self.encoding)

    def check(self) -> None:
        """Raise unless what the folder holds is whole, and of one training."""
        _ = self.run, self.explanation
        if self.job.is_network:
            self._check_own(NETWORK)
        else:
            _ = self.linear_model

    def _check_own(self, name: str) -> None:
        """Raise where the file of the model is not the one that the run ended with."""
        known = self.finished().get("model")  # not in folders of the first versions
        if known and known != fingerprint_of(read_folder(self.folder, (name,))[name]):
            raise StorageError(
                f"{self.folder}/{name} is not the model that this run ended with: restore it from "
                "a copy, or train again"
            )

    def estimator(self) -> Any:
        """The linear model as a fitted scikit-learn estimator, on encoded rows."""
        from thalweg.runs.estimator import estimator_of

        n = int(self.finished()["rows"])
        is_sparse = self.encoding.is_sparse
        return estimator_of(self.linear_model, self.job, n, self.run, is_sparse=is_sparse)

    def module(self, *, builder: str = "") -> Any:
        """The network as a torch module in evaluation mode, on encoded rows."""
        if not self.job.is_network:
            raise InputError(
                f"{self.folder} must be a network, got a linear model: use estimator()"
            )
        return self.model(builder=builder).module  # type: ignore[attr-defined]

    def subject(self) -> Subject:
        """What a report on it shows."""
        from thalweg.runs.subject import subject_of

        return subject_of(self)

    def report(self) -> Any:
        """A page on it."""
        from thalweg.reports.report import report

        return report(self.subject())

    def __repr__(self) -> str:
        state = "not finished" if self.result is None else str(self.result["verdict"])
        return f"{self.folder}: {state}"


def load(folder: str | Path) -> Any:
    """The run, or the race, that `thalweg train` left in `folder`.

    `.predict(source)` predicts, `.estimator()` is a fitted scikit-learn estimator, `.module()` a
    torch module, `.run` the record of the training, `.findings` what is wrong. All but the weights
    of a network is read and checked here, before anything of it is used.
    """
    folder = Path(folder)
    if (folder / RACE).exists():
        from thalweg.runs.saved_race import load_race

        return load_race(folder)
    saved = Saved(folder, header_of(folder), encoding_of(folder), result_of(folder))
    if saved.result is not None:
        saved.check()
    return saved
