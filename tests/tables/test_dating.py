import datetime

import polars as pl
import pytest

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.tables.dates import dated
from thalweg.tables.dating import Dating
from thalweg.tables.problem import Unsettled

OPEN, MONTH_FIRST = ["01/02/2024", "03/04/2024"], ["01/31/2024", "03/04/2024"]


def dating(columns, way="expand", asked=None, *, has_commas=False):
    series = {name: pl.Series(name, values) for name, values in columns.items()}
    found = {name: dated(each) for name, each in series.items()}
    return Dating.of(found, way, asked, has_commas=has_commas), series


def first(columns, name, **options):
    known, series = dating(columns, **options)
    order, moments = known.moments(series[name])
    return order, moments[0].date().isoformat(), known.notes


def test_an_order_that_one_column_tells_holds_for_others():
    order, day, notes = first({"a": OPEN, "b": MONTH_FIRST}, "a")
    assert (order, day) == ("mdy", "2024-01-02")
    assert notes == ["'a' holds dates, month first: '01/02/2024' is 2024-01-02"]
    assert first({"a": OPEN, "b": ["2024-12-31"]}, "b") == ("ymd", "2024-12-31", [])


def test_what_is_open_is_as_asked_and_what_is_not_is_what_it_is():
    assert first({"a": OPEN}, "a", asked="dmy")[:2] == ("dmy", "2024-02-01")
    assert first({"a": MONTH_FIRST}, "a", asked="dmy")[:2] == ("mdy", "2024-01-31")
    assert first({"a": [datetime.date(2024, 1, 31)]}, "a")[:2] == ("", "2024-01-31")


@pytest.mark.parametrize(
    ("columns", "options", "remedy", "said"),
    [
        ({"a": MONTH_FIRST}, {"way": None}, {"dates": "expand"}, "which are not numbers"),
        ({"a": OPEN}, {}, {"date_format": "mdy"}, "day or month first"),
        ({"a": OPEN}, {"has_commas": True}, {"date_format": "dmy"}, "day or month first"),
        ({"a": ["01.02.2024"]}, {}, {"date_format": "dmy"}, "date_format='dmy'"),
        ({"a": OPEN}, {"way": None}, {"date_format": "mdy", "dates": "expand"}, "cyclic"),
        ({"a": OPEN, "b": ["31/12/2024"], "c": ["12/31/2024"]}, {}, {"date_format": "mdy"}, "say"),
        ({"a": ["2024-01-31", "2024-02-28", "-"]}, {}, {"missing": ["-"]}, r"text \('-'\)"),
        (
            {"a": [*(f"{k}.1.2024" for k in range(1, 25)), "1/31/2024", "x", "y", "z"]}, {},
            {"drop": ["a"]}, "in one order",
        ),
    ],
)  # fmt: skip
def test_what_is_in_doubt(columns, options, remedy, said):
    known, series = dating(columns, **options)
    with pytest.raises(Unsettled, match=said) as caught:
        known.moments(series["a"])
    (problem,) = caught.value.problems
    assert (problem.column, problem.remedy) == ("a", remedy)


def test_a_table_of_dates(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("when;n;y\n31.12.2023 23:00;1,5;0\n;2,5;1\n01.02.2024;3;1\n")
    table = tw.read(file, "y", dates="expand", impute="median")
    assert table.feature_names == ["when.year", "when.month", "when.weekday", "when.hour", "n"]
    assert table.X.tolist() == [
        [2023, 12, 7, 23, 1.5], [2023.5, 7, 5.5, 11.5, 2.5], [2024, 2, 4, 0, 3],
    ]  # fmt: skip
    encoding = tw.Encoding.from_dict(table.encoding.to_dict())
    assert encoding == table.encoding
    later = {"n": [1.0, 2.0], "when": ["29.02.2024 1:00 PM", None]}
    assert encoding.apply(later).tolist() == [[2024, 2, 4, 13, 1], [2023.5, 7, 5.5, 11.5, 2]]
    sparse = tw.read(file, "y", dates="cyclic", impute="median", sparse=True)
    dense = tw.read(file, "y", dates="cyclic", impute="median", sparse=False)
    assert (sparse.X.toarray() == dense.X).all()
    assert sparse.X.shape == (3, 8)


def test_dates_are_no_target_and_may_be_text(tmp_path):
    rows = {"when": ["2024-01-31", "2024-02-01", "2024-01-31"], "n": [1.0, 2.0, 3.0]}
    with pytest.raises(InputError, match="target 'when' must hold numbers or classes, got dates"):
        tw.read(rows, "when")
    assert tw.read(rows, "when", text=["when"]).class_names == ["2024-01-31", "2024-02-01"]
    assert tw.read(rows, text=["when"], sparse=False).X.shape == (3, 3)
