import sys

import polars as pl
import pytest

from thalweg.tables import child
from thalweg.tables.child import ChildError, read_apart


def test_the_frame_that_polars_makes(tmp_path):
    frame = pl.DataFrame({"a": [1.5, None], "b": ["x", None], "c": [True, False]})
    frame.write_parquet(tmp_path / "t.parquet")
    found = read_apart("read_parquet", tmp_path / "t.parquet", {"glob": False}, 1 << 30)
    assert found.equals(frame)


def test_what_polars_says_is_the_error(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,2,3\n")
    with pytest.raises(ChildError, match="more fields"):
        read_apart("read_csv", tmp_path / "t.csv", {}, 1 << 30)


def test_a_child_that_is_ended_by_a_signal_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(child, "START", "import os; os.abort()")
    with pytest.raises(ChildError, match="broke off, by SIGABRT"):
        read_apart("read_parquet", tmp_path / "t.parquet", {}, 1 << 30)


def test_more_memory_than_allowed_is_an_error_and_not_the_end(tmp_path):
    pl.DataFrame({"a": pl.repeat(1.0, 30_000_000, eager=True)}).write_parquet(
        tmp_path / "t.parquet"
    )
    assert (tmp_path / "t.parquet").stat().st_size < 1 << 20
    with pytest.raises(ChildError):
        read_apart("read_parquet", tmp_path / "t.parquet", {}, -(1 << 30) + (200 << 20))


def test_a_module_in_the_folder_of_the_data_is_not_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each])
    for name in ("polars.py", "json.py", "thalweg.py"):
        (tmp_path / name).write_text("open('ran', 'w')\n")
    (tmp_path / "t.csv").write_text("a\n1\n")
    assert read_apart("read_csv", tmp_path / "t.csv", {}, 1 << 30)["a"].to_list() == [1]
    assert not (tmp_path / "ran").exists()
