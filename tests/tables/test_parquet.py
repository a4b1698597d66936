import gzip
import os

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


def test_damage_that_makes_polars_panic_is_one_sentence_alone(tmp_path, capfd, monkeypatch):
    path = tmp_path / "t.parquet"
    FRAME.write_parquet(path)

    def panic(_):
        os.write(2, b"thread panicked at crates/polars-parquet: stack backtrace")
        raise pl.exceptions.PanicException("thrift bool field\nmore")

    monkeypatch.setattr(pl, "read_parquet", panic)
    with pytest.raises(InputError, match=r"cannot be read as Parquet .thrift bool field.:"):
        read_parquet(path)
    assert capfd.readouterr().err == ""
