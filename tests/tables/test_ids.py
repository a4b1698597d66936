import numpy as np
import polars as pl
import pytest

import thalweg as tw
from thalweg.tables.ids import expected_pairs, is_id, pairs_of, unit_of, words_of

SIZES = (20, 30, 50, 100, 300, 1000, 5000)


def series(values, name="quantity"):
    return pl.Series(name, values)


def measured(rng, n):
    """Whole numbers and others that say something, of many shapes."""
    seconds = 1.6e9 + np.sort(rng.uniform(0.0, 1e8, n))
    return {
        "age": rng.integers(18, 90, n),
        "cents": rng.lognormal(8, 1, n).astype(int),
        "salary": rng.lognormal(10.5, 0.5, n).astype(int),
        "population": rng.lognormal(9, 2, n).astype(int),
        "rounded": np.round(rng.lognormal(10, 1, n), -2).astype(int),
        "bytes": rng.lognormal(14, 2, n).astype(int),
        "year": 1950 + np.arange(n) % 75,
        "seconds": seconds.astype(int),
        "hourly": 1_600_000_000 + 3600 * np.arange(n),
        "days": [20200101 + 100 * (k // 28 % 12) + k % 28 + 10000 * (k // 336) for k in range(n)],
        "visits": rng.poisson(5, n),
        "elevation": rng.integers(0, 3000, n),
        "wide": rng.integers(0, 10**8, n),
        "two sizes": np.append(rng.integers(0, 10, n // 2), rng.integers(10**5, 10**7, n - n // 2)),
        "area": rng.normal(100, 30, n),
        "share": rng.random(n),
        "town": rng.choice(["a", "b", "c"], n),
        "designed": 50 + 7 * np.arange(min(n, 60)) % 90,
        "grid": 10 * np.arange(min(n, 1000)),
    }


def names(rng, n):
    """What names rows."""
    some = rng.choice(3 * n, n, replace=False)
    drawn = some if n >= 2000 else 1000 + some
    return {
        "counted": 1001 + np.arange(n), "shuffled": rng.permutation(n), "drawn": drawn,
        "codes": 10**6 + some, "hash": [f"{k:08x}" for k in rng.choice(2**32, n, replace=False)],
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(1000, 1040))
def test_nothing_that_was_measured_is_taken_for_an_id(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice(SIZES))
    taken = [name for name, values in measured(rng, n).items() if is_id(series(values, name))]
    assert taken == []


@pytest.mark.parametrize("seed", range(1000, 1040))
def test_what_names_rows_is_found(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice(SIZES[4:]))
    left = [name for name, values in names(rng, n).items() if not is_id(series(values, name))]
    assert left == []
    wide = rng.choice(10**9, 40, replace=False)
    assert not is_id(series(wide))  # forty prices may all differ
    for name in ("id", "customerId", "Customer ID", "order_no", "Kunden-Nr", "UUID", "row index"):
        assert is_id(series(wide, name)), name
    for name in ("paid", "idle", "note", "nocturnal"):
        assert not is_id(series(wide, name)), name


def test_pairs_by_hand():
    assert pairs_of(np.array([1.0, 1, 1, 2, 3, 3])) == 4
    assert pairs_of(np.arange(5.0)) == 0
    assert expected_pairs(np.arange(100.0)) == pytest.approx(49.5, rel=0.15)


@pytest.mark.parametrize("seed", range(5))
def test_pairs_are_as_many_as_are_drawn(seed):
    """Of values that are drawn, each by itself, on average as many pairs are equal."""
    rng = np.random.default_rng(seed)
    found, expected = [], []
    for _ in range(100):
        values = np.sort(np.round(rng.lognormal(7, 1, 400)))
        found.append(pairs_of(values))
        expected.append(expected_pairs(values))
    assert np.mean(expected) == pytest.approx(np.mean(found), rel=0.25)


def test_a_few_repeated_rows_do_not_hide_an_id():
    ids = np.arange(1000)
    assert is_id(series(np.append(ids, ids[:10])))
    assert not is_id(series(np.append(ids, ids)))
    assert is_id(series([None, *range(100)]))
    assert not is_id(series(range(100), "x"))  # a variable


def test_words_of_a_name():
    assert words_of("customerId") == words_of("Customer ID") == words_of("customer_id")
    assert words_of("HTTPCode") == ["http", "code"]


@pytest.mark.parametrize(
    ("texts", "unit"),
    [
        (["1,5 €", "2 €"], "€"), (["$1,500", "$2"], "$"), (["5%", "7.5%"], "%"),
        (["12 kg", "13.5 kg"], "kg"), (["12 kg", "13 lb"], ""), (["A12", "A13"], ""),
        (["12-3", "13-4"], ""), (["flat 12", "flat 13"], ""), (["12 km/h", "8 km/h"], "km/h"),
    ],
)  # fmt: skip
def test_units(texts, unit):
    assert unit_of(series(texts)) == unit


def test_ids_are_left_out_with_a_note_unless_they_are_kept_or_all_there_is():
    rng = np.random.default_rng(0)
    rows = {"id": np.arange(60), "name": [f"n{k}" for k in range(60)], "x": rng.normal(size=60)}
    table = tw.read(rows)
    assert table.feature_names == ["x"]
    assert table.encoding.left_out == ("id", "name")
    assert any("'id', 'name' name rows" in note for note in table.notes)
    assert table.encoding.table(rows).notes == ()  # that they are there is nothing new
    assert len(tw.read(rows, ids="keep", max_categories=60).feature_names) == 62
    assert len(tw.read(rows, drop=["name"], ids="keep").feature_names) == 2
    assert tw.read(rows, text=["name"], max_categories=60).X.shape == (60, 61)
    with pytest.raises(tw.ThalwegError, match=r"more of a row than .* got 'id': .* ids='keep'"):
        tw.read({"id": np.arange(60)})


def test_numbers_with_their_unit_are_no_ids():
    rows = {"price": [f"{k + 0.5} €" for k in range(60)], "x": np.arange(60) / 7}
    with pytest.raises(tw.ThalwegError, match=r"'price' must hold numbers without '€' .*'0.5 €'"):
        tw.read(rows)
