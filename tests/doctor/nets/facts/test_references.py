import numpy as np
import pytest
from sklearn.datasets import load_iris, make_circles
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from thalweg.doctor.nets.facts.measured import Measured
from thalweg.doctor.nets.facts.references import forest, linear, neighbours, references, signal
from thalweg.doctor.nets.facts.task import Task, skill

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4)) * [1, 10, 0.1, 3]
NUMBERS = Task(X, (X @ [[1.0], [0.1], [5.0], [0.0]]) + 0.1 * RNG.standard_normal((60, 1)), 0)


def test_left_out_rows_of_the_linear_model_are_those_of_refitting():
    """The same λ and the same scaling for all; only the mean moves a little."""
    x = (X - X.mean(0)) / X.std(0)
    model = Ridge(alpha=1.0)
    expected = cross_val_predict(model, x, NUMBERS.y, cv=LeaveOneOut())
    said = linear(NUMBERS, X[:1]).left_out
    np.testing.assert_allclose(said.ravel(), expected.ravel(), atol=0.02)
    others = RNG.standard_normal((5, 4))
    fitted = make_pipeline(StandardScaler(), Ridge(alpha=1.0)).fit(X, NUMBERS.y)
    np.testing.assert_allclose(
        linear(NUMBERS, others).others[:, 0], fitted.predict(others).ravel(), atol=1e-8
    )


def test_neighbours_are_those_of_scikit_learn():
    x = (X - X.mean(0)) / X.std(0)
    model = KNeighborsRegressor(5)
    expected = cross_val_predict(model, x, NUMBERS.y, cv=LeaveOneOut())
    np.testing.assert_allclose(neighbours(NUMBERS, X[:1]).left_out, expected, atol=1e-12)


def test_rows_that_are_exactly_alike():
    task = Task(np.zeros((30, 2)), np.arange(30) % 2, 2)
    assert len(neighbours(task, task.x).left_out) == 30


def test_the_forest_sees_left_out_rows_only_by_other_trees():
    noise = Task(RNG.standard_normal((300, 5)), RNG.integers(0, 2, 300), 2)
    found = forest(noise, noise.x)
    assert abs(skill(found.left_out, noise)) < 0.25
    assert skill(found.others, noise) > 0.8  # of rows it was trained on


@pytest.mark.parametrize("model", [linear, neighbours, forest])
def test_iris(model):
    x, y = load_iris(return_X_y=True)
    assert skill(model(Task(x, y, 3), x).left_out, Task(x, y, 3)) > 0.7


def test_labels_in_another_order():
    x, y = make_circles(600, noise=0.05, factor=0.4, random_state=0)
    train, held = Task(x[:400], y[:400], 2), Task(x[400:], y[400:], 2)
    well = references(train, held)
    assert min(well.data_signal, well.data_signal_validation, well.data_reference) > 0.9
    torn = references(train._replace(y=RNG.permutation(train.y)), held)
    assert torn.data_signal < 3 * torn.data_signal_error
    assert torn.data_signal_validation > 0.9


def test_a_few_wild_targets_do_not_hide_the_rest():
    y = NUMBERS.y.copy()
    y[3] *= 1e4
    assert signal(NUMBERS._replace(y=y)) > 0.5


def test_what_cannot_be_said():
    assert references(NUMBERS._replace(x=X * np.nan), None) == Measured()
    assert references(Task(X[:5], NUMBERS.y[:5], 0), None) == Measured()
    assert references(NUMBERS, None).data_reference is None
