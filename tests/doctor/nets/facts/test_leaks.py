import numpy as np
import pytest

from thalweg.doctor.nets.facts.leaks import leaks
from thalweg.doctor.nets.facts.task import Task

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((300, 5)), RNG.integers(0, 3, 300)


def with_column(column, y=Y, classes=3):
    return Task(np.column_stack([X, column]), y, classes)


@pytest.mark.parametrize("codes", [[0.0, 1.0, 2.0], [5.0, -3.0, 0.1]])
def test_a_column_that_is_the_label(codes):
    assert leaks(with_column(np.array(codes)[Y]), None).data_copy == 5.0


def test_columns_that_are_not():
    assert leaks(with_column(Y % 2), None).data_copy == -1.0
    assert leaks(with_column(Y + 0.1 * RNG.standard_normal(300)), None).data_copy == -1.0
    almost = Y.copy()
    almost[0] = (almost[0] + 1) % 3
    assert leaks(with_column(almost), None).data_copy == -1.0


def test_a_class_that_is_the_sign_of_a_quantity_is_no_leak():
    x = RNG.standard_normal((300, 2))
    assert leaks(Task(x, (x[:, 0] > 0).astype(int), 2), None).data_copy == -1.0


def test_numbers():
    y = RNG.standard_normal((300, 1))
    assert leaks(with_column(3 - 2 * y[:, 0], y, 0), None).data_copy == 5.0
    noisy = y[:, 0] + 0.01 * RNG.standard_normal(300)
    assert leaks(with_column(noisy, y, 0), None).data_copy == -1.0


def test_rows_in_both_parts():
    train = Task(X[:200], Y[:200], 3)
    assert leaks(train, Task(X[200:], Y[200:], 3)).data_shared == 0.0
    assert leaks(train, Task(X[150:250], Y[150:250], 3)).data_shared == 0.5
    # A few discrete features repeat by nature.
    bits = RNG.integers(0, 2, (400, 6)).astype(float)
    assert leaks(Task(bits[:300], Y, 3), Task(bits[300:], Y[:100], 3)).data_shared < 0.25
