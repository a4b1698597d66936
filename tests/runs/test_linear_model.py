import numpy as np
import pytest
import scipy.sparse

from thalweg.core.errors import StorageError
from thalweg.kernels import scores
from thalweg.runs.linear_model import FILE, LinearModel, read_linear_model
from thalweg.tables.column import Column
from thalweg.tables.encoding import Encoding

NUMBERS = LinearModel(np.array([2.0, -1.0]), np.array(0.5), np.empty(0, np.int64), "squared", ())
TWO = Encoding((Column("x0"), Column("x1")))
NAMED = Encoding((Column("age"), Column("town", "text", ("Bern",))))


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
    back = read_linear_model(tmp_path, "squared", TWO)
    assert back.coefficients.tolist() == NUMBERS.coefficients.tolist()
    assert back.intercepts == NUMBERS.intercepts
    assert back.features == ()
    assert back.means is None


def test_names_and_spreads_go_to_disk_and_back(tmp_path):
    mean, deviation = np.array([40.0, 0.25]), np.array([9.0, 0.4])
    model = NUMBERS._replace(features=("age", "town=Bern"), means=mean, deviations=deviation)
    (tmp_path / FILE).write_bytes(model.to_bytes())
    assert np.load(tmp_path / FILE)["features"].tolist() == ["age", "town=Bern"]
    back = read_linear_model(tmp_path, "squared", NAMED)
    assert back.features == ("age", "town=Bern")
    assert back.means.tolist() == mean.tolist()
    assert back.deviations.tolist() == deviation.tolist()
    with pytest.raises(StorageError, match=r"features are not those of encoding\.json"):
        read_linear_model(tmp_path, "squared", Encoding((Column("age"), Column("height"))))


@pytest.mark.parametrize("wrong", [np.ones(3), np.array([1.0, np.nan]), np.array(["a", "b"])])
def test_spreads_that_do_not_fit_are_a_sentence(tmp_path, wrong):
    (tmp_path / FILE).write_bytes(NUMBERS._replace(deviations=wrong).to_bytes())
    with pytest.raises(StorageError, match="deviations are no number for each of 2 features"):
        read_linear_model(tmp_path, "squared", TWO)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 torn", b"\x80\x04pickle"])
def test_a_damaged_file_is_a_sentence(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(StorageError, match=r"model.npz is damaged .* train again"):
        read_linear_model(tmp_path, "squared", TWO)
