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
    name, target, y, there, notes = None, None, None, None, []
    if options.target is not None:
        name = find_column(options.target, frame.columns, "target")
    features = kept(frame.columns, name, options.drop)
    raw.check_doubts([*([] if name is None else [name]), *features])
    if name is not None:
        values = cleaned(frame[name])
        notes += on_rows(name, values.null_count(), len(values))
        if values.null_count():
            there = values.is_not_null()
            values = values.filter(there)
        target, y, note = learn_target(name, target_values(values), options.task)
        notes += [note] if note else []
    columns, series, missing, constant = [], [], {}, []
    for each in features:
        whole = cleaned(frame[each])
        rows = whole if there is None else whole.filter(there)
        if rows.null_count():
            missing[each] = rows.null_count()
        columns.append(learn(rows, options.impute, options.max_categories))
        series.append(columns[-1].narrowed(whole))
        if is_constant(columns[-1], rows):
            constant.append(each)
    notes += check_missing(missing, options.impute, len(rows)) + on_constants(constant)
    del frame, whole, rows
    sparse = is_mostly_zeros(columns) if options.sparse is None else options.sparse
    width = len(columns) if sparse else sum(len(column.features) for column in columns)
    needed = len(series[0]) * width * (12 if sparse else 8)
    options.budget.check("source", needed, f"for {len(series[0]):,} rows × {width:,} numbers")
    X, _ = assemble(
        columns,
        series,
        dtype=options.dtype or _float_type(series),
        sparse=sparse,
        there=None if there is None else there.to_numpy(),
    )
    return Learned(X, y, columns, target, missing, notes)


def _float_type(series: list[Any]) -> str:
    """float32 where it holds all numbers exactly; float64 else, and where there are none."""
    one_each = {each.dtype: each for each in series if kind_of(each) == NUMBER}.values()
    kinds = [each[:1].fill_null(0).to_numpy().dtype for each in one_each]
    return float_type(kinds).name if kinds else np.dtype(np.float64).name
