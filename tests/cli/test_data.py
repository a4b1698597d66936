import gzip

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import dump_svmlight_file

from thalweg.cli.data import BUILT_IN, read
from thalweg.core.errors import InputError

X = np.array([[1.0, 0.0], [0.0, 2.5], [3.0, 0.0]])
Y = np.array([0.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("name", "shape", "loss"),
    [
        ("@cancer", (569, 30), "logistic"),
        ("@diabetes", (442, 10), "squared"),
        ("@digits", (1797, 64), "multinomial"),
        ("@iris", (150, 4), "multinomial"),
        ("@wine", (178, 13), "multinomial"),
    ],
)
def test_built_in(name, shape, loss):
    found = read(name)
    assert found.X.shape == shape
    assert len(found.names) == shape[1]
    assert found.loss == loss
    assert name in BUILT_IN


def test_classes_have_their_names():
    assert np.unique(read("@cancer").y).tolist() == ["benign", "malignant"]


def test_npz(tmp_path):
    np.savez(tmp_path / "a.npz", X=X, y=Y, other=10.5 * Y)
    found = read(str(tmp_path / "a.npz"))
    np.testing.assert_array_equal(found.X, X)
    assert found.loss == "logistic"
    assert read(str(tmp_path / "a.npz"), "other").loss == "squared"


@pytest.mark.parametrize("name", ["a.svmlight", "a.libsvm", "a.svm", "a.svm.gz"])
def test_svmlight(tmp_path, name):
    plain = tmp_path / "plain"
    dump_svmlight_file(X, Y, str(plain), zero_based=False)
    content = plain.read_bytes()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    found = read(str(tmp_path / name))
    assert scipy.sparse.issparse(found.X)
    np.testing.assert_array_equal(found.X.toarray(), X)
    np.testing.assert_array_equal(found.y, Y)


def test_csv_with_the_target_anywhere(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("\ufeffa,kind,b\n1,x,2\n\n3,y,4.5\n", encoding="utf-8")
    found = read(str(file), "kind")
    assert found.names == ["a", "b"]
    np.testing.assert_array_equal(found.X, [[1.0, 2.0], [3.0, 4.5]])
    assert found.y.tolist() == ["x", "y"]
    assert found.loss == "logistic"


def test_whole_numbers_are_classes_while_they_are_few(tmp_path):
    for count, loss in ((2, "logistic"), (3, "multinomial"), (20, "multinomial"), (21, "squared")):
        np.savez(tmp_path / "a.npz", X=np.ones((count, 1)), y=np.arange(count))
        assert read(str(tmp_path / "a.npz")).loss == loss


BAD_CSV = {
    "": "must have a header and at least one sample, got an empty file",
    "a,y\n": "must have at least one sample, got none",
    "1,2\n3,4\n": "must begin with the names of its columns, got numbers",
    "a,b\n1,2\n": "target must be a column of .*, got 'y': .*Known: a, b",
    "a,y\n1,2\n3\n": "must have 2 cells in every line, got 1 in line 3",
    "a,y\n1,2\nred,3\n": "must hold numbers, got 'red' in line 3, column 'a'",
    "a,y\n,2\n": "must hold numbers, got nothing in line 2, column 'a'",
    "a,a,y\n1,2,3\n": "must name every column once, got 'a' twice",
}


@pytest.mark.parametrize("content", BAD_CSV)
def test_bad_csv(tmp_path, content):
    file = tmp_path / "a.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=BAD_CSV[content]):
        read(str(file), "y")


def test_csv_without_a_target_names_its_columns(tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,2\n")
    with pytest.raises(InputError, match="has the columns a, y: name the one to predict"):
        read(str(tmp_path / "a.csv"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.npz", b"\x00garbage", "must hold arrays of numbers|cannot be read"),
        ("a.npz", b"PK\x03\x04 cut", "cannot be read"),
        ("a.svm", b"\x89\xff\x00 not numbers", "must have lines such as 1 3:0.5 7:1"),
        ("a.svm.gz", b"not a gzip file", "cannot be read"),
        ("a.svm.gz", gzip.compress(b"1 1:2\n" * 1000)[:30], "cannot be read"),
        ("a.csv", b"a,y\n\xff\xfe,2\n", "cannot be read"),
        ("a.csv.gz", gzip.compress(b"a,y\n1,2\n"), "must be data of a known kind"),
        ("a.pkl", b"\x80\x04.", "must be data of a known kind"),
        ("a", b"", "must be data of a known kind"),
    ],
)
def test_files_that_are_not_what_they_say(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read(str(tmp_path / name), "y" if ".csv" in name else None)


def test_places_where_no_data_are(tmp_path):
    with pytest.raises(InputError, match="got a folder"):
        read(str(tmp_path))
    with pytest.raises(InputError, match="must be a file that is there"):
        read(str(tmp_path / "none.csv"))
    with pytest.raises(InputError, match="did you mean '@cancer'"):
        read("@cancr")
    with pytest.raises(InputError, match="it has its own"):
        read("@iris", "kind")
    np.savez(tmp_path / "a.npz", X=X)
    with pytest.raises(InputError, match="must hold the arrays X and y, got X"):
        read(str(tmp_path / "a.npz"))
    (tmp_path / "a.svm").write_text("1 1:2\n")
    with pytest.raises(InputError, match="labels come first"):
        read(str(tmp_path / "a.svm"), "y")
