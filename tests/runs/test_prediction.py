import numpy as np
import pytest

from thalweg.runs.prediction import Prediction, from_scores


def test_two_classes_by_the_sign():
    values, odds = from_scores(np.array([-2.0, 0.5]), "logistic")
    assert values.tolist() == [0, 1]
    assert odds[:, 1] == pytest.approx(1 / (1 + np.exp([2.0, -0.5])))
    assert odds.sum(axis=1) == pytest.approx(1.0)


def test_several_by_the_largest():
    z = np.array([[0.0, 1.0, 0.5]])
    values, odds = from_scores(z, "multinomial")
    assert values.tolist() == [1]
    assert odds == pytest.approx(np.exp(z) / np.exp(z).sum())


def test_a_hinge_has_no_probabilities_and_numbers_stay():
    assert from_scores(np.array([-1.0, 1.0]), "squared-hinge").probabilities is None
    values, odds = from_scores(np.array([[1.5], [2.5]]), "squared")
    assert values.tolist() == [1.5, 2.5]
    assert odds is None


def test_csv():
    odds = np.array([[0.25, 0.75]])
    told = Prediction(np.array([1]), ("no, never", "yes"), odds, "answer")
    assert told.to_csv() == 'answer,"p(no, never)",p(yes)\nyes,0.25,0.75\n'
    assert Prediction(np.array([0.5]), target="price").to_csv() == "price\n0.5\n"


def test_scores_where_the_truth_is_known():
    assert Prediction(np.array([1.0, 2.0])).scores == {}
    assert Prediction(np.array([1.0, 2.0]), y=np.array([1.0, 2.0])).scores["R²"] == 1.0
    told = Prediction(np.array([0, 1]), ("a", "b"), y=np.array([0, 0]))
    assert told.scores["accuracy"] == 0.5
