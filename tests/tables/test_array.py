import gzip

import numpy as np
import pytest
import scipy.sparse

from thalweg.core.errors import InputError
from thalweg.tables import array
from thalweg.tables.array import float_type, read_npy, read_npz

X = np.arange(12.0).reshape(4, 3)


def saved(tmp_path, **arrays):
    path = tmp_path / "t.npz"
    np.savez_compressed(path, **arrays)
    return path


@pytest.mark.parametrize(
    ("kind", "into"),
    [
        ("u1", "f4"),
        ("i2", "f4"),
        ("?", "f4"),
        ("f2", "f4"),
        (">f4", "f4"),
        ("i4", "f8"),
        ("f8", "f8"),
    ],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_become_the_smallest_float_that_holds_them(
    tmp_path, monkeypatch, kind, into, order
):
    monkeypatch.setattr(array, "BLOCK", 16)  # several blocks, and a part of one
    values = X.astype(kind)
    np.save(tmp_path / "t.npy", np.asarray(values, order=order))
    found = read_npy(tmp_path / "t.npy").X
    np.testing.assert_array_equal(found, values.astype(into))
    assert found.dtype == into == float_type([values.dtype])
    assert found.flags.c_contiguous
    assert read_npy(tmp_path / "t.npy", "float32").X.dtype == np.float32


def test_npz_with_labels_and_what_is_left(tmp_path):
    raw = read_npz(saved(tmp_path, X=X, y=np.array(list("abab")), X_test=X, n_train=3))
    assert raw.X.tolist() == X.tolist()
    assert raw.y.tolist() == list("abab")
    assert raw.notes == ["t.npz also holds X_test, n_train, not read"]
    raw = read_npz(saved(tmp_path, X_train=X, y=X[:, 0], age=X[:, [1]]), "age")
    assert (raw.target, raw.y.tolist()) == ("age", [1, 4, 7, 10])


def test_images_are_rows_that_know_their_shape(tmp_path):
    raw = read_npz(saved(tmp_path, X=np.zeros((5, 3, 2, 2), np.uint8)))
    assert (raw.X.shape, raw.sample_shape, raw.y) == ((5, 12), (3, 2, 2), None)


@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_sparse_as_scipy_saves_it(tmp_path, layout):
    held = scipy.sparse.random(6, 5, 0.4, layout, rng=np.random.default_rng(0))
    scipy.sparse.save_npz(tmp_path / "t.npz", held)
    raw = read_npz(tmp_path / "t.npz")
    assert raw.X.format == "csr"
    np.testing.assert_array_equal(raw.X.toarray(), held.toarray())


def test_compressed_once_more(tmp_path):
    path = saved(tmp_path, X=X)
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert read_npz(path).X.tolist() == X.tolist()


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"A": X}, "must hold an array X.*got A: save it with np.savez"),
        ({}, "got none"),
        ({"X": X, "y": np.ones(3)}, r"one label a row: X has 4 rows and y is of shape \(3,\)"),
        ({"X": X[0]}, r"a matrix of rows and columns, got shape \(3,\)"),
        ({"X": X[:0]}, r"shape \(0, 3\)"),
        ({"X": np.array([["a"]])}, "must hold numbers, got X of type <U1"),
        ({"X": np.array([[{}]], dtype=object)}, "pickled objects in X"),
        ({"X": X, "y": np.array([{}] * 4, dtype=object)}, "y is pickled"),
        ({"X": X.astype(complex)}, "must hold numbers"),
        ({"X": X, "y": X[:, 0] * 1j}, "labels that are numbers or text, got y of type complex128"),
        ({"X": X, "y": np.arange(4).astype("M8[D]")}, "got y of type datetime64"),
        ({"X": X, "y": 3}, r"y is of shape \(\)"),
        (
            {"data": X[0], "indices": [0, 9, 1], "indptr": [0, 3], "shape": [1, 3]},
            "no CSR or CSC matrix that fits",
        ),
    ],
)
def test_bad_archives_are_one_sentence(tmp_path, arrays, sentence):
    with pytest.raises(InputError, match=sentence):
        read_npz(saved(tmp_path, **arrays))


@pytest.mark.parametrize("name", ["t.npz", "t.npy"])
@pytest.mark.parametrize("keep", [60, 140])
def test_cut_off_is_one_sentence(tmp_path, name, keep):
    path = tmp_path / name
    (np.savez if name == "t.npz" else np.save)(path, X)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InputError, match=r"cut off or damaged|is cut off"):
        (read_npz if name == "t.npz" else read_npy)(path)


def test_a_damaged_header_is_one_sentence(tmp_path):
    np.save(tmp_path / "t.npy", X)
    content = bytearray((tmp_path / "t.npy").read_bytes())
    content[content.index(b"}")] = ord("(")
    (tmp_path / "t.npy").write_bytes(content)
    with pytest.raises(InputError, match="its array is no NumPy array"):
        read_npy(tmp_path / "t.npy")


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [("(-4, 3)", "is no NumPy array"), ("(999999999, 999999)", "does not fit into memory")],
)
def test_a_shape_that_cannot_be_is_one_sentence(tmp_path, shape, sentence):
    np.save(tmp_path / "t.npy", X)
    content = (tmp_path / "t.npy").read_bytes()
    start = content.index(b"(4, 3)")
    content = content[:start] + f"{shape}, }}".ljust(127 - start).encode() + content[127:]
    (tmp_path / "t.npy").write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        read_npy(tmp_path / "t.npy")
