"""A linear model as a fitted scikit-learn pipeline that needs no Thalweg, as a joblib file.

    table     a ColumnTransformer, then the model
    matrix    a SimpleImputer, where values may be missing, then the model

A column of a table is found by its name, in a frame of pandas or polars. A text is one feature a
category, and one each for the two ways in which frames say that it is missing, None and NaN: these
have the coefficients of the category that stands for it. Every step is fitted on rows made for it.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Any

import joblib
import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.utils import check_array

from thalweg.exports.portable import Portable, fill_of, refuse_dates
from thalweg.runs.prediction import EXP, IDENTITY, SIGN
from thalweg.tables.column import TEXT, Column
from thalweg.tables.extra import polars


def sklearn_bytes(model: Portable) -> bytes:
    """The file, which `joblib.load` reads. It is a pickle: for those who trust where it is from."""
    out = io.BytesIO()
    joblib.dump(sklearn_pipeline(model), out)
    return out.getvalue()


def sklearn_pipeline(model: Portable) -> Pipeline:
    """The pipeline, fitted."""
    steps: list[tuple[str, Any]] = []
    if model.is_table:
        refuse_dates(model.columns, "a pipeline of scikit-learn")
        steps.append(("columns", _of_table(model.columns)))
    elif any(column.fill is not None for column in model.columns):
        steps.append(("missing", _imputer().fit([[c.standing for c in model.columns]])))
    return Pipeline([*steps, ("model", _fitted(model))])


def _of_table(columns: Sequence[Column]) -> ColumnTransformer:
    """Columns in their order; neighbours of one kind together, which is one step of thousands."""
    steps: list[tuple[str, Any, list[str]]] = []
    for is_text, group in groupby(columns, key=lambda column: column.kind == TEXT):
        some = list(group)
        made = [(_of_text(each), [each.name]) for each in some] if is_text else _of_numbers(some)
        steps += [(f"{len(steps) + k}", step, names) for k, (step, names) in enumerate(made)]
    whole = ColumnTransformer(steps, sparse_threshold=0.0)
    return whole.fit(_example(columns))


def _of_numbers(columns: Sequence[Column]) -> list[tuple[Any, list[str]]]:
    """True and false are 1 and 0. What may not be missing stays NaN, which the model refuses."""
    made: list[tuple[Any, list[str]]] = []
    for may_miss, group in groupby(columns, key=lambda column: column.fill is not None):
        some = list(group)
        step: Any = FunctionTransformer(np.asarray, kw_args={"dtype": np.float64})
        if may_miss:
            step = make_pipeline(step, _imputer())
        made.append((step, [column.name for column in some]))
    return made


def _imputer() -> SimpleImputer:
    """Learns from a row that holds what stands for missing values."""
    return SimpleImputer(strategy="mean", keep_empty_features=True)


def _of_text(column: Column) -> Any:
    known = list(column.categories)
    if column.fill is not None:
        return _one_hot([*known, None, np.nan])
    # Nothing may be missing: NaN is refused by the first, and None cannot be added to a text.
    return make_pipeline(
        FunctionTransformer(check_array, kw_args={"dtype": object}),
        FunctionTransformer(partial(np.add, "")),
        _one_hot(known),
    )


def _one_hot(known: Sequence[Any]) -> OneHotEncoder:
    categories = np.empty(len(known), dtype=object)
    categories[:] = known
    return OneHotEncoder(categories=[categories], handle_unknown="ignore", sparse_output=False)


def _example(columns: Sequence[Column]) -> Any:
    """One row, which holds what stands for missing values where something does."""
    return polars("a pipeline for a table").DataFrame(
        {
            column.name: [(column.categories or ("",))[0]]
            if column.kind == TEXT
            else [column.standing]
            for column in columns
        }
    )


def _fitted(model: Portable) -> Any:
    """The model itself, on the features that the steps before it give."""
    w, b = _coefficients(model).T, model.intercepts
    made: Any
    if model.link == IDENTITY:
        made = LinearRegression()
        made.coef_, made.intercept_ = w[0].copy(), float(b[0])
    elif model.link == EXP:
        made = PoissonRegressor(max_iter=1).fit(np.zeros((2, w.shape[1])), [1.0, 1.0])
        made.coef_, made.intercept_ = w[0].copy(), float(b[0])
    else:
        if len(model.classes) == 2 and len(b) == 2:  # of two classes it keeps the difference
            w, b = w[1:] - w[:1], b[1:] - b[:1]
        made = LinearSVC() if model.link == SIGN else LogisticRegression()
        made.coef_, made.intercept_ = w.copy(), b.copy()
        made.classes_ = np.asarray(model.classes)
        made.n_iter_ = np.zeros(1, dtype=np.int32)
    made.n_features_in_ = w.shape[1]
    return made


def _coefficients(model: Portable) -> np.ndarray:
    """Of all features, those of missing texts included."""
    if not model.is_table:
        return model.coefficients
    parts = []
    for column, w in model.of_columns:
        fill = fill_of(column) if column.kind == TEXT else None
        parts += [w] if fill is None else [w, w[[int(fill)] * 2]]
    return np.concatenate(parts)
