import numpy as np
import pytest
import scipy.sparse
from sklearn.inspection import permutation_importance

import thalweg as tw
from thalweg.core.scores import class_scores
from thalweg.runs.importance import importance_of, scored
from thalweg.runs.linear_model import LinearModel
from thalweg.runs.prediction import Answers
from thalweg.tables.column import Column
from thalweg.tables.encoding import Encoding


class Any:
    """A model that is not known to be linear, and answers as another does."""

    def __init__(self, model):
        self.model, self.classes = model, model.classes

    def answers(self, X):
        return self.model.answers(X)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A saved regression, and its rows."""
    place = tmp_path_factory.mktemp("importance")
    job = tw.Job("@diabetes", standardize=True)
    saved = tw.train(job, place / "run", progress=False, report=False)
    return saved, tw.read("@diabetes")


def test_it_is_scikit_learns(fitted):
    saved, table = fitted
    R = 60
    found = importance_of(
        saved.linear_model, saved.encoding, table.X, table.y, repeats=R, rows=10_000
    )
    fitted_there = saved.estimator()
    del fitted_there.feature_names_in_  # it is asked of arrays
    theirs = permutation_importance(
        fitted_there, table.X, table.y, scoring="r2", n_repeats=R, random_state=1
    )
    ours = {each.column: each for each in found.columns}
    assert found.measure == "R²"
    assert [each.mean for each in found.columns] == sorted(
        (each.mean for each in found.columns), reverse=True
    )
    for j, name in enumerate(table.feature_names):
        error = np.hypot(ours[name].spread, theirs.importances_std[j]) / np.sqrt(R)
        assert abs(ours[name].mean - theirs.importances_mean[j]) < 4.5 * error + 1e-12
        assert ours[name].spread == pytest.approx(theirs.importances_std[j], rel=0.4)


def test_what_a_shuffle_adds_to_scores_is_what_shuffled_rows_give(fitted):
    saved, table = fitted
    options = {"repeats": 3, "rows": 200, "seed": 4}
    fast = importance_of(saved.linear_model, saved.encoding, table.X, table.y, **options)
    slow = importance_of(Any(saved.linear_model), saved.encoding, table.X, table.y, **options)
    sparse = scipy.sparse.csr_array(table.X)
    for other in (
        slow,
        importance_of(saved.linear_model, saved.encoding, sparse, table.y, **options),
    ):
        assert other.score == pytest.approx(fast.score)
        assert other.rows == 200
        for one, two in zip(fast.columns, other.columns, strict=True):
            assert one.column == two.column
            assert one[1:] == pytest.approx(two[1:], abs=1e-12)


def test_by_the_definition_text_whole_and_classes_by_log_loss():
    rng = np.random.default_rng(0)
    encoding = Encoding((Column("town", "text", ("A", "B", "C")), Column("idle")))
    X = np.column_stack([np.eye(3)[rng.integers(0, 3, 400)], rng.normal(size=400)])
    y = (X[:, 0] + 0.3 * rng.normal(size=400) > 0.5).astype(int)
    model = LinearModel(
        np.array([4.0, 0.0, -1.0, 0.0]), np.array(-2.0), np.array([0, 1]), "logistic", ("n", "y")
    )
    found = importance_of(model, encoding, X, y, repeats=4, rows=400, seed=7)
    draw = np.random.default_rng(7)
    before = class_scores(y, *model.answers(X))["log loss"]
    worse = []
    for _ in range(4):
        order = draw.permutation(400)
        other = np.column_stack([X[order][:, :3], X[:, 3]])
        worse.append(class_scores(y, *model.answers(other))["log loss"] - before)
    town, idle = found.columns
    assert town == ("town", pytest.approx(np.mean(worse)), pytest.approx(np.std(worse)))
    assert town.is_clear
    assert idle == ("idle", 0.0, 0.0)
    assert not idle.is_clear


def test_rows_without_a_truth_are_left_out(fitted):
    saved, table = fitted
    y = table.y.copy()
    y[:400] = np.nan
    found = importance_of(saved.linear_model, saved.encoding, table.X, y, repeats=2, rows=1000)
    assert found.rows == 42


def test_accuracy_where_there_are_no_probabilities():
    model = LinearModel(np.ones(1), np.array(0.0), np.array([0, 1]), "squared-hinge", ("n", "y"))
    assert scored(model, np.array([0, 1]), Answers(np.array([1, 1]))) == ("accuracy", 0.5)
