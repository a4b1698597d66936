import gzip
import zipfile

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
    [
        ("(-4, 3)", "is no NumPy array"),
        ("(True, 3)", "is no NumPy array"),
        ("(999999999, 999999)", "does not fit into memory"),
        (f"({2**60}, 2)", "does not fit into memory"),
        (f"({10**22}, 2)", "does not fit into memory"),
        ("(4000000000, 300)", "needs 9,600.0 GB of memory for its array of shape"),
    ],
)
def test_a_shape_that_cannot_be_is_one_sentence(tmp_path, shape, sentence):
    np.save(tmp_path / "t.npy", X)
    content = (tmp_path / "t.npy").read_bytes()
    start = content.index(b"(4, 3)")
    content = content[:start] + f"{shape}, }}".ljust(127 - start).encode() + content[127:]
    (tmp_path / "t.npy").write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        read_npy(tmp_path / "t.npy")


def test_what_follows_an_array_is_refused(tmp_path):
    np.save(tmp_path / "t.npy", X)
    (tmp_path / "t.npy").write_bytes((tmp_path / "t.npy").read_bytes() + b"\0")
    with pytest.raises(InputError, match="goes on after its array"):
        read_npy(tmp_path / "t.npy")


CSR = {"data": np.ones(2), "indices": [0, 1], "indptr": [0, 1, 2], "shape": [2, 2]}


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        (CSR | {"format": np.array(["csr", "csr"])}, "no CSR or CSC matrix that fits"),
        (CSR | {"format": np.array(b"\xff\xfe")}, "must hold text in UTF-8, got format"),
        (CSR | {"indices": np.array([0.5, 1.0])}, "indices must be whole numbers, got float64"),
        (CSR | {"indptr": np.array([0.0, 1.0, 2.0])}, "indptr must be whole numbers"),
        (CSR | {"shape": np.array([True, True])}, "shape must be whole numbers"),
        (CSR | {"shape": [2, 2, 2]}, "too many values"),
        ({"X": X, "y": np.array([b"a", b"\xff", b"b", b"c"])}, "must hold text in UTF-8, got y"),
        ({"X": X, "y": np.array(list("abc\ud800"))}, "must hold text in UTF-8, got y"),
    ],
)
def test_archives_that_do_not_fit_together_are_one_sentence(tmp_path, arrays, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        read_npz(saved(tmp_path, **arrays))
    assert "\n" not in str(caught.value)


def test_text_beyond_unicode_is_one_sentence(tmp_path):
    path = saved(tmp_path, X=X, y=np.array([0xFFFFFFFF] * 4, np.uint32).view("U1"))
    with pytest.raises(InputError, match="must hold text in UTF-8, got y"):
        read_npz(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_array_that_is_there_twice_is_one_sentence(tmp_path):
    path = saved(tmp_path, X=X)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("X.npy", archive.read("X.npy"))
    with pytest.raises(InputError, match="every array once, got 'X' 2 times"):
        read_npz(path)


def test_encrypted_archives_are_one_sentence(tmp_path):
    path = saved(tmp_path, X=X)
    content = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + place] |= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"is encrypted \(X\)"):
        read_npz(path)


def test_entries_that_are_there_twice_are_their_sum(tmp_path):
    raw = read_npz(
        saved(tmp_path, data=np.array([1.0, 2.0]), indices=[0, 0], indptr=[0, 2], shape=[1, 2])
    )
    assert (raw.X.nnz, raw.X.toarray().tolist()) == (1, [[3, 0]])
