"""A job: what is to be trained, on what, how, and when to stop, as its user said it.

Plain words and numbers, so that it goes to JSON and back unchanged: `job.json` of a run's folder is
this record, and resuming, folds and a second try begin from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from thalweg.core.checks import check_choice, check_count, check_known, check_number, describe
from thalweg.core.errors import InputError
from thalweg.runs.losses import LOSSES
from thalweg.runs.strength import Strength, Strengths, strength_of

READING = (
    "drop", "impute", "max_categories", "task", "dtype", "sparse", "missing", "header", "decimal",
    "thousands", "text", "memory", "dates", "date_format", "ids",
)  # fmt: skip
NO_PENALTY, ONE_OVER_N = Strength(0.0), Strength(1.0, is_per_sample=True)
KINDS: dict[str, Any] = {  # of fields that are not checked by their values
    "target": str | int | None, "reading": Mapping, "loss": str | None, "standardize": bool,
    "intercept": bool, "one_standard_error": bool, "recipe": Mapping | None, "builder": str,
    "method": str,
}  # fmt: skip
MANY = 100_000  # iterations, where only the tolerance or the clock is to end a run


@dataclass(frozen=True)
class Job:
    """Data, model, method and limits of one training."""

    source: str  # "@cancer", "data.csv.xz"
    target: str | int | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)  # other arguments of `tw.read`
    loss: str | None = None  # of a linear model; None: what the target asks for
    l1: Strength | Strengths | str | float = NO_PENALTY  # read once, by `strength_of`
    l2: Strength | Strengths | str | float = ONE_OVER_N
    standardize: bool = False
    intercept: bool = True
    recipe: Mapping[str, Any] | None = None  # fields of a `tw.nets.Recipe`: the model is a network
    builder: str = ""  # "file.py:build", where the network comes from code
    method: str = "auto"  # a method, or the optimizer of a network
    tol: float = 1e-6
    max_iter: int = MANY
    time_limit: float | None = None  # seconds
    seed: int = 0
    validation: float | str | None = None  # share of the rows that is held out, or a file
    folds: int = 0  # of a cross-validation before the training proper, 0 for none
    one_standard_error: bool = False  # of several penalties take the strongest that is as good

    def __post_init__(self) -> None:
        if not isinstance(self.source, str) or not self.source:
            raise InputError(f"source must be a file or a built-in name, got {self.source!r}")
        for name, kind in KINDS.items():
            if not isinstance(getattr(self, name), kind):
                raise InputError(f"{name} of a job cannot be {describe(getattr(self, name))}")
        check_known("reading", "field", self.reading, READING)
        if self.loss is not None:
            check_choice("loss", self.loss, LOSSES)
        for name in ("l1", "l2"):
            object.__setattr__(self, name, strength_of(name, getattr(self, name)))
        if self.recipe is not None and self.loss is not None:
            raise InputError(
                f"loss must be left out for a network, got {self.loss!r}: its recipe has its own"
            )
        check_number("tol", self.tol, above=0.0)
        check_count("max_iter", self.max_iter, at_least=0)
        check_count("seed", self.seed, at_least=0)
        if self.one_standard_error and not self.chooses:
            raise InputError(
                "one_standard_error must be left out where there is one penalty, got l2 = "
                f"{self.l2}: let it be chosen, with l2 auto"
            )
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, above=0.0)
        if self.folds:
            check_count("folds", self.folds, at_least=2, advice="one part is tested on at a time")
        if isinstance(self.validation, int | float):
            check_number(
                "validation", self.validation, above=0.0, below=1.0,
                advice="it is the share of rows that is held out, or a file",
            )  # fmt: skip
        elif self.validation is not None and not isinstance(self.validation, str):
            raise InputError(
                f"validation must be a share of the rows or a file, got {describe(self.validation)}"
            )

    @property
    def is_network(self) -> bool:
        """Whether a network is trained, and not a linear model."""
        return self.recipe is not None or bool(self.builder)

    @property
    def chooses(self) -> bool:
        """Whether l1 or l2 is one of several, to be chosen by folds."""
        return isinstance(self.l1, Strengths) or isinstance(self.l2, Strengths)

    def settled(self, l1: str, l2: str) -> Job:
        """The job with the penalties that were chosen."""
        return self.changed(l1=l1, l2=l2, one_standard_error=False)

    def changed(self, **new: Any) -> Job:
        """The same job with some fields changed."""
        return replace(self, **new)

    def penalties(self, samples: int) -> tuple[float, float]:
        """l1 and l2 for this many samples."""
        if not (isinstance(self.l1, Strength) and isinstance(self.l2, Strength)):
            name = "l1" if isinstance(self.l1, Strengths) else "l2"
            raise InputError(
                f"{name} must be one penalty here, got {getattr(self, name)}: thalweg train "
                "chooses one, and tells which"
            )
        return self.l1.of(samples), self.l2.of(samples)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON holds it."""
        return {**asdict(self), "l1": str(self.l1), "l2": str(self.l2)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Job:
        """What `to_dict` gave."""
        check_known("a job", "field", content, [each.name for each in fields(cls)])
        return cls(**content)
