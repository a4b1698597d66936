import numpy as np
import pytest
import scipy.sparse
import torch

from thalweg.core.errors import InputError
from thalweg.jobs.network_samples import known, pair
from thalweg.jobs.rows import Rows
from thalweg.tables.column import Column
from thalweg.tables.encoding import Encoding
from thalweg.tables.target import Target

X = np.arange(12.0).reshape(3, 4)
COLUMNS = tuple(Column(f"x{j}") for j in range(4))
CLASSES = Encoding(COLUMNS, Target("kind", ("a", "b", "c")))
NUMBERS = Encoding(COLUMNS, Target("price"))


def test_vectors_and_classes():
    x, y = pair(Rows(X, np.array([0, 2, 1])), CLASSES, "cross-entropy")
    assert (x.dtype, y.dtype, x.shape) == (torch.float32, torch.int64, (3, 4))
    assert x.tolist() == X.tolist()
    assert y.tolist() == [0, 2, 1]
    _, y = pair(Rows(X, np.array([0, 1, 1])), CLASSES, "binary-cross-entropy")
    assert y.tolist() == [[0.0], [1.0], [1.0]]


def test_numbers():
    _, y = pair(Rows(X, np.array([0.5, 2.0, 1.0])), NUMBERS, "squared")
    assert (y.dtype, y.tolist()) == (torch.float32, [[0.5], [2.0], [1.0]])


def test_images():
    shaped = Encoding(COLUMNS, NUMBERS.target, sample_shape=(2, 2))
    x, _ = pair(Rows(X, np.array([0.5, 2.0, 1.0])), shaped, "squared")
    assert x[0].tolist() == [[[0.0, 1.0], [2.0, 3.0]]]


def test_held_out_rows_without_a_known_label_are_left_out():
    rows = known(Rows(X, np.array([1, -1, 0])))
    assert (rows.X.tolist(), rows.y.tolist()) == (X[[0, 2]].tolist(), [1, 0])
    rows = known(Rows(X, np.array([np.nan, 2.0, np.nan])))
    assert (rows.X.tolist(), rows.y.tolist()) == (X[[1]].tolist(), [2.0])
    whole = Rows(X, np.array([1, 2, 0]))
    assert known(whole) is whole
    with pytest.raises(InputError, match="held-out rows must have labels"):
        known(Rows(X, np.array([-1, -1, -1])))


@pytest.mark.parametrize(
    ("rows", "encoding", "sentence"),
    [
        (Rows(X * 1e39, np.array([1.0, 2, 0])), NUMBERS, "finite in float32.* in row 0"),
        (
            Rows(scipy.sparse.csr_array((200_000, 3000)), np.zeros(200_000)),
            NUMBERS,
            "got 200,000 × 3,000 sparse ones, which would take 2.4 GB: use a linear model",
        ),
    ],
)
def test_bad_input(rows, encoding, sentence):
    with pytest.raises(InputError, match=sentence):
        pair(rows, encoding, "cross-entropy" if encoding is CLASSES else "squared")
