import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from thalweg.core.errors import InputError
from thalweg.tables.load import load


def test_every_format_is_read_by_its_reader(tmp_path):
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    frame.write_csv(tmp_path / "t.csv")
    frame.write_csv(tmp_path / "t.tsv", separator="\t")
    frame.write_parquet(tmp_path / "t.parquet")
    np.save(tmp_path / "t.npy", np.eye(2))
    np.savez(tmp_path / "t.npz", X=np.eye(2))
    (tmp_path / "t").write_text("1 1:2\n")
    (tmp_path / "images").write_bytes(b"\x00\x00\x08\x02\x00\x00\x00\x01\x00\x00\x00\x02ab")
    named = {name: load(tmp_path / name).format for name in ("t.csv", "t.tsv", "t.parquet", "t")}
    assert named == {"t.csv": "CSV", "t.tsv": "TSV", "t.parquet": "Parquet", "t": "svmlight"}
    assert load(str(tmp_path / "t.npy")).format == "NPY"
    assert load(tmp_path / "t.npz").format == "NPZ"
    assert load(tmp_path).format == "IDX"
    assert load("@iris").format == "built-in"


def test_a_misnamed_file_is_noted(tmp_path):
    pl.DataFrame({"a": [1.0]}).write_parquet(tmp_path / "t.csv")
    assert load(tmp_path / "t.csv").notes == ["t.csv is named as CSV and holds Parquet"]


def test_what_is_in_memory_already():
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", None]})
    assert load(frame).X is frame
    assert load({"a": [1, 2], "b": ["x", None]}).X.equals(frame)
    assert load(pd.DataFrame({"a": [1, 2], "b": ["x", None]})).X.equals(frame)
    held = np.ones((2, 3, 4), np.int16)
    assert (load(held).X.shape, load(held).sample_shape) == ((2, 12), (3, 4))
    matrix = np.eye(2)
    assert not np.shares_memory(load(matrix).X, matrix)
    assert load(scipy.sparse.coo_array(matrix)).X.format == "csr"


@pytest.mark.parametrize("source", [3, None, [1, 2], np.ones(3), {"a": [1, 2], "b": [1]}])
def test_other_things_are_one_sentence(source):
    with pytest.raises(InputError, match="source must"):
        load(source)


def test_pixels_become_numbers_from_0_to_1_wherever_they_come_from(tmp_path):
    pixels = np.array([[[0, 51], [255, 102]]], np.uint8)
    np.save(tmp_path / "a.npy", pixels)
    np.savez(tmp_path / "a.npz", X=pixels, y=[1])
    for source in (pixels, tmp_path / "a.npy", tmp_path / "a.npz"):
        raw = load(source)
        assert raw.X.tolist() == [[0.0, np.float32(0.2), 1.0, np.float32(0.4)]]
        assert raw.notes == ["pixels, 0 to 255, became numbers from 0 to 1"]
    flat = load(pixels.reshape(1, 4))  # a row of bytes may be anything
    assert flat.X.tolist() == [[0.0, 51.0, 255.0, 102.0]]
    assert pixels[0, 0, 1] == 51
