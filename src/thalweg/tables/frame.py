"""Learn from named columns, each of its own type: a polars frame.

What is wrong with one column does not keep the others from being looked at: all problems are raised
together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thalweg.core.errors import InputError
from thalweg.tables.array import float_type
from thalweg.tables.assembly import assemble, is_mostly_zeros
from thalweg.tables.column import (
    DATE,
    NUMBER,
    TEXT,
    Column,
    cleaned,
    is_constant,
    kind_of,
    learn,
    learn_date,
)
from thalweg.tables.dates import Dated, dated
from thalweg.tables.dating import Dating
from thalweg.tables.ids import DROP, KEEP, is_id, unit_of
from thalweg.tables.learned import (
    Learned,
    Options,
    kept,
    missing_unasked,
    on_constants,
    on_ids,
    on_marks,
    on_missing,
    on_rows,
)
from thalweg.tables.matching import find_column
from thalweg.tables.notation import MARKS
from thalweg.tables.problem import Problem, Unsettled, leave_out, unsettled
from thalweg.tables.raw import Raw
from thalweg.tables.target import Target, learn_target, target_values


@dataclass
class Found:
    """What the columns turned out to be, one after the other."""

    columns: list[Column] = field(default_factory=list)
    series: list[Any] = field(default_factory=list)  # of all rows, narrowed
    missing: dict[str, int] = field(default_factory=dict)
    constant: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    marks: dict[str, str] = field(default_factory=dict)  # categories that look like missing ones
    problems: list[Problem] = field(default_factory=list)

    def add(self, column: Column, whole: Any, rows: Any) -> None:
        """A column of `whole`, learnt from the rows with a target."""
        if rows.null_count():
            self.missing[column.name] = rows.null_count()
        self.columns.append(column)
        self.series.append(column.narrowed(whole))
        if is_constant(column, rows):
            self.constant.append(column.name)


def learn_frame(raw: Raw, options: Options) -> Learned:
    """X and y of the frame of `raw`, which is given up on the way."""
    frame, raw.X = raw.X, None
    target, y, there, name = None, None, None, None
    notes: list[str] = []
    found = Found()
    if options.target is not None:
        name = find_column(options.target, frame.columns, "target")
    features = kept(frame.columns, name, options.drop)
    if name is not None:
        found.problems += _doubts_of_target(raw, name)
        if not found.problems:
            target, y, there, notes = _learn_target(frame[name], options)
    dates = _dates(frame, features, options, raw)
    dating = Dating.of(dates, options.dates, options.date_format, has_commas=raw.decimal == ",")
    for each in features:
        try:
            raw.check_doubts([each])
            _learn_feature(frame[each], there, options, dating, found)
        except Unsettled as problem:
            found.problems.extend(problem.problems)
    rows = frame.height if there is None else int(there.sum())
    if found.missing and options.impute is None:
        found.problems.append(missing_unasked(found.missing, rows))
    if found.problems:
        raise Unsettled(found.problems)
    if not found.columns:
        raise unsettled(
            "",
            "source must have a column that says more of a row than which one it is, got "
            f"{', '.join(map(repr, found.ids[:5]))}: use them as they are, with ids='keep'",
            ids=KEEP,
        )
    used = {column.name for column in found.columns} | {name}
    left_out = tuple(each for each in frame.columns if each not in used)
    del frame
    notes += dating.notes + on_ids(found.ids) + on_marks(found.marks)
    notes += on_missing(found.missing, options.impute) + on_constants(found.constant)
    X = _assembled(found, options, None if there is None else there.to_numpy())
    return Learned(X, y, found.columns, target, found.missing, notes, left_out)


def _doubts_of_target(raw: Raw, name: str) -> list[Problem]:
    """What is to be settled of the target, which cannot be left out."""
    problem = raw.doubts.get(name)
    if problem is None:
        return []
    if not problem.remedy.keys() - {"drop", "text"}:
        raise InputError(f"target {name!r} cannot be predicted as it is: {problem.sentence}")
    return [problem]


def _learn_target(series: Any, options: Options) -> tuple[Target, np.ndarray, Any, list[str]]:
    """How the target becomes y, that y, which rows have one, and notes."""
    if dated(series) is not None and series.name not in options.text:
        raise InputError(
            f"target {series.name!r} must hold numbers or classes, got dates "
            f"({series.drop_nulls()[0]}): choose another target, or take them for classes, with "
            f"text=[{series.name!r}]"
        )
    values = cleaned(series)
    notes = on_rows(series.name, values.null_count(), len(values))
    there = values.is_not_null() if values.null_count() else None
    values = values if there is None else values.filter(there)
    target, y, note = learn_target(series.name, target_values(values), options.task)
    return target, y, there, notes + ([note] if note else [])


def _dates(frame: Any, features: Sequence[str], options: Options, raw: Raw) -> Mapping[str, Dated]:
    """The columns that hold dates."""
    looked_at = [
        each
        for each in features
        if each not in options.text
        and each not in raw.doubts
        and (frame.schema[each].is_temporal() or str(frame.schema[each]) == "String")
    ]
    found = {each: dated(frame[each]) for each in looked_at}
    return {each: date for each, date in found.items() if date is not None}


def _learn_feature(series: Any, there: Any, options: Options, dating: Dating, found: Found) -> None:
    """Learn one column, or raise what is to be settled of it."""
    name = series.name
    if name in dating:
        order, whole = dating.moments(series)
        rows = whole if there is None else whole.filter(there)
        found.add(learn_date(rows, options.dates or "", order, options.impute), whole, rows)
        return
    whole = cleaned(series)
    rows = whole if there is None else whole.filter(there)
    if kind_of(whole) == TEXT and name not in options.text:
        _check_unit(rows, options.max_categories)
    if options.ids == DROP and name not in options.text and is_id(rows):
        found.ids.append(name)
        return
    column = learn(rows, options.impute, options.max_categories)
    found.add(column, whole, rows)
    mark = next((each for each in column.categories if each.strip().lower() in MARKS), None)
    if mark is not None and name not in options.text:
        found.marks[name] = mark


def _check_unit(texts: Any, most: int) -> None:
    """Raise where a text holds measurements with their unit."""
    there = texts.drop_nulls()
    if there.n_unique() > most and (unit := unit_of(there)):
        raise leave_out(
            texts.name,
            f"column {texts.name!r} must hold numbers without {unit!r} beside them, got "
            f"{there[0]!r}: take it out of the file, or leave the column out",
        )


def _assembled(found: Found, options: Options, there: np.ndarray | None) -> Any:
    """X, in the asked type and layout or the fitting one."""
    columns, series = found.columns, found.series
    sparse = is_mostly_zeros(columns) if options.sparse is None else options.sparse
    width = sum(column.entries if sparse else len(column.features) for column in columns)
    needed = len(series[0]) * width * (12 if sparse else 8)
    options.budget.check("source", needed, f"for {len(series[0]):,} rows × {width:,} numbers")
    dtype = options.dtype or _float_type(found)
    return assemble(columns, series, dtype=dtype, sparse=sparse, there=there)[0]


def _float_type(found: Found) -> str:
    """float32 where it holds all numbers exactly; float64 else, and where there are none."""
    if any(column.kind == DATE for column in found.columns):
        return np.dtype(np.float64).name
    one_each = {each.dtype: each for each in found.series if kind_of(each) == NUMBER}.values()
    kinds = [each[:1].fill_null(0).to_numpy().dtype for each in one_each]
    return float_type(kinds).name if kinds else np.dtype(np.float64).name
