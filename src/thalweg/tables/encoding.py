"""How a source became numbers, remembered: the same is done to later rows.

Columns are matched by name, in any order. Others are left alone, with a note. A category that was
not there at first has all its features 0, with a note. What cannot be right is a sentence: a column
that is not there, text where numbers were, missing values where none were.

`to_dict` gives what JSON holds and no more; `from_dict` reads it back and runs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from thalweg.core.checks import check_choice, describe
from thalweg.core.errors import InputError
from thalweg.tables.assembly import assemble
from thalweg.tables.budget import COLUMN, budget_of
from thalweg.tables.column import DATE, NUMBER, TEXT, Column
from thalweg.tables.delimited import USUAL, Writing
from thalweg.tables.extra import polars
from thalweg.tables.gaps import count_missing, fill_missing
from thalweg.tables.load import load
from thalweg.tables.matching import matched_places, matched_series
from thalweg.tables.raw import Raw
from thalweg.tables.table import Table
from thalweg.tables.target import Target, later_values

VERSION = 1
KINDS = {
    NUMBER: "of numbers", "flag": "of true and false", TEXT: "of text", DATE: "of dates",
}  # fmt: skip


@dataclass(frozen=True)
class Encoding:
    """What `read` did; `apply` does it again."""

    columns: tuple[Column, ...]
    target: Target | None = None
    dtype: str = "float64"
    is_sparse: bool = False
    sample_shape: tuple[int, ...] = ()  # of one row of X, (28, 28) of an image; empty for a vector
    first_index: int = 1  # of an svmlight file
    writing: Writing = USUAL  # of CSV and TSV
    left_out: tuple[str, ...] = ()  # columns that were there at first and are none of these

    @cached_property
    def feature_names(self) -> list[str]:
        """Of the columns of X."""
        return [name for column in self.columns for name in column.features]

    @property
    def counts(self) -> dict[str, int]:
        """How many columns there are of each kind."""
        kinds = [column.kind for column in self.columns]
        return {text: kinds.count(kind) for kind, text in KINDS.items() if kind in kinds}

    def apply(
        self, source: Any, *, unseen: str = "zeros", memory: str | float | None = None
    ) -> Any:
        """X of later data: a path, a built-in name, a frame, a mapping of columns or a matrix."""
        return self.table(source, unseen=unseen, memory=memory).X

    def frame(
        self, source: Any, *, unseen: str = "zeros", memory: str | float | None = None
    ) -> Any:
        """The same as a polars frame with the names of the features; not where X is sparse."""
        if self.is_sparse:
            raise InputError(
                "frame must be of a dense encoding, got a sparse one, whose matrix has no names: "
                "use apply(source), whose columns are feature_names"
            )
        X = self.apply(source, unseen=unseen, memory=memory)
        return polars("a frame of features").DataFrame(X, schema=self.feature_names)

    def table(
        self, source: Any, *, unseen: str = "zeros", memory: str | float | None = None
    ) -> Table:
        """The same with y, where the source has it, and with notes on what differed.

        `unseen`: "zeros" or "error", for a category that was not there at first. `memory`: how much
        may be used, as in `read`.
        """
        check_choice("unseen", unseen, ("zeros", "error"))
        raw = load(
            source,
            target=self.target.name if self.target else None,
            dtype=self.dtype,
            writing=self.writing._replace(
                text=tuple(column.name for column in self.columns if column.kind == TEXT)
            ),
            first_index=self.first_index,
            width=len(self.columns),
            budget=budget_of(memory),
        )
        make = self._from_frame if raw.is_frame else self._from_matrix
        X, y, missing, notes = make(raw, unseen == "error")
        name = str(source) if isinstance(source, str | Path) else raw.format
        return Table(X, y, self, name, raw.format, tuple(raw.notes + notes), missing)

    def _from_frame(self, raw: Raw, unseen_is_error: bool) -> tuple:
        series, notes = matched_series(self.columns, self.target, raw.X, self.left_out)
        raw.check_doubts(column.name for column in self.columns)
        y = None
        if self.target is not None and self.target.name in raw.X.columns:
            raw.check_doubts([self.target.name])
            y, note = later_values(self.target, raw.X[self.target.name])
            notes += [note] if note else []
        missing = {each.name: each.null_count() for each in series if each.null_count()}
        series = [column.checked(each) for column, each in zip(self.columns, series, strict=True)]
        X, unseen = assemble(
            self.columns, series, dtype=self.dtype, sparse=self.is_sparse,
            unseen_is_error=unseen_is_error,
        )  # fmt: skip
        return X, y, missing, notes + unseen

    def _from_matrix(self, raw: Raw, unseen_is_error: bool) -> tuple:
        places, notes = matched_places(self.columns, self.target, raw)
        X, y = raw.X, raw.y
        if self.target is not None:
            held = raw.names or [f"x{j}" for j in range(X.shape[1])]
            if y is None and self.target.name in held and len(places) < X.shape[1]:
                column = X[:, [held.index(self.target.name)]]
                y = (column.toarray() if scipy.sparse.issparse(column) else column).ravel()
            if y is not None:
                y, note = self.target.encode(y)
                notes += [note] if note else []
        X = select(X, places)
        names = [column.name for column in self.columns]
        missing = count_missing(X, names)
        refused = [
            column for column in self.columns if column.name in missing and column.fill is None
        ]
        if refused:
            raise InputError(
                f"column {refused[0].name!r} must have no missing values, as at first, got "
                f"{missing[refused[0].name]:,}: read the first data with impute='median', or "
                "fill them"
            )
        if missing:
            fill_missing(X, [column.standing for column in self.columns])
        if self.is_sparse and not scipy.sparse.issparse(X):
            X = scipy.sparse.csr_array(X)
        elif not self.is_sparse and scipy.sparse.issparse(X):
            X = X.toarray()
        return X, y, missing, notes

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON holds it."""
        return {
            "version": VERSION,
            "columns": _plain_columns(self.columns),
            "target": None
            if self.target is None
            else {
                "name": self.target.name,
                "classes": list(self.target.classes),
                "labels": list(self.target.labels),
            },
            "dtype": self.dtype,
            "is_sparse": self.is_sparse,
            "sample_shape": [int(size) for size in self.sample_shape],
            "first_index": self.first_index,
            "missing": list(self.writing.missing),
            "header": self.writing.header,
            "decimal": self.writing.decimal,
            "thousands": self.writing.thousands,
            "left_out": list(self.left_out),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Encoding:
        """What `to_dict` gave."""
        try:
            if content["version"] != VERSION:
                raise InputError(
                    f"encoding must be of version {VERSION}, got {content['version']!r}: "
                    "read it with the version of thalweg that wrote it"
                )
            target = content["target"]
            return cls(
                columns=_columns(content["columns"]),
                target=None
                if target is None
                else Target(target["name"], tuple(target["classes"]), tuple(target["labels"])),
                dtype=np.dtype(content["dtype"]).name,
                is_sparse=bool(content["is_sparse"]),
                sample_shape=tuple(content["sample_shape"]),
                first_index=int(content["first_index"]),
                writing=Writing(
                    tuple(content["missing"]),
                    content["header"],
                    content.get("decimal"),
                    content.get("thousands"),
                ),
                left_out=tuple(content.get("left_out") or ()),  # not in files of first versions
            )
        except (KeyError, TypeError, AttributeError) as problem:
            raise InputError(
                f"encoding must be what Encoding.to_dict gave, got {describe(content)} "
                f"({type(problem).__name__}: {problem})"
            ) from problem


def select(X: Any, places: Sequence[int]) -> Any:
    """Columns of X by their places, X itself where that is all of it in order."""
    if len(places) == X.shape[1] and all(place == j for j, place in enumerate(places)):
        return X
    return X[:, list(places)]


def _plain_columns(columns: tuple[Column, ...]) -> Any:
    """Names alone for numbers; a count for a wide matrix that has not even names."""
    if all(column == Column(f"x{j}") for j, column in enumerate(columns)):
        return len(columns)
    return [
        column.name
        if column == Column(column.name)
        else {
            "name": column.name,
            "kind": column.kind,
            "categories": list(column.categories),
            "fill": list(column.fill) if isinstance(column.fill, tuple) else column.fill,
            **({"parts": list(column.parts), "order": column.order} if column.parts else {}),
        }
        for column in columns
    ]


def _columns(content: Any) -> tuple[Column, ...]:
    if isinstance(content, int):
        budget_of().check("the encoding", COLUMN * content, f"for {content:,} columns")
        return tuple(Column(f"x{j}") for j in range(content))
    return tuple(Column(each) if isinstance(each, str) else _column(each) for each in content)


def _column(content: Mapping[str, Any]) -> Column:
    fill, parts = content["fill"], tuple(content.get("parts") or ())
    is_date, has_fills = content["kind"] == DATE, isinstance(fill, list)
    fits = len(fill) == len(parts) if has_fills else fill is None or not is_date
    if is_date != bool(parts) or has_fills > is_date or not fits:
        raise TypeError(f"{content['name']!r} of kind {content['kind']} has parts {parts}")
    return Column(
        content["name"],
        content["kind"],
        tuple(content["categories"]),
        tuple(fill) if isinstance(fill, list) else fill,
        parts,
        content.get("order") or "",
    )
