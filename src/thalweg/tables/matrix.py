"""Learn from a matrix of numbers, dense or CSR, with labels beside it or in one of its columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from thalweg.core.errors import InputError
from thalweg.tables.column import Column
from thalweg.tables.encoding import select
from thalweg.tables.gaps import constants, count_missing, fill_missing, fills
from thalweg.tables.learned import (
    Learned,
    Options,
    kept,
    missing_unasked,
    on_constants,
    on_missing,
    on_rows,
)
from thalweg.tables.matching import find_column
from thalweg.tables.problem import Unsettled
from thalweg.tables.raw import Raw
from thalweg.tables.target import learn_target


def learn_matrix(raw: Raw, options: Options) -> Learned:
    """X and y of the matrix of `raw`, which is given up and may be changed on the way."""
    X, raw.X = raw.X, None
    names = raw.names or [f"x{j}" for j in range(X.shape[1])]
    name, values = raw.target, raw.y
    if options.target is not None and (values is None or options.target != raw.target):
        name = find_column(options.target, names, "target")
        values = _column(X, names.index(name))
    features = kept(names, name if values is not None else None, options.drop)
    if len(features) < len(names):
        place = {each: j for j, each in enumerate(names)}
        X, names = select(X, [place[each] for each in features]), features
    target, y, notes = None, None, []
    if values is not None:
        is_absent = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
        notes += on_rows(name, int(is_absent.sum()), len(values))
        if is_absent.any():
            X, values = X[~is_absent], values[~is_absent]
        target, y, note = learn_target(name, values, options.task, raw.class_names)
        notes += [note] if note else []
    missing = count_missing(X, names)
    if missing and options.impute is None:
        is_sparse = scipy.sparse.issparse(X)
        raise Unsettled([missing_unasked(missing, X.shape[0], is_sparse=is_sparse)])
    notes += on_missing(missing, options.impute)
    if scipy.sparse.issparse(X) and missing:
        raise InputError(
            f"impute needs dense data, got a sparse matrix with {sum(missing.values()):,} missing "
            f"values: pass it dense, or leave those columns out, with drop={list(missing)[:5]}"
        )
    columns = [Column(each) for each in names]
    if options.impute is not None and not scipy.sparse.issparse(X):
        standing = fills(X, names, options.impute)
        columns = [Column(each, fill=fill) for each, fill in zip(names, standing, strict=True)]
        fill_missing(X, standing)
    notes += on_constants(constants(X, names))
    return Learned(_laid_out(X, options), y, columns, target, missing, notes)


def _column(X: Any, j: int) -> np.ndarray:
    column = X[:, [j]]
    return (column.toarray() if scipy.sparse.issparse(column) else column).ravel()


def _laid_out(X: Any, options: Options) -> Any:
    """X in the asked type and layout."""
    if options.sparse and not scipy.sparse.issparse(X):
        X = scipy.sparse.csr_array(X)
    elif options.sparse is False and scipy.sparse.issparse(X):
        needed = X.dtype.itemsize * X.shape[0] * X.shape[1]
        options.budget.check("source", needed, f"for {X.shape[0]:,} × {X.shape[1]:,} numbers")
        X = X.toarray()
    return X if options.dtype is None else X.astype(options.dtype, copy=False)
