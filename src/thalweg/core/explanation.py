"""What a model does with rows whose truth is known: what matters to it, and where it errs.

Measured when a model is trained, on the rows that were held out, else on those of the training, and
kept in the run's folder as `explanation.json`; a page draws it and measures nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from thalweg.core.kinds import COUNT, NUMBER
from thalweg.core.text import cell

RAISES = ("log loss",)  # measures that grow where answers get worse; all others fall


class Importance(NamedTuple):
    """How much worse the answers get where one column is shuffled."""

    column: str
    mean: float  # over the shuffles, of how much worse `measure` is; 0 does not matter
    spread: float  # standard deviation over the shuffles

    @property
    def is_clear(self) -> bool:
        """Whether it is farther from zero than twice its spread."""
        return abs(self.mean) > 2.0 * self.spread


class Shuffled(NamedTuple):
    """The importance of all columns, the largest first, and how it was measured."""

    measure: str  # "R²", "log loss" or "accuracy"
    score: float  # as the rows are
    rows: int  # that were shuffled
    repeats: int
    columns: tuple[Importance, ...]


class Bin(NamedTuple):
    """Rows that were given about the same probability, or the same prediction."""

    rows: int
    told: float  # mean of what was predicted
    low: float  # a share's 95 % interval, or the 10th percentile of residuals
    middle: float  # the share that is true, or the median of residuals
    high: float  # the interval's other end, or the 90th percentile


class Baseline(NamedTuple):
    """What a model of another kind does on the same rows."""

    name: str
    scores: dict[str, float]


def importance_csv(found: Shuffled, raw: bool = False) -> str:
    """One line a column; names are written so that no spreadsheet computes them."""
    change = "rise" if found.measure in RAISES else "fall"
    lines = [f"column,{change} of {found.measure},standard deviation"]
    for name, mean, spread in found.columns:
        lines.append(f"{cell(name, raw=raw)},{mean!r},{spread!r}")
    return "".join(line + "\n" for line in lines)


@dataclass(frozen=True)
class Explanation:
    """All of it."""

    rows: str  # "held out" or "training"
    count: int
    importance: Shuffled | None = None
    classes: tuple[str, ...] = ()
    confusion: tuple[tuple[int, ...], ...] = ()  # a row a true class, a column a predicted one
    calibrated: str = ""  # what the probability is of
    calibration: tuple[Bin, ...] = ()
    residuals: tuple[Bin, ...] = ()  # by rising prediction
    baselines: tuple[Baseline, ...] = ()
    notes: tuple[str, ...] = ()  # what was left out, and why

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON holds it."""
        found = asdict(self)
        for name in ("calibration", "residuals", "baselines"):
            found[name] = [each._asdict() for each in getattr(self, name)]
        if self.importance is not None:
            columns = [each._asdict() for each in self.importance.columns]
            found["importance"] = {**self.importance._asdict(), "columns": columns}
        return found

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Explanation:
        """What `to_dict` gave, of the kinds `EXPLAINED`."""
        shuffled = content["importance"]
        if shuffled is not None:
            columns = tuple(Importance(**each) for each in shuffled["columns"])
            shuffled = Shuffled(**{**shuffled, "columns": columns})
        return cls(
            content["rows"],
            content["count"],
            shuffled,
            tuple(content["classes"]),
            tuple(map(tuple, content["confusion"])),
            content["calibrated"],
            tuple(Bin(**each) for each in content["calibration"]),
            tuple(Bin(**each) for each in content["residuals"]),
            tuple(Baseline(**each) for each in content["baselines"]),
            tuple(content["notes"]),
        )


_BIN: dict[str, Any] = {
    "rows": COUNT, "told": NUMBER, "low": NUMBER, "middle": NUMBER, "high": NUMBER,
}  # fmt: skip
EXPLAINED: dict[str, Any] = {  # as a file holds it
    "rows": str, "count": COUNT,
    "importance": ({
        "measure": str, "score": NUMBER, "rows": COUNT, "repeats": COUNT,
        "columns": [{"column": str, "mean": NUMBER, "spread": NUMBER}],
    }, None),
    "classes": [str], "confusion": [[COUNT]], "calibrated": str, "calibration": [_BIN],
    "residuals": [_BIN], "baselines": [{"name": str, "scores": {str: NUMBER}}], "notes": [str],
}  # fmt: skip
