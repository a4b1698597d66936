"""What an experiment found, and the record of it that is kept: plain values and drawings.

On disk a result is one file, `<lab>.json`, drawings included: it is there whole, or as it was.
`<lab>-1.svg` and, for narrow screens, `<lab>-1-narrow.svg` are made from it, as the pages are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.core.card import BAD, GOOD, html_card, text_card
from thalweg.core.errors import InputError, StorageError
from thalweg.core.storage import from_json, to_json, write_file
from thalweg.figures.spec import Figure
from thalweg.figures.svg import NARROW_WIDTH, to_svg
from thalweg.labbook.ruling import Check, Ruling, judge

FORMAT = 2  # raised when a change makes older files unreadable
Cell = str | float | int


@dataclass(frozen=True)
class Sheet:
    """Numbers under heads; the first column names the row."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def __post_init__(self) -> None:
        rows = tuple(tuple(_plain(cell) for cell in row) for row in self.rows)
        object.__setattr__(self, "heads", tuple(self.heads))
        object.__setattr__(self, "rows", rows)
        for row in rows:
            if len(row) != len(self.heads):
                raise InputError(
                    f"rows must have a cell for each of {len(self.heads)} heads, got {len(row)}"
                )


@dataclass(frozen=True)
class Findings:
    """What an experiment returns."""

    checks: Sequence[Check]
    tables: Sequence[Sheet] = ()
    figures: Sequence[Figure] = ()
    notes: Sequence[str] = ()  # on which data, what was assumed
    undecided: bool = False  # only --full can tell


@dataclass(frozen=True)
class Drawn:
    """A figure as it is kept: both drawings, and the words that go with them."""

    title: str
    wide: str
    narrow: str


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A lab that has been run."""

    name: str
    title: str
    claim: str
    expected: Ruling
    verdict: Ruling
    budget: str
    seed: int
    seconds: float
    checks: tuple[Check, ...]
    tables: tuple[Sheet, ...]
    figures: tuple[Drawn, ...]
    notes: tuple[str, ...] = ()
    broken: str = ""  # what was broken on purpose
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.verdict is self.expected

    @property
    def word(self) -> str:
        """PASS or FAIL."""
        return "PASS" if self.passed else "FAIL"

    def save(self, folder: str | Path) -> Path:
        """Write the record into `folder`, and return its file."""
        file = Path(folder) / f"{self.name}.json"
        drawings = [{"wide": each.wide, "narrow": each.narrow} for each in self.figures]
        write_file(file, to_json({"format": FORMAT, **self.record(), "drawings": drawings}))
        return file

    def pictures(self) -> dict[str, bytes]:
        """Its drawings, as files to be looked at."""
        return {
            f"{self.name}-{k}{side}.svg": drawing.encode()
            for k, drawn in enumerate(self.figures, 1)
            for side, drawing in (("", drawn.wide), ("-narrow", drawn.narrow))
        }

    def record(self) -> dict[str, Any]:
        """All but the drawings, as plain values."""
        fields = {**asdict(self), "passed": self.passed}
        fields["figures"] = [drawn.title for drawn in self.figures]
        return fields

    @classmethod
    def load(cls, file: str | Path) -> Result:
        """Read what `save` wrote."""
        file = Path(file)
        try:
            record = from_json(file.read_bytes(), source=str(file))
            if record.pop("format") != FORMAT:
                raise StorageError(f"{file} is of another version: run its lab again")
            record.pop("passed")
            drawings = [
                Drawn(title, str(drawn["wide"]), str(drawn["narrow"]))
                for title, drawn in zip(record.pop("figures"), record.pop("drawings"), strict=True)
            ]
            for name in ("expected", "verdict"):
                record[name] = Ruling(record[name])
            checks = tuple(Check(**each) for each in record.pop("checks"))
            tables = tuple(
                Sheet(each["caption"], tuple(each["heads"]), tuple(map(tuple, each["rows"])))
                for each in record.pop("tables")
            )
            notes = tuple(record.pop("notes"))
            return cls(**record, checks=checks, tables=tables, figures=tuple(drawings), notes=notes)
        except (OSError, KeyError, TypeError, ValueError, AttributeError) as problem:
            if isinstance(problem, StorageError):
                raise
            raise StorageError(f"{file} is no result of a lab: run its lab again") from problem

    def __repr__(self) -> str:
        lines = [self.claim, *(_line(each) for each in self.checks), *self.notes]
        return text_card(self.word, f"{self.name}: {self.verdict}", lines)

    def _repr_html_(self) -> str:
        rows = [("claim", self.claim), *((each.role, _line(each)) for each in self.checks)]
        card = html_card(
            self.word, f"{self.name}: {self.verdict}", rows, tone=GOOD if self.passed else BAD
        )
        return card + "".join(drawn.wide for drawn in self.figures)


def result_of(findings: Findings, **known: Any) -> Result:
    """The record of `findings`, judged; `known` are the fields that they do not have."""
    return Result(
        verdict=judge(findings.checks, undecided=findings.undecided),
        checks=tuple(findings.checks),
        tables=tuple(findings.tables),
        figures=tuple(
            Drawn(each.title, to_svg(each), to_svg(each, NARROW_WIDTH)) for each in findings.figures
        ),
        notes=tuple(findings.notes),
        **known,
    )


def written(cell: Cell) -> str:
    """A cell as it is read: text as it is, whole numbers whole, others with three digits.

    >>> written(1234567), written(0.71234), written(1.5e-9)
    ('1,234,567', '0.712', '1.5e-09')
    """
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or (cell == round(cell, 0) and 1.0 <= abs(cell) < 1e6):
        return f"{int(cell):,}"
    return f"{cell:.3g}"


def _line(check: Check) -> str:
    return f"{'✓' if check.holds else '✕'} {check.statement}: {check.measured}"


def _plain(cell: Any) -> Cell:
    return cell.item() if isinstance(cell, np.generic) else cell
