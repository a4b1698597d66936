import pytest

from thalweg.core.errors import InputError
from thalweg.tables.learned import check_missing, kept, on_constants, on_rows


def test_features_are_what_is_neither_target_nor_dropped():
    assert kept(["a", "b", "c", "d"], "b", ["d", 0]) == ["c"]
    assert kept(["a", "b"], None, "b") == ["a"]
    with pytest.raises(InputError, match="drop: 'aa' is no column: did you mean 'a'"):
        kept(["a", "b"], None, ["aa"])
    with pytest.raises(InputError, match="must not hold the target 'b'"):
        kept(["a", "b"], "b", ["b"])
    with pytest.raises(InputError, match="none left"):
        kept(["a", "b"], "b", ["a"])


def test_missing_values_are_refused_or_noted():
    assert check_missing({}, None, 10) == []
    with pytest.raises(
        InputError, match=r"got 5 of 10 rows in 2 columns \(a 2, b 3\): .*impute='median'"
    ):
        check_missing({"a": 2, "b": 3}, None, 10)
    (note,) = check_missing({"a": 2}, "most-frequent", 10)
    assert note.endswith(
        "in 1 column (a 2) were filled with the most frequent value of their column"
    )


def test_rows_without_a_target():
    assert on_rows("t", 0, 3) == []
    assert on_rows("t", 1, 3) == ["1 of 3 rows have no 't' and were left out"]
    with pytest.raises(InputError, match="'t' must have values, got 3 missing ones"):
        on_rows("t", 3, 3)


def test_constants_are_named_up_to_five():
    assert on_constants([]) == []
    assert on_constants(["a"]) == ["1 column constant, kept: 'a'"]
    assert on_constants(list("abcdefg"))[0].endswith("'e' and 2 more")
