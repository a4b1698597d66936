import numpy as np
import polars as pl
import pytest

from thalweg.core.errors import InputError
from thalweg.tables.frame import learn_frame
from thalweg.tables.learned import Options
from thalweg.tables.raw import Raw


def learnt(columns, **options):
    return learn_frame(Raw(pl.DataFrame(columns, strict=False), "CSV"), Options(**options))


def test_a_table_by_hand():
    found = learnt(
        {"n": [1.0, 2.0, None], "w": ["u", None, "v"], "t": ["p", "q", "p"], "k": [5, 5, 5]},
        target="t", impute="mean", sparse=False,
    )  # fmt: skip
    assert found.X.tolist() == [[1, 1, 0, 5], [2, 1, 0, 5], [1.5, 0, 1, 5]]
    assert found.y.tolist() == [0, 1, 0]
    assert found.missing == {"n": 1, "w": 1}
    assert any("constant, kept: 'k'" in note for note in found.notes)


def test_rows_without_a_target_are_left_out_before_anything_is_learnt():
    found = learnt({"n": [1.0, 2.0, 99.0], "t": [0.5, np.nan, 1.5]}, target=1)
    assert (found.X.tolist(), found.y.tolist()) == ([[1], [99]], [0.5, 1.5])
    assert learnt({"n": [1.0, None], "t": [0, 1]}, target="t", impute="mean", drop=()).missing
    assert not learnt({"n": [1.0, None, 3.0], "t": ["a", None, "b"]}, target="t").missing


def test_float32_where_it_holds_all():
    small = {"n": pl.Series([1, 2], dtype=pl.Int16), "f": [True, False]}
    assert learnt(small).X.dtype == np.float32
    assert learnt({**small, "x": [0.5, 1.0]}).X.dtype == np.float64
    assert learnt({"f": [True, False]}).X.dtype == np.float64
    assert learnt(small, dtype="float64").X.dtype == np.float64


def test_sparse_where_text_makes_it_mostly_zeros():
    words = {"w": list("abcdefg"), "n": [1, 2, 3, 4, 5, 6, 7]}
    assert learnt(words).X.format == "csr"
    assert isinstance(learnt(words, sparse=False).X, np.ndarray)
    assert isinstance(learnt({"n": [1, 2]}).X, np.ndarray)


def test_missing_values_are_refused_by_default():
    with pytest.raises(InputError, match="got 1 of 2 rows in 1 column"):
        learnt({"n": [1.0, None]})
