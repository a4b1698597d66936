import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from linear_data import features, labels, regression
from thalweg.core.finding import Severity
from thalweg.doctor.linear.facts.linear_facts import linear_facts
from thalweg.doctor.linear.symptoms.scaling import scaling


def judged(problem, names=None):
    return scaling(linear_facts(problem, names=names))


def stretched(factor, **options):
    return regression(features() * [1.0, factor, 1.0, 1.0, 1.0], **options)


def test_by_hand():
    X = np.array([[1.0, 1e4], [-1.0, 1e4], [1.0, -1e4], [-1.0, -1e4]])
    (found,) = judged(tw.LinearProblem(X, [1.0, 2.0, 3.0, 5.0]), names=["km", "mm"])
    assert found.severity is Severity.ACT
    np.testing.assert_allclose(found.measured, 1e4)
    np.testing.assert_allclose(found.evidence["kappa at least"], 1e8)
    np.testing.assert_allclose(found.evidence["kappa"], 1e8)
    np.testing.assert_allclose(found.evidence["kappa standardized"], 1.0)
    assert "'mm' has entries of size 1e+04" in found.claim
    assert "standardize=True" in found.advice


@pytest.mark.parametrize(
    ("factor", "severity"),
    [(1.0, None), (20.0, None), (1e2, Severity.WARN), (1e3, Severity.ACT), (1e-3, Severity.ACT)],
)
def test_grows_with_the_ratio(factor, severity):
    found = judged(stretched(factor))
    assert [finding.severity for finding in found] == ([severity] if severity else [])


@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
@pytest.mark.parametrize("l2", [0.0, 0.01])
def test_the_condition_is_at_least_what_is_claimed(loss, l2):
    X = features() * [1.0, 1e3, 1e-2, 5.0, 0.2] + [0.0, 2e3, 0.0, 0.0, 1.0]
    y = {"squared": X[:, 0], "logistic": labels(X), "multinomial": np.arange(200) % 3}[loss]
    problem = tw.LinearProblem(X, y, loss, l2=l2)
    (found,) = judged(problem)
    gram = np.stack([problem.features.gram_vector(unit) for unit in np.eye(6)])
    H = problem.curvature_bound * gram + l2 * np.diag([1.0] * 5 + [0.0])
    assert found.evidence["kappa at least"] <= np.linalg.cond(H) * (1 + 1e-9)


def test_standardizing_is_the_cure():
    assert judged(stretched(1e4, standardize=True)) == []
    X = tw.scaling.ZScore().fit_transform(features() * [1.0, 1e4, 1.0, 1.0, 1.0])
    assert judged(regression(X)) == []


def test_a_strong_penalty_holds_small_columns():
    assert judged(stretched(1e-4, l2=1.0)) == []


@pytest.mark.parametrize("convert", [np.asarray, scipy.sparse.csr_array])
def test_rare_is_not_small(convert):
    n = 100_000
    X = np.zeros((n, 3))
    X[:, 0] = np.arange(n) % 2
    X[::2, 1] = 1.0
    X[7, 2] = 1.0  # one sample has it: size 0.003, unit 1
    assert judged(tw.LinearProblem(convert(X), np.arange(n) % 7 * 1.0)) == []
    X[7, 2] = 1e-6
    (found,) = judged(tw.LinearProblem(convert(X), np.arange(n) % 7 * 1.0))
    assert found.severity is Severity.ACT


def test_the_intercept_is_a_column_of_ones():
    (found,) = judged(regression(1e5 * features()))
    assert "the intercept" in found.claim
    assert judged(regression(1e5 * features(), fit_intercept=False)) == []


def test_constant_columns_are_another_matter():
    X = np.column_stack([features(), np.full(200, 1e9), np.zeros(200)])
    assert judged(tw.LinearProblem(X, X[:, 0])) == []
    assert judged(tw.LinearProblem(np.ones((5, 2)), np.arange(5.0))) == []


def test_says_that_a_penalty_changes_its_meaning():
    assert "penalty" in judged(stretched(1e4, l2=1e-6))[0].advice
    assert "penalty" not in judged(stretched(1e4))[0].advice
