"""How a penalty was chosen: the points of a grid, how they fared on rows left out, which was taken.

A record of plain values, kept in the folder of a run. Scores are losses: lower is better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from thalweg.core.choice import BEST, RULES
from thalweg.core.kinds import COUNT, NUMBER, one_of

CHOSEN: dict[str, Any] = {
    "measure": str, "folds": COUNT, "rule": one_of(*RULES), "index": COUNT, "best": COUNT,
    "points": [{"l1": str, "l2": str, "sizes": [NUMBER], "mean": NUMBER, "error": NUMBER}],
}  # fmt: skip


@dataclass(frozen=True)
class Tried:
    """A point of the grid."""

    l1: str  # as it is typed: 0.01, 1/n
    l2: str
    sizes: tuple[float, float]  # of both, for all rows
    mean: float  # over the folds
    error: float  # the standard error of that


@dataclass(frozen=True)
class Chosen:
    """The grid, and the point that was taken."""

    measure: str  # "squared loss"
    folds: int
    rule: str
    index: int  # of the point that was taken
    best: int  # of the one with the least mean
    points: tuple[Tried, ...]

    @property
    def point(self) -> Tried:
        """The one that was taken."""
        return self.points[self.index]

    @property
    def varied(self) -> tuple[str, ...]:
        """Which of l1 and l2 there was a choice of."""
        names = ("l1", "l2")
        return tuple(name for name in names if len({getattr(p, name) for p in self.points}) > 1)

    @property
    def is_at_an_end(self) -> str:
        """Which end of the grid it is at: "strongest" or "weakest"; empty where it is within."""
        for place, name in enumerate(("l1", "l2")):
            sizes = {point.sizes[place] for point in self.points}
            if name in self.varied and self.point.sizes[place] in (min(sizes), max(sizes)):
                is_top = self.point.sizes[place] == max(sizes)
                return f"{'strongest' if is_top else 'weakest'} {name}"
        return ""

    def __str__(self) -> str:
        what = ", ".join(f"{name} = {getattr(self.point, name)}" for name in self.varied or ("l2",))
        told = (
            f"{what}: {self.measure} {_with_error(self.point)} on rows left out, of {self.folds} "
            f"folds; "
        )
        if self.rule == BEST:
            return f"{told}the least of {len(self.points)}"
        return (
            f"{told}the strongest of {len(self.points)} within one standard error of the least, "
            f"{_with_error(self.points[self.best])}"
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON holds it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Chosen:
        """What `to_dict` gave."""
        points = tuple(
            Tried(p["l1"], p["l2"], (float(p["sizes"][0]), float(p["sizes"][1])),
                  float(p["mean"]), float(p["error"]))
            for p in content["points"]
        )  # fmt: skip
        rest = {name: content[name] for name in ("measure", "folds", "rule", "index", "best")}
        if not max(rest["index"], rest["best"]) < len(points):
            raise ValueError(f"of {len(points)} points none is number {rest['index']}")
        return cls(**rest, points=points)


def _with_error(point: Tried) -> str:
    return f"{point.mean:.4g} ± {point.error:.2g}"
