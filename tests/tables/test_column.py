import datetime

import numpy as np
import polars as pl
import pytest

from thalweg.core.errors import InputError
from thalweg.tables.column import (
    Column,
    cleaned,
    has_names,
    is_constant,
    kind_of,
    learn,
    learn_date,
)


def series(*values, dtype=None):
    return pl.Series("c", values, dtype=dtype, strict=False)


def test_each_kind_by_hand():
    number, flag = learn(series(1.0, 2.5), None, 50), learn(series(True, False), None, 50)
    word = learn(series("b", "a", "b"), None, 50)
    assert (number.kind, flag.kind, word.kind) == ("number", "flag", "text")
    assert number.numbers(series(3, 4)).tolist() == [3, 4]
    assert flag.numbers(series(True, False)).tolist() == [1, 0]
    assert word.categories == ("a", "b")
    assert word.features == ["c=a", "c=b"]
    assert word.codes(series("b", "new", "a")).tolist() == [1, -1, 0]


@pytest.mark.parametrize(
    ("impute", "number", "word", "flag"),
    [("mean", 3.0, "b", True), ("median", 2.0, "b", True), ("most-frequent", 1.0, "b", True)],
)
def test_missing_values_are_filled_by_what_was_asked(impute, number, word, flag):
    numbers = series(1.0, 1.0, 2.0, 4.0, 7.0, None)
    column = learn(numbers, impute, 50)
    assert column.fill == number
    assert column.numbers(numbers)[-1] == number
    text = series("a", "b", "b", None)
    column = learn(text, impute, 50)
    assert (column.fill, column.codes(text).tolist()) == (word, [0, 1, 1, 1])
    flags = series(True, None, True, False)
    column = learn(flags, impute, 50)
    assert (column.fill, column.numbers(flags).tolist()) == (flag, [1, 1, 1, 0])


def test_nan_is_missing_and_infinity_refused():
    assert cleaned(series(1.0, np.nan)).null_count() == 1
    assert cleaned(series(1e308, 1e308)).to_list() == [1e308, 1e308]  # though the sum is infinite
    with pytest.raises(InputError, match="must be finite, got 2 infinite values"):
        cleaned(series(np.inf, 1.0, -np.inf))


def test_a_date_becomes_its_parts_each_filled_as_a_number():
    moments = pl.Series(
        "c", [datetime.datetime(2024, 1, 31, 13), None, datetime.datetime(2021, 2, 1)]
    )
    moments = moments.cast(pl.Datetime("ms"))
    column = learn_date(moments, "expand", "dmy", "mean")
    assert column.features == ["c.year", "c.month", "c.weekday", "c.hour"]
    assert column.numbers(moments).tolist() == [
        [2024, 1, 3, 13], [2022.5, 1.5, 2, 6.5], [2021, 2, 1, 0],
    ]  # fmt: skip
    assert (column.entries, Column("c").entries) == (4, 1)
    assert learn_date(moments, "expand", "dmy", None).fill is None
    often = pl.concat([moments, moments[:1]])
    assert learn_date(often, "expand", "", "most-frequent").fill == (2024, 1, 3, 13)


def test_later_dates_are_read_in_the_first_order():
    column = Column("c", "date", fill=(2000.0, 6.0), parts=("year", "month"), order="dmy")
    later = column.checked(series("31.01.2024", None, "1.2.25 13:00"))
    assert column.numbers(later).tolist() == [[2024, 1], [2000, 6], [2025, 2]]
    native = column.checked(series(datetime.date(2024, 1, 31)))
    assert column.numbers(native).tolist() == [[2024, 1]]
    assert column.numbers(column.checked(series(None, None))).tolist() == [[2000, 6]] * 2
    with pytest.raises(InputError, match=r"'c' must hold dates, day first, .* got '01/31/2024'"):
        column.checked(series("31.01.2024", "01/31/2024"))
    with pytest.raises(InputError, match="must hold dates"):
        column.checked(series(20240131))


@pytest.mark.parametrize("values", [["1-2", "3-4"], ["v1.2.3"], ["2013"], ["2013-03-01"]])
def test_text_stays_text(values):
    assert learn(series(*values), None, 50).kind == "text"


def test_too_many_categories_and_numbers_with_words_in():
    with pytest.raises(
        InputError, match=r"at most 3 categories, got 4: .*max_categories=4.*drop=\['c'\]"
    ):
        learn(series(*"abcd"), None, 3)
    assert len(learn(series(*"abcd"), None, 4).categories) == 4
    with pytest.raises(InputError, match=r"numbers in 4 rows and text in 1 \('none'\).*put None"):
        learn(series("1", "2", "3", "4.5", "none"), None, 3)


def test_columns_without_values_and_of_other_types_are_refused():
    with pytest.raises(InputError, match="must hold a value, got 2 missing ones"):
        learn(series(None, None, dtype=pl.String), "mean", 50)
    with pytest.raises(InputError, match="got List"):
        kind_of(series([1, 2], [3]))


def test_later_values_take_the_first_type_or_say_what_changed():
    number, flag, word = Column("c"), Column("c", "flag"), Column("c", "text", ("1", "2"))
    assert number.checked(series("1", "2.5")).to_list() == [1.0, 2.5]
    assert number.checked(series(True, False)).to_list() == [1, 0]
    assert flag.checked(series(1, 0)).to_list() == [True, False]
    assert flag.checked(series("True", "false")).to_list() == [True, False]
    assert word.checked(series(1, 2)).to_list() == ["1", "2"]
    with pytest.raises(InputError, match="'c' must hold numbers, as at first, got 'x' and 1 more"):
        number.checked(series("1", "x", "y"))
    with pytest.raises(InputError, match="must hold true or false, as at first, got 2"):
        flag.checked(series(1, 2))
    with pytest.raises(InputError, match="no missing values, as at first, got 1"):
        number.checked(series(1.0, np.nan))
    with pytest.raises(InputError, match=r"must hold numbers, as at first, got dates \(2013"):
        number.checked(series(datetime.date(2013, 3, 1)))


@pytest.mark.parametrize(
    ("column", "fill"), [(Column("c", fill=2.0), 2.0), (Column("c", "flag", fill=True), 1.0)]
)
def test_later_values_that_are_all_missing_are_filled(column, fill):
    assert column.numbers(column.checked(series(None, None))).tolist() == [fill, fill]


def test_constant_columns():
    assert is_constant(Column("c"), series(2.0, 2.0))
    assert not is_constant(Column("c"), series(2.0, 3.0))
    assert is_constant(Column("c", fill=2.0), series(2.0, None))
    assert is_constant(Column("c", "text", ("a",)), series("a"))


def test_names_of_a_matrix_are_none():
    assert not has_names((Column("x0"), Column("x1")))
    assert has_names((Column("x1"), Column("x0")))
