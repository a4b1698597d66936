"""The pipeline answers as Thalweg does, for frames of pandas and of polars."""

import io

import joblib
import pandas as pd
import polars as pl
import pytest

from exported_rows import CASES, DATED, same, told
from thalweg.core.errors import InputError
from thalweg.exports.ways import export


@pytest.mark.parametrize("name", sorted(CASES.keys() - set(DATED)))
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_sklearn(exported, name, frame):
    saved, prediction, rows = told(exported, name)
    content = export(saved, "sklearn")
    assert b"thalweg" not in content
    model = joblib.load(io.BytesIO(content))
    new = frame(rows)[list(rows[0])[::-1]]  # columns are found by name
    has_odds = prediction.probabilities is not None
    same(prediction, model.predict(new), model.predict_proba(new) if has_odds else None)
    for column in rows[0] if name == "no gaps" else ():
        with pytest.raises((ValueError, TypeError), match=r"NaN|None|can only concatenate str"):
            model.predict(frame([rows[0] | {column: None}, rows[1]]))


def test_a_matrix_without_names(matrix):
    saved, X = matrix
    model = joblib.load(io.BytesIO(export(saved, "sklearn")))
    same(saved.predict(X), model.predict(X).astype(str), model.predict_proba(X))


def test_dates_are_refused(exported):
    saved, _, _ = told(exported, "cyclic")
    with pytest.raises(InputError, match=r"scikit-learn reads no dates.*'built', 'seen': .*json"):
        export(saved, "sklearn")
