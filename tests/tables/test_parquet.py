import contextlib
import gzip

import polars as pl
import pytest

from thalweg.core.errors import InputError
from thalweg.tables.parquet import read_parquet

FRAME = pl.DataFrame({"a": [1.5, None], "b": ["x", "y"], "c": pl.Series([1, 2], dtype=pl.Int8)})


@pytest.mark.parametrize("is_compressed", [False, True])
def test_columns_keep_their_types(tmp_path, is_compressed):
    path = tmp_path / "t.parquet"
    FRAME.write_parquet(path)
    if is_compressed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert read_parquet(path).X.equals(FRAME)


@pytest.mark.parametrize("cut", [slice(0, -30), slice(0, 50)])
def test_cut_off_or_empty_is_one_sentence(tmp_path, cut):
    path = tmp_path / "t.parquet"
    FRAME.write_parquet(path)
    path.write_bytes(path.read_bytes()[cut])
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read_parquet(path)
    FRAME[:0].write_parquet(path)
    with pytest.raises(InputError, match="holds no rows: 3 columns"):
        read_parquet(path)


def test_a_name_is_no_pattern(tmp_path):
    for name, value in (("p[1].parquet", 1.0), ("p1.parquet", 2.0), ("p*.parquet", 3.0)):
        pl.DataFrame({"a": [value]}).write_parquet(tmp_path / "t.parquet")
        (tmp_path / "t.parquet").rename(tmp_path / name)
        assert read_parquet(tmp_path / name).X["a"].to_list() == [value]


def test_damage_that_ends_the_process_that_reads_is_one_sentence(tmp_path, capfd):
    # Damage to this file was seen to end in SIGABRT, in a panic, or in an error, by the byte.
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": range(50), "b": ["x", "y"] * 25}).write_parquet(path)
    content = path.read_bytes()
    for place in range(len(content) - 60, len(content) - 8, 9):
        path.write_bytes(content[:place] + b"\xff" + content[place + 1 :])
        with contextlib.suppress(InputError):
            read_parquet(path)
    assert capfd.readouterr().err == ""


def test_whole_numbers_of_128_bits_are_numbers(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": pl.Series([1, 2**100], dtype=pl.Int128)}).write_parquet(path)
    assert read_parquet(path).X["a"].to_list() == [1.0, 2.0**100]
