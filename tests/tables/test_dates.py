import calendar
import datetime
import re

import numpy as np
import polars as pl
import pytest

from thalweg.tables.dates import PARTS, PATTERN, as_moments, dated, moments, parts_of, values_of


def series(*values, **options):
    return pl.Series("c", values, **options)


@pytest.mark.parametrize(
    ("text", "order", "meant"),
    [
        ("2024-01-31", "ymd", (2024, 1, 31)),
        ("2024-1-5 13:00", "ymd", (2024, 1, 5, 13)),
        (" 2024/02/29T23:59:59.5Z ", "ymd", (2024, 2, 29, 23, 59)),
        ("2024-01-31 13:00 +01:00", "ymd", (2024, 1, 31, 13)),
        ("31.01.2024", "dmy", (2024, 1, 31)),
        ("31.1.24 7:05", "dmy", (2024, 1, 31, 7, 5)),
        ("1/31/69", "mdy", (1969, 1, 31)),
        ("01/31/68 12:00 AM", "mdy", (2068, 1, 31, 0)),
        ("01/31/2024 12:30pm", "mdy", (2024, 1, 31, 12, 30)),
        ("29-02-2000", "dmy", (2000, 2, 29)),
    ],
)
def test_by_hand(text, order, meant):
    assert moments(series(text), order).tolist() == [datetime.datetime(*meant)]


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("2023-02-29", "ymd"), ("1900-02-29", "ymd"), ("2024-13-01", "ymd"), ("2024-00-10", "ymd"),
        ("2024-01-00", "ymd"), ("2024-04-31", "ymd"), ("24-01-31", "ymd"), ("2024-01/31", "ymd"),
        ("2024-01-31 24:00", "ymd"), ("2024-01-31 13:60", "ymd"), ("2024-01-31 13:00 PM", "ymd"),
        ("2024-01-31 0:00 AM", "ymd"), ("2024-01-31x", "ymd"), ("20240131", "ymd"), ("soon", "ymd"),
        ("31.01.024", "dmy"), ("01/31/2024", "dmy"), ("31.01.2024", "mdy"), ("0000-01-01", "ymd"),
        (None, "ymd"),
    ],
)  # fmt: skip
def test_what_is_no_date(text, order):
    assert np.isnat(moments(series(text, dtype=pl.String), order)).all()


@pytest.mark.parametrize("seed", range(20))
def test_every_order_reads_what_it_writes(seed):
    rng = np.random.default_rng(seed)
    days = [
        datetime.date(1, 1, 1) + datetime.timedelta(int(k)) for k in rng.integers(3652058, size=50)
    ]
    forms = {"ymd": "{0:04d}-{1:02d}-{2}", "dmy": "{2:02d}.{1}.{0:04d}", "mdy": "{1}/{2}/{0:04d}"}
    for order, form in forms.items():
        texts = [form.format(day.year, day.month, day.day) for day in days]
        assert [each.date() for each in moments(series(*texts), order).tolist()] == days
        assert order in dated(series(*texts)).orders


@pytest.mark.parametrize(
    ("values", "orders", "strays"),
    [
        (["2024-01-31", None, "2024-02-01 10:00"], ("ymd",), ()),
        (["31.01.2024", "01.02.2024"], ("dmy",), ()),
        (["01/31/2024", "01/02/2024"], ("mdy",), ()),
        (["01/02/2024", "03/03/2024"], ("dmy", "mdy"), ()),
        (["05/05/2024"], ("dmy", "mdy"), ()),  # the next may tell, and must not be read otherwise
        (["2024-01-31", "2024-02-01", "2024-02-02", "-"], (), ("-",)),
        (["31.01.2024", "01.02.2024", "2024-02-01"], (), ("2024-02-01",)),
        (["31.01.2024", "01/31/2024", "1.2.2024", "1/2/2024"], ("none",), ()),
    ],
)
def test_orders_and_strays(values, orders, strays):
    found = dated(series(*values))
    if orders == ("none",):
        assert found is None or not found.orders
        return
    assert (found.orders, found.strays) == (orders, strays)


@pytest.mark.parametrize(
    "values",
    [["a", "b"], ["1.2.3", "1.2.4"], ["2024"], ["1-2"], [None], [1.5], ["13:00"], ["a"] * 9],
)
def test_columns_that_are_none(values):
    assert dated(series(*values, dtype=None if values != [None] else pl.String)) is None


def test_native_dates_lose_their_zone_and_keep_their_clock():
    zoned = series(datetime.datetime(2024, 7, 1, 22)).dt.replace_time_zone("Europe/Berlin")
    assert as_moments(zoned, "").to_list() == [datetime.datetime(2024, 7, 1, 22)]
    assert dated(series(datetime.date(2024, 1, 1))).orders == ("ymd",)
    assert dated(series(datetime.time(3))) is None
    assert dated(series(datetime.timedelta(3))) is None


def test_parts_against_a_slow_definition():
    rng = np.random.default_rng(0)
    when = [
        datetime.datetime(1969, 1, 1) + datetime.timedelta(minutes=int(k))
        for k in rng.integers(5 * 10**7, size=200)
    ]
    found = values_of(as_moments(series(*when), ""), PARTS)
    for row, each in zip(found, when, strict=True):
        weekday = calendar.weekday(each.year, each.month, each.day)
        turns = [(each.month - 1) / 12, weekday / 7, each.hour / 24]
        waves = [wave(2 * np.pi * turn) for turn in turns for wave in (np.sin, np.cos)]
        expected = [each.year, each.month, weekday + 1, each.hour, *waves]
        np.testing.assert_allclose(row, expected, atol=1e-12)
    assert np.isnan(values_of(as_moments(series(None, "2024-01-31"), "ymd"), PARTS)[0]).all()


def test_hours_where_there_are_some():
    days, times = (
        as_moments(series("2024-01-31"), "ymd"),
        as_moments(series("2024-01-31 0:05"), "ymd"),
    )
    assert parts_of(days, "expand") == ("year", "month", "weekday")
    assert parts_of(times, "expand") == ("year", "month", "weekday", "hour")
    assert parts_of(days, "cyclic") == (
        "year", "month sin", "month cos", "weekday sin", "weekday cos",
    )  # fmt: skip


def test_python_and_polars_read_the_pattern_alike():
    texts = [
        "2024-01-31",
        "1.2.3",
        "a",
        "1/2/2024 1:00 PM",
        "2024-01-31T1:00:00,25+0100",
        "1-2-3-4",
    ]
    found = series(*texts).str.contains(PATTERN).to_list()
    assert found == [re.match(PATTERN, text) is not None for text in texts]
