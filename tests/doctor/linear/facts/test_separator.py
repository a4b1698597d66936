import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import linprog
from sklearn.datasets import load_iris

import thalweg as tw
from linear_data import features, labels, solved
from thalweg.doctor.linear.facts import separator as module
from thalweg.doctor.linear.facts.separator import separates, separator
from thalweg.doctor.linear.facts.sizes import sizes


def found(X, y, loss="logistic", w=None, **options):
    problem = tw.LinearProblem(X, y, loss, **options)
    return separator(problem, sizes(problem), w)


def test_two_samples_by_hand():
    problem = tw.LinearProblem(np.array([[1.0], [3.0]]), [0, 1], "logistic")
    plane = separates(problem, np.array([1.0, -2.0]))  # z = x − 2 = ∓1
    np.testing.assert_allclose(plane.margin, 1.0 / (5.0**0.5 * 10.0**0.5))
    assert separates(problem, np.array([1.0, -3.0])) is None  # on the plane
    assert separates(problem, np.zeros(2)) is None


@pytest.mark.parametrize(("far", "is_certain"), [(1e9, True), (1e15, False)])
def test_a_margin_of_rounding_is_none(far, is_certain):
    problem = tw.LinearProblem(np.array([[far - 1.0], [far + 1.0]]), [0, 1], "logistic")
    assert (separates(problem, np.array([1.0, -far])) is not None) == is_certain


def is_separable(X, y):
    """By a linear program: yᵢ(xᵢᵀw + b) ≥ 1."""
    A = -np.where(y, 1.0, -1.0)[:, None] * np.column_stack([X, np.ones(len(y))])
    done = linprog(np.zeros(A.shape[1]), A_ub=A, b_ub=-np.ones(len(y)), bounds=(None, None))
    return done.status == 0


@pytest.mark.parametrize("n", [8, 12, 16, 24, 40])
@pytest.mark.parametrize("seed", range(6))
def test_equal_to_a_linear_program(n, seed):
    X = features(n, 5, seed)
    y = np.random.default_rng(seed + 100).random(n) < 0.5
    y[:2] = False, True
    assert (found(X, y) is not None) == is_separable(X, y)


@pytest.mark.parametrize("convert", [np.asfortranarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_found_is_a_plane_in_the_variables_of_the_problem(convert, standardize, dtype):
    X = (features(200, 4) * [1.0, 1e3, 1e-3, 1.0] + [0.0, 5e3, 0.0, 1.0]).astype(dtype)
    y = X @ [1.0, 1e-3, 1e3, 1.0] > 6.0
    problem = tw.LinearProblem(convert(X), y, "logistic", standardize=standardize)
    plane = separator(problem, sizes(problem))
    W, b = problem.coefficients(plane.w)
    assert np.array_equal(X.astype(float) @ W + b > 0, y)


def test_classes_that_overlap_have_none():
    X = features()
    assert found(X, labels(X)) is None
    assert found(X, X.sum(axis=1) > 0) is not None


def test_a_regression_has_none():
    problem = tw.LinearProblem(features(), np.arange(200.0))
    assert separator(problem, sizes(problem)) is None


def test_samples_of_weight_zero_may_lie_anywhere():
    X, s = np.array([[0.0], [1.0], [2.0], [3.0]]), [1, 0, 0, 1]
    y = [0, 1, 0, 1]
    assert found(X, y) is None
    assert found(X, y, sample_weight=s) is not None


def test_several_classes_all_or_one():
    X, y = load_iris(return_X_y=True)
    plane = found(X, y, "multinomial")
    assert plane.alone == 0  # setosa; the other two overlap
    others = y > 0
    assert found(X[others], y[others], "multinomial") is None
    clear = 10.0 * np.eye(3)[y][:, :2] + 0.1 * X[:, :2]
    assert found(clear, y, "multinomial").alone is None


def test_a_given_point_is_believed_only_if_it_separates():
    X = features()
    y = X.sum(axis=1) > 0
    problem, run = solved(tw.LinearProblem(X, y, "logistic"), tol=1e-4)
    np.testing.assert_array_equal(separator(problem, sizes(problem), run.w).w, run.w)
    other = separator(problem, sizes(problem), -run.w)
    assert other is not None  # sought
    assert separates(problem, other.w) is not None


def test_large_data_are_not_searched(monkeypatch):
    X = features()
    y = X.sum(axis=1) > 0
    monkeypatch.setattr(module, "MOST_ENTRIES", 100)
    assert found(X, y) is None
    assert found(X, y, w=np.array([1.0, 1, 1, 1, 1, 0])) is not None


def test_ctrl_c_while_a_plane_is_sought_is_not_taken_for_none(monkeypatch):
    X = features()
    y = labels(X)

    def pressed(*asked, callback, **options):
        return minimize(*asked, callback=lambda step: True, **options)

    minimize = module.minimize
    monkeypatch.setattr(module, "minimize", pressed)
    with pytest.raises(KeyboardInterrupt):
        found(X, y)
