import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, log_loss, r2_score

from thalweg.core.scores import class_scores, mean_recall, number_scores, r_squared, recalls


def test_classes_by_hand_and_beside_scikit_learn():
    y, told = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    odds = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]])
    found = class_scores(y, told, odds)
    assert found["accuracy"] == 0.75
    assert found["mean recall"] == pytest.approx(balanced_accuracy_score(y, told))
    assert found["log loss"] == pytest.approx(log_loss(y, odds))


def test_rows_of_unknown_classes_are_left_out():
    found = class_scores(np.array([0, -1, 1]), np.array([0, 0, 1]))
    assert found == {"accuracy": 1.0, "mean recall": 1.0}
    assert class_scores(np.array([-1]), np.array([0])) == {}


def test_a_sure_mistake_costs_much_but_not_everything():
    odds = np.array([[1.0, 0.0]])
    assert 30 < class_scores(np.array([1]), np.array([0]), odds)["log loss"] < 40


def test_numbers_by_hand_and_beside_scikit_learn():
    y, told = np.array([1.0, 2.0, 4.0, np.nan]), np.array([1.0, 3.0, 4.0, 0.0])
    found = number_scores(y, told)
    assert found["R²"] == pytest.approx(r2_score(y[:3], told[:3]))
    assert found["root mean square error"] == pytest.approx(np.sqrt(1 / 3))
    assert found["mean absolute error"] == pytest.approx(1 / 3)
    assert number_scores(np.array([np.nan]), np.array([1.0])) == {}


def test_a_constant_truth():
    assert number_scores(np.ones(3), np.ones(3))["R²"] == 1.0
    assert number_scores(np.ones(3), np.zeros(3))["R²"] == 0.0


def test_one_number_each():
    y, told = np.array([2, 0, 0, 5]), np.array([2, 0, 5, 0])
    assert recalls(y, told).tolist() == [0.5, 1.0, 0.0]
    assert mean_recall(y, told) == 0.5
    assert mean_recall(y, np.zeros(4, dtype=int)) == pytest.approx(1 / 3)
    rng = np.random.default_rng(0)
    truth, answer = rng.normal(size=(9, 2)), rng.normal(size=(9, 2))
    whole = r2_score(truth, answer, multioutput="variance_weighted")
    assert r_squared(truth, answer) == pytest.approx(whole)
    assert r_squared(truth, np.tile(truth.mean(0), (9, 1))) == pytest.approx(0.0, abs=1e-15)
    assert r_squared(truth, 100 * answer) < -100
