import numpy as np
import polars as pl
import pytest
import scipy.sparse

from thalweg.core.errors import InputError
from thalweg.tables.column import Column
from thalweg.tables.matching import IN_ORDER, find_column, matched_places, matched_series
from thalweg.tables.raw import Raw
from thalweg.tables.target import Target

NAMED, UNNAMED = [Column("a"), Column("b")], [Column("x0"), Column("x1")]


def test_a_column_by_name_or_place():
    assert find_column("b", ["a", "b"], "target") == "b"
    assert find_column(-1, ["a", "b"], "target") == "b"
    assert find_column("0", ["a", "b"], "target") == "a"
    assert find_column("0", ["a", "0"], "target") == "0"
    with pytest.raises(InputError, match=r"target 'PM25' is no column: did you mean 'PM2\.5'"):
        find_column("PM25", ["PM10", "PM2.5"], "target")
    with pytest.raises(InputError, match="target 7 is no column: There are 'a', 'b'"):
        find_column(7, ["a", "b"], "target")


def test_series_in_any_order_others_noted():
    frame = pl.DataFrame({"b": [2], "extra": [0], "t": [9], "a": [1]})
    found, notes = matched_series(NAMED, Target("t"), frame)
    assert [each[0] for each in found] == [1, 2]
    assert notes == ["'extra' was not there at first and was left out"]
    with pytest.raises(InputError, match=r"'b' missing: .*It has 'a', 'c'"):
        matched_series(NAMED, None, pl.DataFrame({"a": [1], "c": [2]}))


def test_columns_without_names_go_by_place():
    frame = pl.DataFrame({"p": [1], "q": [2]})
    found, notes = matched_series(UNNAMED, None, frame)
    assert ([each[0] for each in found], notes) == ([1, 2], [IN_ORDER])
    with pytest.raises(InputError, match="'a', 'b' missing"):
        matched_series(NAMED, None, frame)


def test_places_in_a_matrix():
    target = Target("x1")
    columns = [Column("x0"), Column("x2")]
    assert matched_places(columns, target, Raw(np.ones((1, 3)), "NPY")) == ([0, 2], [])
    assert matched_places(columns, target, Raw(np.ones((1, 2)), "NPY")) == ([0, 1], [])
    assert matched_places(NAMED, None, Raw(np.ones((1, 2)), "NPY")) == ([0, 1], [IN_ORDER])
    named = Raw(np.ones((1, 3)), "built-in", names=["b", "c", "a"])
    assert matched_places(NAMED, None, named)[0] == [2, 0]
    with pytest.raises(InputError, match="'x2' missing"):
        matched_places(columns, target, Raw(np.ones((1, 1)), "NPY"))
    with pytest.raises(InputError, match=r"must hold named columns.*got NPY"):
        matched_places([Column("w", "text", ("a",))], None, Raw(np.ones((1, 1)), "NPY"))


def test_svmlight_leaves_out_trailing_zeros():
    raw = Raw(scipy.sparse.csr_array(np.ones((1, 1))), "svmlight")
    assert matched_places(UNNAMED, None, raw) == ([0, 1], [])
    assert raw.X.toarray().tolist() == [[1, 0]]
