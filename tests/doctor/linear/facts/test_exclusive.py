import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from linear_data import features
from thalweg.doctor.linear.facts.exclusive import exclusive

X = np.array(
    [
        [1.0, 0.0, 0.0, 1.0, 0.0],
        [1.0, 0.0, -2.0, -1.0, 0.0],
        [1.0, 3.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0, 0.0],
    ]
)


@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_by_hand(convert, dtype):
    problem = tw.LinearProblem(convert(X.astype(dtype)), list("nnyy"), "logistic")
    # n never has column 1; y never has column 2; column 3 has both signs, column 4 nothing.
    assert exclusive(problem).tolist() == [[1, 0], [2, 1]]


@pytest.mark.parametrize("convert", [np.asarray, scipy.sparse.csr_array])
def test_of_several_classes(convert):
    problem = tw.LinearProblem(convert(X), [0, 1, 2, 2], "multinomial")
    assert exclusive(problem).tolist() == [[1, 0], [2, 0]]


@pytest.mark.parametrize("convert", [np.asarray, scipy.sparse.csr_array])
def test_samples_of_weight_zero_are_not_there(convert):
    problem = tw.LinearProblem(convert(X), list("nnyy"), "logistic", sample_weight=[1, 0, 1, 1])
    assert exclusive(problem).tolist() == [[1, 0], [3, 1]]


def test_equal_to_a_loop():
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 3, size=(40, 60)) * (rng.random((40, 60)) < 0.08)
    y = rng.integers(0, 3, size=40)
    by_hand = []
    for j in range(60):
        one_sign = X[:, j].any() and (np.all(X[:, j] >= 0) or np.all(X[:, j] <= 0))
        absent = [k for k in range(3) if not X[y == k, j].any()]
        if one_sign and absent:
            by_hand.append([j, absent[0]])
    assert len(by_hand) > 5
    assert exclusive(tw.LinearProblem(X * 1.0, y, "multinomial")).tolist() == by_hand


def test_a_penalty_holds_them():
    assert exclusive(tw.LinearProblem(X, list("nnyy"), "logistic", l2=0.1)).size == 0
    assert exclusive(tw.LinearProblem(X, list("nnyy"), "logistic", l1=0.1)).size == 0


def test_a_regression_has_no_classes():
    assert exclusive(tw.LinearProblem(features(), np.arange(200.0))).shape == (0, 2)
