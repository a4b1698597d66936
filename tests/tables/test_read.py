"""From files to numbers and back to a sentence where that cannot be."""

import bz2
import gzip
import lzma
import os
import pickle

import numpy as np
import polars as pl
import pytest

import thalweg as tw
from thalweg.core.errors import InputError

CSV = "age,town,when,bought\n20,A,2020-01-01,no\n40,B,2020-01-02,yes\n60,A,2020-01-03,no\n"


@pytest.mark.parametrize(
    ("suffix", "press"),
    [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)],
)
def test_csv_by_hand_compressed_or_not(tmp_path, suffix, press):
    path = tmp_path / f"t.csv{suffix}"
    path.write_bytes(press(CSV.encode()))
    table = tw.read(path, "bought", drop=["when"], sparse=False)
    assert table.X.tolist() == [[20, 1, 0], [40, 0, 1], [60, 1, 0]]
    assert table.y.tolist() == [0, 1, 0]
    assert table.feature_names == ["age", "town=A", "town=B"]
    assert table.class_names == ["no", "yes"]
    assert (table.rows, table.format, table.source) == (3, "CSV", str(path))


def test_every_format_gives_the_same_numbers(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.integers(0, 2, 20)
    columns = {f"x{j}": X[:, j] for j in range(3)} | {"y": y}
    frame = pl.DataFrame(columns)
    frame.write_csv(tmp_path / "t.csv")
    frame.write_csv(tmp_path / "t.tsv", separator="\t")
    frame.write_parquet(tmp_path / "t.parquet")
    np.savez(tmp_path / "t.npz", X=X, y=y)
    np.save(tmp_path / "t.npy", np.column_stack([X, y]))
    lines = (
        " ".join([str(c), *(f"{j + 1}:{v!r}" for j, v in enumerate(r.tolist()))])
        for r, c in zip(X, y, strict=True)
    )
    (tmp_path / "t.svm").write_text("\n".join(lines))
    targets = {
        "t.csv": "y",
        "t.tsv": -1,
        "t.parquet": "y",
        "t.npz": None,
        "t.npy": 3,
        "t.svm": None,
    }
    for name, target in targets.items():
        table = tw.read(tmp_path / name, target, sparse=False)
        np.testing.assert_array_equal(table.X, X)
        assert table.y.tolist() == y.tolist()
        assert table.class_names == ["0", "1"]
        np.testing.assert_array_equal(table.encoding.apply(tmp_path / name), X)


def test_a_table_is_what_a_linear_problem_takes():
    table = tw.read("@cancer")
    problem = tw.LinearProblem(table.X, table.y, "logistic", l2=1.0, standardize=True)
    assert tw.minimize(problem, "lbfgs", tol=1e-3, progress=False).converged


def test_images_keep_their_shape(tmp_path):
    assert tw.read("@digits").encoding.sample_shape == (8, 8)
    assert tw.read("@digits", drop=["pixel_0_0"]).encoding.sample_shape == ()


def garbage(path):
    path.write_bytes(np.random.default_rng(0).bytes(5000))


def cut_gzip(path):
    path.write_bytes(gzip.compress(np.random.default_rng(0).bytes(50_000))[:9000])


def cut_parquet(path):
    pl.DataFrame({"a": range(1000)}).write_parquet(path)
    path.write_bytes(path.read_bytes()[:-50])


def text(content):
    return lambda path: path.write_text(content)


def archive(**arrays):
    def write(path):
        with path.open("wb") as stream:
            np.savez(stream, **arrays)

    return write


def binary(content):
    return lambda path: path.write_bytes(content)


class Evil:
    def __reduce__(self):
        return os.mkdir, ("opened-a-pickle",)


BAD = {
    "no file": ("t.csv", None, {}, "does not exist"),
    "a folder": ("t", lambda path: path.mkdir(), {}, "a folder without IDX files"),
    "empty": ("t.csv", binary(b""), {}, "is empty"),
    "empty inside gzip": ("t.csv.gz", binary(gzip.compress(b"")), {}, "is empty"),
    "header only": ("t.csv", text("a,b\n"), {}, "a header and no rows"),
    "garbage": ("t.dat", garbage, {}, "is binary|not UTF-8"),
    "garbage as csv": ("t.csv", garbage, {}, "is binary|not UTF-8"),
    "garbage as npz": ("t.npz", garbage, {}, "named as NPZ and is not"),
    "garbage as parquet": ("t.parquet", garbage, {}, "named as Parquet and is not"),
    "cut gzip": ("t.csv.gz", cut_gzip, {}, "cut off or damaged"),
    "cut parquet": ("t.parquet", cut_parquet, {}, "cannot be read as Parquet"),
    "pickle": ("t.pkl", binary(pickle.dumps(Evil())), {}, "is a pickle"),
    "pickle as csv": ("t.csv", binary(pickle.dumps(Evil())), {}, "is a pickle"),
    "pickle in npz": ("t.npz", archive(X=np.array([[Evil()]], object)), {}, "pickled objects"),
    "pickled labels": (
        "t.npz",
        archive(X=np.eye(1), y=np.array([Evil()], object)),
        {},
        "y is pickled",
    ),
    "npz without X": ("t.npz", archive(A=np.eye(2)), {}, "must hold an array X"),
    "labels of other length": ("t.npz", archive(X=np.eye(2), y=np.ones(3)), {}, "one label a row"),
    "ragged": ("t.csv", text("a,b\n1,2\n1,2,3\n"), {}, "2 fields in every line"),
    "duplicate names": ("t.csv", text("a,a\n1,2\n"), {}, "name every column once"),
    "latin1": ("t.csv", binary("a,b\né,1\n".encode("latin1")), {}, "not UTF-8"),
    "utf16": ("t.csv", binary(CSV.encode("utf-16")), {}, "UTF-16"),
    "dates": ("t.csv", text(CSV), {"target": "bought"}, "'when' holds dates"),
    "unknown target": ("t.csv", text(CSV), {"target": "bougth"}, "did you mean 'bought'"),
    "target out of range": ("t.csv", text(CSV), {"target": 9}, "target 9 is no column"),
    "no target values": ("t.csv", text("a,t\n1,\n2,NA\n"), {"target": "t"}, "must have values"),
    "one class": ("t.csv", text("a,t\n1,x\n2,x\n"), {"target": "t"}, "two values at least"),
    "only a target": ("t.csv", text("t,u\n1,2\n"), {"target": "t", "drop": ["u"]}, "none left"),
    "drop unknown": ("t.csv", text(CSV), {"drop": ["wen"]}, "did you mean 'when'"),
    "missing values": ("t.csv", text("a,b\n1,\n2,3\n"), {}, "got 1 of 2 rows in 1 column"),
    "no values": ("t.csv", text("a,b\n1,\n2,\n"), {"impute": "mean"}, "'b' must hold a value"),
    "infinite": ("t.csv", text("a\n1\ninf\n"), {}, "'a' must be finite"),
    "categories": (
        "t.csv",
        text("a,b\nx,1\ny,2\n"),
        {"max_categories": 1},
        "got 2: raise the limit",
    ),
    "impute unknown": ("t.csv", text("a\n1\n"), {"impute": "mode"}, "impute must be a known name"),
    "dtype unknown": ("t.csv", text("a\n1\n"), {"dtype": "int8"}, "dtype must be a known name"),
    "limit of none": ("t.csv", text("a\n1\n"), {"max_categories": 0}, "max_categories must be"),
    "unknown built-in": ("@canser", None, {}, "did you mean '@cancer'"),
    "prose": ("notes.md", text("Some words\n"), {}, "no known format"),
    "bad svmlight": ("t.svm", text("1 2:a\n"), {}, "cannot be read as svmlight"),
    "huge idx": ("images", binary(b"\x00\x00\x08\x04" + b"\xff" * 16), {}, "does not fit"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_and_arguments_are_one_sentence(tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    name, write, options, sentence = BAD[case]
    if write is not None:
        write(tmp_path / name)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(InputError, match=sentence) as caught:
        tw.read(name, **options)
    assert "\n" not in str(caught.value)
    assert sorted(tmp_path.iterdir()) == before  # no pickle was opened, nothing was written


def test_missing_adds_to_the_usual_texts_and_none_means_none(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,NA\n-,x\n3,y\n")
    table = tw.read(tmp_path / "t.csv", missing=["-"], impute="mean", sparse=False)
    assert (table.X[:, 0].tolist(), table.missing) == ([1, 2, 3], {"a": 1, "b": 1})
    table = tw.read(tmp_path / "t.csv", missing=None, drop=["a"], sparse=False)
    assert table.feature_names == ["b=NA", "b=x", "b=y"]


def test_without_polars_text_says_how_to_get_it_and_arrays_are_read(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    (tmp_path / "t.csv").write_text(CSV)
    with pytest.raises(InputError, match="pip install polars"):
        tw.read(tmp_path / "t.csv")
    np.savez(tmp_path / "t.npz", X=np.eye(2), y=[0, 1])
    assert tw.read(tmp_path / "t.npz").rows == 2
    assert tw.read("@iris").rows == 150
