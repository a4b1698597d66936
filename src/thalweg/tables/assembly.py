"""Columns into one matrix, a block of rows at a time.

Columns that become p features have at most m entries in a row that are not zero: one each, of a
date one a part. Where text makes p ≥ 4m the matrix is mostly zeros and is CSR, 12 bytes an entry;
else dense, 8 a feature: with fewer zeros kernels are faster on those that are stored.

A block is some thousand rows: its part of X stays in cache while the columns are written to it one
after the other, and no column is ever held twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from thalweg.core.card import count_of
from thalweg.core.errors import InputError
from thalweg.tables.column import DATE, TEXT, Column

BLOCK = 1 << 18  # numbers


def is_mostly_zeros(columns: Sequence[Column]) -> bool:
    """Whether p ≥ 4m."""
    entries = sum(column.entries for column in columns)
    return sum(len(column.features) for column in columns) >= 4 * entries


def assemble(
    columns: Sequence[Column],
    series: Sequence[Any],
    *,
    dtype: str,
    sparse: bool,
    there: np.ndarray | None = None,
    unseen_is_error: bool = False,
) -> tuple[Any, list[str]]:
    """X of checked series, dense or CSR, and a note for each column with unseen categories.

    `there` marks the rows to take, where not all are.
    """
    n = len(series[0]) if there is None else int(there.sum())
    widths = [len(column.features) for column in columns]
    firsts = np.concatenate([[0], np.cumsum(widths)])
    slots = np.concatenate([[0], np.cumsum([column.entries for column in columns])])
    stored = int((slots if sparse else firsts)[-1])
    # Where each entry of a row stands, but for the category of a text.
    usual = [first + k for first, c in zip(firsts, columns, strict=False) for k in range(c.entries)]
    values = np.zeros((n, stored), dtype)
    index = np.int32 if max(n * stored, int(firsts[-1])) < 2**31 else np.int64
    places = np.empty((n, stored), index) if sparse else None
    unseen = dict.fromkeys(range(len(columns)), 0)
    step = max(1, BLOCK // max(1, stored))
    done = 0
    for start in range(0, len(series[0]), step):
        end = min(start + step, len(series[0]))
        taken = slice(None) if there is None else there[start:end]
        size = end - start if there is None else int(there[start:end].sum())
        rows, done = slice(done, done + size), done + size
        if places is not None:
            places[rows] = usual
        for k, column in enumerate(columns):
            part, first, slot = series[k].slice(start, step), firsts[k], slots[k]
            here = slot if sparse else first
            if column.kind == DATE:
                values[rows, here : here + column.entries] = column.numbers(part)[taken]
                continue
            if column.kind != TEXT:
                values[rows, here] = column.numbers(part)[taken]
                continue
            codes = column.codes(part)[taken]
            is_seen = codes >= 0
            unseen[k] += len(codes) - int(is_seen.sum())
            if places is not None:
                values[rows, slot] = is_seen
                places[rows, slot] += np.maximum(codes, 0)
            else:
                values[rows][is_seen, first + codes[is_seen]] = 1.0
    notes = [
        _unseen(columns[k], series[k], count, unseen_is_error)
        for k, count in unseen.items()
        if count
    ]
    if places is None:
        return values, notes
    ends = np.arange(0, n * stored + 1, stored, dtype=index)
    X = scipy.sparse.csr_array((values.ravel(), places.ravel(), ends), shape=(n, int(firsts[-1])))
    X.eliminate_zeros()
    return X, notes


def _unseen(column: Column, series: Any, count: int, is_error: bool) -> str:
    new = sorted(set(series.drop_nulls().unique().to_list()) - set(column.categories))
    some = ", ".join(map(repr, new[:3])) + (f" and {len(new) - 3:,} more" if len(new) > 3 else "")
    if is_error:
        raise InputError(
            f"column {column.name!r} must hold categories that were there at first, got {some} in "
            f"{count_of(count, 'row')}: correct them, or pass unseen='zeros'"
        )
    return (
        f"{column.name!r} has categories that were not there at first ({some}) in "
        f"{count_of(count, 'row')}: all their features are 0 there"
    )
