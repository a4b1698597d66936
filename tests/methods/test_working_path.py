"""Few features of many along a path: each point alone, dense as sparse, weights, early ends."""

import numpy as np
import pytest
import scipy.sparse as sp

import thalweg as tw
from thalweg.certificates.duality import constant_value
from thalweg.methods import working_path as module
from thalweg.methods.working_path import working_path


def data(n=40, p=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.3)
    return X, X[:, :5] @ [1.0, -2.0, 3.0, 0.5, 1.0] + 0.3 * rng.standard_normal(n) + 7.0


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("is_sparse", [True, False])
@pytest.mark.parametrize("l2", [0.0, 0.01])
def test_every_point_is_the_minimum_alone(fit_intercept, is_sparse, l2):
    X, y = data()
    weights = np.arange(40.0) % 3  # some samples count for nothing
    problem = tw.LinearProblem(
        sp.csr_array(X) if is_sparse else X, y, fit_intercept=fit_intercept, sample_weight=weights
    )
    l1s, scale = np.array([1.0, 0.3, 0.1, 0.03]), constant_value(problem.centred)
    found = list(working_path(problem, l1s, np.full(4, l2), 1e-13 * scale))
    for l1, point in zip(l1s, found, strict=True):
        here = problem.replaced(l1=l1, l2=l2)
        alone = tw.minimize(here, "cd", tol=1e-13)
        np.testing.assert_allclose(point.w, alone.w, atol=1e-6 * np.abs(alone.w).max())
        assert here.value(point.w) == pytest.approx(point.gap.primal, rel=1e-12)
        assert point.gap.gap >= here.value(point.w) - alone.value - 1e-14


def test_features_that_the_rule_misses_join_when_they_are_seen():
    X, y = data()
    problem = tw.LinearProblem(X, y)
    # From far above to far below in one step: hardly any is expected.
    (point,) = working_path(problem, np.array([0.02]), np.zeros(1), 1e-9)
    assert point.is_done
    alone = tw.minimize(problem.replaced(l1=0.02), "cd", tol=1e-12)
    np.testing.assert_allclose(point.w, alone.w, atol=1e-3 * np.abs(alone.w).max())


def test_it_ends_where_too_many_features_are_needed(monkeypatch):
    monkeypatch.setattr(module, "MOST_MEMBERS", 10)
    X, y = data()
    l1s = np.geomspace(1.0, 0.01, 20)
    found = list(working_path(tw.LinearProblem(X, y), l1s, np.zeros(20), 1e-6))
    assert 0 < len(found) < 20


def test_constant_features_and_copies_are_no_obstacle():
    X, y = data()
    X[:, 1], X[:, 2], X[:, 7] = 5.0, X[:, 0], -2.0 * X[:, 0]
    problem = tw.LinearProblem(X, y)
    scale = constant_value(problem.centred)
    for point in working_path(problem, np.geomspace(1.0, 0.01, 8), np.zeros(8), 1e-9 * scale):
        assert point.is_done
        assert point.w[1] == 0.0
