import pytest

from thalweg.core.errors import InputError
from thalweg.tables.learned import (
    kept,
    missing_unasked,
    on_constants,
    on_ids,
    on_marks,
    on_missing,
    on_rows,
)


def test_features_are_what_is_neither_target_nor_dropped():
    assert kept(["a", "b", "c", "d"], "b", ["d", 0]) == ["c"]
    assert kept(["a", "b"], None, "b") == ["a"]
    with pytest.raises(InputError, match="drop: 'aa' is no column: did you mean 'a'"):
        kept(["a", "b"], None, ["aa"])
    with pytest.raises(InputError, match="must not hold the target 'b'"):
        kept(["a", "b"], "b", ["b"])
    with pytest.raises(InputError, match="none left"):
        kept(["a", "b"], "b", ["a"])


def test_missing_values_are_a_problem_or_noted():
    problem = missing_unasked({"a": 2, "b": 3}, 10)
    assert "got 5 of 10 rows in 2 columns (a 2, b 3): " in problem.sentence
    assert problem.remedy == {"impute": "median"}
    assert missing_unasked({"a": 2}, 10, is_sparse=True).remedy == {"drop": ["a"]}
    assert on_missing({}, "mean") == on_missing({"a": 1}, None) == []
    (note,) = on_missing({"a": 2}, "most-frequent")
    assert note.endswith(
        "in 1 column (a 2) were filled with the most frequent value of their column"
    )


def test_ids_and_marks_are_noted():
    assert on_ids([]) == on_marks({}) == []
    assert on_ids(["a"])[0].startswith("'a' names rows, ")
    assert on_ids(["a", "b"])[0].endswith("and were left out: ids='keep' uses them")
    assert on_marks({"town": "-"})[0].endswith("with missing=['-'] it is a missing value")


def test_rows_without_a_target():
    assert on_rows("t", 0, 3) == []
    assert on_rows("t", 1, 3) == ["1 of 3 rows have no 't' and were left out"]
    with pytest.raises(InputError, match="'t' must have values, got 3 missing ones"):
        on_rows("t", 3, 3)


def test_constants_are_named_up_to_five():
    assert on_constants([]) == []
    assert on_constants(["a"]) == ["1 column constant, kept: 'a'"]
    assert on_constants(list("abcdefg"))[0].endswith("'e' and 2 more")
