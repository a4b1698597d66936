import numpy as np
import pytest
import scipy.sparse

from thalweg.core.errors import StorageError
from thalweg.kernels import scores
from thalweg.runs.linear_model import FILE, LinearModel, read_linear_model

NUMBERS = LinearModel(np.array([2.0, -1.0]), np.array(0.5), np.empty(0, np.int64), "squared", ())


def test_scores_by_hand_dense_and_sparse_in_blocks(monkeypatch):
    monkeypatch.setattr(scores, "BLOCK", 4)  # two dense rows
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [3.0, 2.0], [0.0, 0.0]])
    expected = [2.5, -0.5, 1.5, 4.5, 0.5]
    assert NUMBERS.scores(X).tolist() == expected
    assert NUMBERS.scores(X.astype(np.float32)).dtype == np.float64
    assert NUMBERS.scores(scipy.sparse.csr_array(X)).tolist() == expected
    assert NUMBERS.answers(X).values.tolist() == expected


def test_a_class_that_no_training_row_had_has_probability_zero():
    W = np.array([[1.0, -1.0]])
    model = LinearModel(W, np.zeros(2), np.array([0, 2]), "multinomial", ("a", "b", "c"))
    values, odds = model.answers(np.array([[1.0], [-1.0]]))
    assert values.tolist() == [0, 2]
    assert odds[:, 1].tolist() == [0.0, 0.0]
    assert odds.sum(axis=1) == pytest.approx(1.0)


def test_to_disk_and_back(tmp_path):
    (tmp_path / FILE).write_bytes(NUMBERS.to_bytes())
    back = read_linear_model(tmp_path, "squared", (), 2)
    assert back.coefficients.tolist() == NUMBERS.coefficients.tolist()
    assert back.intercepts == NUMBERS.intercepts


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 torn", b"\x80\x04pickle"])
def test_a_damaged_file_is_a_sentence(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(StorageError, match=r"model.npz is damaged .* train again"):
        read_linear_model(tmp_path, "squared", (), 2)
