"""Learn from named columns, each of its own type: a polars frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.tables.array import float_type
from thalweg.tables.assembly import assemble, is_mostly_zeros
from thalweg.tables.column import NUMBER, cleaned, is_constant, kind_of, learn
from thalweg.tables.learned import Learned, Options, check_missing, kept, on_constants, on_rows
from thalweg.tables.matching import find_column
from thalweg.tables.raw import Raw
from thalweg.tables.target import learn_target, target_values


def learn_frame(raw: Raw, options: Options) -> Learned:
    """X and y of the frame of `raw`, which is given up on the way."""
    frame, raw.X = raw.X, None
    name, target, y, notes = None, None, None, []
    if options.target is not None:
        name = find_column(options.target, frame.columns, "target")
    features = kept(frame.columns, name, options.drop)
    if name is not None:
        values = cleaned(frame[name])
        rows, absent = len(values), values.null_count()
        notes += on_rows(name, absent, rows)
        if absent:
            there = values.is_not_null()
            frame, values = frame.select(features).filter(there), values.filter(there)
        target, y, note = learn_target(name, target_values(values), options.task)
        notes += [note] if note else []
    series = [cleaned(frame[each]) for each in features]
    del frame  # a column that was cleaned is then held once
    missing = {each.name: each.null_count() for each in series if each.null_count()}
    notes += check_missing(missing, options.impute, len(series[0]))
    columns = [learn(each, options.impute, options.max_categories) for each in series]
    notes += on_constants(
        [c.name for c, each in zip(columns, series, strict=True) if is_constant(c, each)]
    )
    X, _ = assemble(
        columns,
        series,
        dtype=options.dtype or _float_type(series),
        sparse=is_mostly_zeros(columns) if options.sparse is None else options.sparse,
    )
    return Learned(X, y, columns, target, missing, notes)


def _float_type(series: list[Any]) -> str:
    """float32 where it holds all numbers exactly; float64 else, and where there are none."""
    kinds = [each[:1].fill_null(0).to_numpy().dtype for each in series if kind_of(each) == NUMBER]
    return float_type(kinds).name if kinds else np.dtype(np.float64).name
