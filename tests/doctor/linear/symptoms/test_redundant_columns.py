import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from linear_data import features, regression
from thalweg.core.finding import Severity
from thalweg.doctor.linear.facts import curvature
from thalweg.doctor.linear.facts.linear_facts import linear_facts
from thalweg.doctor.linear.symptoms.redundant_columns import redundant_columns


def judged(X, names=None, y=None, **options):
    y = np.arange(X.shape[0]) % 7 * 1.0 if y is None else y
    return redundant_columns(linear_facts(tw.LinearProblem(X, y, **options), names=names))


def test_independent_columns_are_left_alone():
    assert judged(features()) == []
    assert judged(scipy.sparse.csr_array(features())) == []


@pytest.mark.parametrize("convert", [np.asarray, scipy.sparse.csr_array])
def test_constant_columns(convert):
    X = np.column_stack([features(), np.zeros(200), np.full(200, 3.0)])
    (found,) = judged(convert(X))
    assert found.name == "constant inputs"
    assert found.severity is Severity.WARN  # the intercept twice, and nothing to decide by
    assert found.evidence["columns"] == [5, 6]
    assert "2 of 7" in found.claim
    assert judged(convert(X), l2=0.1)[0].severity is Severity.NOTE
    assert judged(convert(X), standardize=True)[0].severity is Severity.NOTE
    assert judged(convert(X[:, :6]))[0].severity is Severity.NOTE
    (found,) = judged(convert(X), fit_intercept=False)
    assert "fit_intercept=True" in found.advice


@pytest.mark.parametrize(("l2", "severity"), [(0.0, Severity.WARN), (0.1, Severity.NOTE)])
@pytest.mark.parametrize("convert", [np.asarray, scipy.sparse.csr_array])
def test_repeated_columns(convert, l2, severity):
    X = features()
    X = np.column_stack([X, 1000.0 * X[:, 2]])
    (found,) = judged(convert(X), names=list("abcdef"), l2=l2)
    assert found.name == "repeated columns"
    assert "'f' repeats 'c'" in found.claim
    assert found.severity is severity
    assert found.evidence["pairs"] == [[2, 5]]


@pytest.mark.parametrize(("l2", "severity"), [(0.0, Severity.WARN), (0.1, Severity.NOTE)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dependent_columns(dtype, l2, severity):
    X = features()
    X = np.column_stack([X, 2.0 * X[:, 0] - X[:, 1] + 7.0]).astype(dtype)
    (found,) = judged(X, names=list("abcdef"), l2=l2)
    assert found.name == "dependent columns"
    assert found.severity is severity
    assert found.measured == 1.0
    assert all(f"'{name}'" in found.claim for name in "abf")
    assert "'c'" not in found.claim


def test_the_equation_that_is_told_holds():
    X = features(50, 2)
    X = np.column_stack([5.0 * X, X[:, 0] - X[:, 1]])
    (found,) = judged(X, fit_intercept=False)
    assert found.claim.endswith(": column 1 = column 0 − 5·column 2.")


def test_categories_with_an_intercept():
    X = np.column_stack([np.eye(4)[np.arange(200) % 4], features(200, 1)])
    (found,) = judged(X)
    assert found.name == "dependent columns"
    assert "+ const" in found.claim
    assert judged(X, fit_intercept=False) == []


def test_more_columns_than_samples():
    found = {finding.name: finding for finding in judged(features(10, 30))}
    assert found["dependent columns"].measured == 21.0
    assert "With 10 samples" in found["dependent columns"].claim


def test_nearly_dependent_columns():
    X = features()
    X[:, 4] = X[:, 0] + 0.1 * X[:, 4]
    (found,) = judged(X)
    assert found.name == "nearly dependent columns"
    assert found.severity is Severity.NOTE
    assert set(found.evidence["inflation"]) == {"column 0", "column 4"}
    np.testing.assert_allclose(found.measured, 101.0, rtol=0.3)


def test_what_was_not_checked_is_said(monkeypatch):
    monkeypatch.setattr(curvature, "DENSE", 3)
    X = features()
    X = np.column_stack([X, X[:, 0] + X[:, 1], X[:, 2], np.zeros(200)])
    found = judged(X)
    assert [finding.name for finding in found] == [
        "constant inputs",
        "repeated columns",
        "not checked",
    ]
    assert "200 × 8" in found[-1].claim


def test_coefficients_are_indeed_not_determined():
    X = features()
    problem = regression(np.column_stack([X, X[:, 0]]))
    one, two = (
        tw.minimize(problem, "lbfgs", w0, progress=False, tol=1e-12)
        for w0 in (None, np.arange(7.0))
    )
    assert np.abs(one.w - two.w).max() > 0.5
    np.testing.assert_allclose(problem.scores(one.w), problem.scores(two.w), atol=1e-4)
