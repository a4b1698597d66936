import numpy as np

from linear_data import features
from thalweg.doctor.linear.facts.dependence import dependence


def judged(X):
    X = X - X.mean(axis=0)
    lengths = np.sqrt(np.mean(X**2, axis=0))
    R = (X / lengths).T @ (X / lengths) / len(X)
    return dependence(R, np.arange(10, 10 + X.shape[1]), lengths)


def test_a_sum_by_hand():
    X = features(100, 3)
    (found,) = judged(np.column_stack([X, 2.0 * X[:, 0] - 300.0 * X[:, 1]])).combinations
    whole = {**found.parts, found.column: -1.0}  # any of the three may be the one that is told
    assert sorted(whole) == [10, 11, 13]
    np.testing.assert_allclose([whole[j] / whole[13] for j in (10, 11)], [-2.0, 300.0], rtol=1e-6)


def test_inflation_is_that_of_regressing_each_on_the_others():
    X = features(300, 4)
    X[:, 3] += 3.0 * X[:, 0]
    inflation = judged(X).inflation
    for j in range(4):
        others = np.column_stack([np.ones(300), np.delete(X, j, axis=1)])
        residual = X[:, j] - others @ np.linalg.lstsq(others, X[:, j])[0]
        np.testing.assert_allclose(inflation[10 + j], X[:, j].var() / np.mean(residual**2))
    assert judged(X).combinations == ()


def test_no_scaling_takes_the_condition_below_the_inflation():
    X = features(300, 4)
    X[:, 3] = X[:, 0] + 1e-2 * X[:, 3]
    worst = max(judged(X).inflation.values())
    rng = np.random.default_rng(5)
    Z = X - X.mean(axis=0)
    assert worst > 1e3
    for _ in range(20):
        assert np.linalg.cond(Z / Z.std(axis=0)) ** 2 >= worst
        Z = X * np.exp(rng.normal(size=4))
        Z = Z - Z.mean(axis=0)


def test_categories_add_up_to_one():
    codes = np.arange(60) % 3
    (found,) = judged(np.eye(3)[codes]).combinations
    assert sorted([found.column, *found.parts]) == [10, 11, 12]
    np.testing.assert_allclose(list(found.parts.values()), -1.0)


def test_more_columns_than_samples():
    found = judged(features(10, 25))
    assert len(found.combinations) == 25 - 9  # centred samples span one dimension less
    assert len(found.inflation) == 9


def test_no_columns():
    assert dependence(np.zeros((0, 0)), np.zeros(0, int), np.zeros(0)) == ((), {})
