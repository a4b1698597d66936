import json

import numpy as np
import polars as pl
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.tables.encoding import Encoding

ROWS = {
    "age": [20.0, 40.0, 60.0, 30.0],
    "town": ["A", "B", "C", "A"],
    "member": [True, False, True, True],
    "bought": ["no", "yes", "no", "yes"],
}


def first(**options):
    return tw.read(ROWS, "bought", **options)


def dense(X):
    return X.toarray() if scipy.sparse.issparse(X) else X


@pytest.mark.parametrize("is_sparse", [False, True])
def test_the_same_rows_give_the_same_numbers(is_sparse):
    table = first(sparse=is_sparse)
    again = table.encoding.table(ROWS)
    np.testing.assert_array_equal(dense(again.X), dense(table.X))
    assert scipy.sparse.issparse(again.X) == is_sparse
    assert again.y.tolist() == table.y.tolist()
    assert again.notes == ()


def test_columns_in_any_order_without_a_target():
    encoding = first(sparse=False).encoding
    later = {"member": [False], "town": ["C"], "age": [33.0]}
    assert encoding.apply(later).tolist() == [[33, 0, 0, 1, 0]]
    assert encoding.table(later).y is None
    assert encoding.feature_names == ["age", "town=A", "town=B", "town=C", "member"]


def test_extra_columns_and_unseen_categories_are_noted():
    encoding = first(sparse=False).encoding
    later = {"shoe": [42], "member": [False], "town": ["Z"], "age": [33.0], "bought": ["maybe"]}
    table = encoding.table(later)
    assert table.X.tolist() == [[33, 0, 0, 0, 0]]
    assert table.y.tolist() == [-1]
    assert [note.split(" ")[0] for note in table.notes] == ["'shoe'", "1", "'town'"]
    with pytest.raises(InputError, match="got 'Z' in 1 row"):
        encoding.apply(later, unseen="error")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"age": None}, "'age' missing"),
        ({"age": ["old"]}, "'age' must hold numbers, as at first, got 'old'"),
        ({"age": [np.nan]}, "'age' must have no missing values, as at first, got 1"),
        ({"age": [np.inf]}, "'age' must be finite"),
        ({"member": ["perhaps"]}, "'member' must hold true or false"),
        ({"town": [None]}, "'town' must have no missing values"),
    ],
)
def test_what_cannot_be_right_is_one_sentence(change, sentence):
    later = {"member": [False], "town": ["A"], "age": [33.0]} | change
    later = {name: values for name, values in later.items() if values is not None}
    with pytest.raises(InputError, match=sentence):
        first().encoding.apply(later)


def test_what_was_learnt_fills_later_rows():
    encoding = first(impute="median", sparse=False).encoding
    later = {"member": [None], "town": [None], "age": [None]}
    assert encoding.apply(later).tolist() == [[35, 1, 0, 0, 1]]


@pytest.mark.parametrize("options", [{}, {"impute": "mean"}, {"sparse": False, "dtype": "float32"}])
def test_json_and_back(options):
    encoding = first(**options).encoding
    again = Encoding.from_dict(json.loads(json.dumps(encoding.to_dict(), allow_nan=False)))
    assert again == encoding
    np.testing.assert_array_equal(dense(again.apply(ROWS)), dense(encoding.apply(ROWS)))


def test_json_of_a_wide_matrix_without_names_is_short():
    encoding = tw.read(scipy.sparse.eye_array(3, 5000, format="csr")).encoding
    assert encoding.to_dict()["columns"] == 5000
    assert Encoding.from_dict(encoding.to_dict()) == encoding


@pytest.mark.parametrize("content", [{}, [], {"version": 2}, {"version": 1, "columns": [3]}])
def test_other_json_is_one_sentence(content):
    with pytest.raises(InputError, match="encoding must be"):
        Encoding.from_dict(content)


def test_numbers_that_were_text_at_first_stay_text(tmp_path):
    (tmp_path / "a.csv").write_text("zip,t\nA1,0.5\n17,1.5\n")
    (tmp_path / "b.csv").write_text("t,zip\n2.5,17\n")
    encoding = tw.read(tmp_path / "a.csv", "t", sparse=False).encoding
    assert encoding.feature_names == ["zip=17", "zip=A1"]
    assert encoding.apply(tmp_path / "b.csv").tolist() == [[1, 0]]


def test_matrices_with_and_without_their_target(tmp_path):
    held = np.array([[1.0, 0.5, 3.0], [2.0, 1.5, np.nan]])
    np.save(tmp_path / "a.npy", held)
    table = tw.read(tmp_path / "a.npy", 1, impute="mean")
    assert table.X.tolist() == [[1, 3], [2, 3]]
    again = table.encoding.table(tmp_path / "a.npy")
    assert (again.X.tolist(), again.y.tolist()) == ([[1, 3], [2, 3]], [0.5, 1.5])
    without = table.encoding.table(held[:, [0, 2]])
    assert (without.X.tolist(), without.y) == ([[1, 3], [2, 3]], None)
    with pytest.raises(InputError, match="'x2' missing"):
        table.encoding.apply(held[:, :1])
    plain = tw.read(tmp_path / "a.npy", 1, drop=[2]).encoding
    with pytest.raises(InputError, match="'x0' must have no missing values"):
        plain.apply(np.full((1, 1), np.nan))


def test_svmlight_with_fewer_and_more_features(tmp_path):
    (tmp_path / "a").write_text("1 1:1 3:2\n-1 2:5\n")
    (tmp_path / "b").write_text("1 1:4\n")
    (tmp_path / "c").write_text("7 1:4 9:1\n")
    encoding = tw.read(tmp_path / "a").encoding
    assert encoding.apply(tmp_path / "b").toarray().tolist() == [[4, 0, 0]]
    table = encoding.table(tmp_path / "c")
    assert table.X.toarray().tolist() == [[4, 0, 0]]
    assert table.y.tolist() == [-1]
    assert "'x8' were not there at first" in table.notes[0]
    assert encoding.apply(np.eye(3)).format == "csr"


def test_other_sources_of_the_same_columns(tmp_path):
    cancer = tw.read("@cancer")
    frame = pl.DataFrame(cancer.X[:3], schema=cancer.feature_names)
    frame.write_parquet(tmp_path / "t.parquet")
    np.testing.assert_array_equal(cancer.encoding.apply(tmp_path / "t.parquet"), cancer.X[:3])
    table = cancer.encoding.table("@cancer")
    np.testing.assert_array_equal(table.y, cancer.y)
    assert cancer.encoding.apply(scipy.sparse.csr_array(cancer.X[:2])).shape == (2, 30)
    with pytest.raises(InputError, match="unseen must be a known name"):
        cancer.encoding.apply("@cancer", unseen="ones")


def test_svmlight_that_began_at_zero_goes_on_so(tmp_path):
    (tmp_path / "a").write_text("1 0:1 2:2\n-1 1:5\n")
    (tmp_path / "b").write_text("1 1:4\n")
    encoding = Encoding.from_dict(tw.read(tmp_path / "a").encoding.to_dict())
    assert encoding.apply(tmp_path / "b").toarray().tolist() == [[0, 4, 0]]


def test_a_frame_has_the_names_of_the_features():
    table = first(sparse=False)
    frame = table.encoding.frame(ROWS)
    assert frame.columns == table.feature_names
    np.testing.assert_array_equal(frame.to_numpy(), table.X)
    with pytest.raises(InputError, match=r"use apply\(source\)"):
        first(sparse=True).encoding.frame(ROWS)
