import gzip
import struct

import numpy as np
import pytest
import sklearn.datasets

from thalweg.labbook import sources


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setenv("THALWEG_OFFLINE", "1")
    monkeypatch.delenv("THALWEG_DATA", raising=False)
    for each in (sources.samples, sources.images, sources._fetched):
        each.cache_clear()
    yield
    for each in (sources.samples, sources.images, sources._fetched):
        each.cache_clear()


def test_what_stands_in_says_so():
    found = sources.samples("a9a")
    assert found.name == "cancer"
    assert found.note.startswith("a9a is not here (THALWEG_DATA names its folder)")
    assert np.allclose(found.X.std(axis=0), 1.0)
    assert sorted(np.unique(found.y)) == [0, 1]
    shown = sources.images("cifar")
    assert (shown.name, shown.X.shape, shown.X_test.shape) == (
        "digits", (1297, 1, 8, 8), (500, 1, 8, 8),
    )  # fmt: skip
    assert shown.X.dtype == np.float32
    assert 0.0 <= shown.X.min() < shown.X.max() == 1.0
    assert "cifar is not here" in shown.note


def test_files_of_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("THALWEG_DATA", str(tmp_path))
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "covtype.npz", X=rng.integers(0, 9, (40, 3)), y=np.arange(40) % 4 + 1)
    (tmp_path / "a9a").write_text("+1 1:1 3:2\n-1 2:1\n+1 3:1\n")
    dense = sources.samples("covtype", rows=10)
    assert dense.note == "covtype, 10 of 40 rows × 3"
    assert np.allclose(dense.X.mean(axis=0), 0.0)
    whole = sources.samples("covtype")
    assert whole.y.sum() == 10  # class 2 of 4 against the rest
    sparse = sources.samples("a9a")
    assert (sparse.X.shape, sparse.y.tolist(), sparse.note) == ((3, 3), [1, 0, 1], "a9a, 3 × 3")


def test_mnist_of_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("THALWEG_DATA", str(tmp_path))
    (tmp_path / "mnist").mkdir()
    for part, n in (("train", 30), ("t10k", 20)):
        pixels = np.full((n, 28, 28), 255, np.uint8)
        pixels[::2, 0, 0] = 51
        for kind, array in (
            ("images-idx3", pixels),
            ("labels-idx1", (np.arange(n) % 10).astype(np.uint8)),
        ):
            head = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
            file = tmp_path / "mnist" / f"{part}-{kind}-ubyte.gz"
            file.write_bytes(gzip.compress(head + array.tobytes()))
    found = sources.images("mnist")
    assert (found.name, found.X.shape, found.X_test.shape) == (
        "mnist", (30, 1, 28, 28), (20, 1, 28, 28),
    )  # fmt: skip
    assert found.X[0, 0, 0, 0] == np.float32(0.2)
    assert found.y.tolist() == [k % 10 for k in range(30)]


def test_mnist_is_fetched_where_there_is_a_network(monkeypatch):
    monkeypatch.delenv("THALWEG_OFFLINE")

    class Found:
        data = np.full((60_003, 784), 255.0)
        target = np.array(["7"] * 60_003)

    asked = []
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda *a, **k: asked.append(a) or Found)
    found = sources.images("mnist")
    assert found.note.startswith("MNIST by OpenML, 60,000 and 3 pictures of 28 × 28")
    assert found.y_test.tolist() == [7, 7, 7]

    def unreachable(*_, **__):
        asked.append("again")
        raise OSError("no network")

    sources.images.cache_clear()
    sources._fetched.cache_clear()
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", unreachable)
    assert sources.images("mnist").name == "digits"
    sources.images.cache_clear()
    assert sources.images("mnist").name == "digits"
    assert asked == [("mnist_784",), "again"]  # asked once a process
