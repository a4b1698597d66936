import numpy as np
import pytest
import scipy.sparse
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss, r2_score

from thalweg.jobs import baselines
from thalweg.jobs.baselines import CONSTANT, FOREST, TREES, baselines_of
from thalweg.jobs.rows import Rows

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(300, 2)), RNG.normal(size=(100, 2))


def test_a_constant_is_scikit_learns_dummy():
    y, held = X[:, 0] ** 2, Z[:, 0] ** 2
    found, _ = baselines_of(Rows(X, y, Rows(Z, held)), 0, 0)
    dummy = DummyRegressor().fit(X, y).predict(Z)
    assert found[0].name == CONSTANT
    assert found[0].scores["R²"] == pytest.approx(r2_score(held, dummy))


def test_classes_and_what_a_straight_line_leaves():
    y, held = ((rows[:, 0] * rows[:, 1] > 0.2).astype(int) for rows in (X, Z))
    (constant, forest), left_out = baselines_of(Rows(X, y, Rows(Z, held)), 2, 3)
    dummy = DummyClassifier(strategy="prior").fit(X, y).predict_proba(Z)
    assert constant.scores["log loss"] == pytest.approx(log_loss(held, dummy))
    theirs = HistGradientBoostingClassifier(max_iter=TREES, early_stopping=False, random_state=3)
    assert forest.name == FOREST
    assert forest.scores["accuracy"] == theirs.fit(X, y).score(Z, held)
    assert forest.scores["accuracy"] > 0.8 > constant.scores["accuracy"]
    assert left_out == ""


def test_a_class_that_no_training_row_has_counts_as_impossible():
    y, held = np.arange(300) % 2 * 2, np.arange(100) % 3
    found, _ = baselines_of(Rows(X, y, Rows(Z, held)), 3, 0)
    assert all(each.scores["log loss"] > 5.0 for each in found)


def test_no_forest_is_judged_by_rows_that_it_knows_or_takes_long(monkeypatch):
    y, held = X[:, 0], Rows(Z, Z[:, 0])
    found, sentence = baselines_of(Rows(X, y), 0, 0)
    assert [each.name for each in found] == [CONSTANT]
    assert "--validation 0.2" in sentence
    sparse = scipy.sparse.csr_array(X)
    assert "300 × 2 sparse" in baselines_of(Rows(sparse, y, Rows(Z, Z[:, 0])), 0, 0)[1]
    monkeypatch.setattr(baselines, "MOST", 600)
    assert baselines_of(Rows(X, y, held), 0, 0)[1] == ""
    monkeypatch.setattr(baselines, "MOST", 599)
    assert "300 × 2 dense" in baselines_of(Rows(X, y, held), 0, 0)[1]
