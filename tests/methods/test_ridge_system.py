import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.methods import ridge_system
from thalweg.methods.ridge_system import (
    DUAL,
    PRIMAL,
    ROBUST,
    best_intercept,
    factorised,
    first_solution,
    refined,
    targets,
)


def data(n, p, seed=0, T=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + np.arange(p)
    Y = X @ rng.standard_normal((p, T)) + rng.standard_normal((n, T)) + 7.0
    return X, Y, rng.random(n) + 0.1


def slow(X, y, c, l2, fit_intercept):
    """The minimizer by least squares on the rows, √l2·I below them."""
    m, mean = (c @ X, c @ y) if fit_intercept else (np.zeros(X.shape[1]), 0.0)
    roots = np.sqrt(c)[:, None]
    A = np.vstack([roots * (X - m), np.sqrt(l2) * np.eye(X.shape[1])])
    r = np.concatenate([roots[:, 0] * (y - mean), np.zeros(X.shape[1])])
    w = np.linalg.lstsq(A, r, rcond=None)[0]
    return w, mean - m @ w


def solution(problem, y):
    system, r = factorised(problem), targets(problem, y)
    w = refined(problem, system, r, first_solution(problem, system, r)).w
    return system, w


@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("n", "p", "kind"), [(40, 6, PRIMAL), (6, 40, DUAL)])
def test_the_smaller_system_has_the_minimizer(n, p, kind, fit_intercept, storage):
    X, Y, s = data(n, p)
    problem = tw.LinearProblem(
        storage(X), Y[:, 0], l2=0.3, fit_intercept=fit_intercept, sample_weight=s
    )
    w, b = slow(X, Y[:, 0], s / s.sum(), 0.3, fit_intercept)
    for view in (problem, problem.with_features(problem.features.centred)):
        system, found = solution(view, Y[:, 0])
        assert system.kind == kind
        np.testing.assert_allclose(found, w, rtol=1e-11, atol=1e-12)
        if fit_intercept:
            there = view.features.join(found, best_intercept(view, Y[:, 0], found))
            assert view.coefficients(there)[1] == pytest.approx(b, rel=1e-11)


@pytest.mark.parametrize(("n", "p"), [(40, 6), (6, 40), (300, 3)])
def test_many_targets_are_solved_as_each_alone(n, p):
    X, Y, _ = data(n, p, T=5)
    problem = tw.LinearProblem(X, Y[:, 0], l2=0.1)
    _, together = solution(problem, Y)
    for k in range(5):
        np.testing.assert_allclose(together[:, k], solution(problem, Y[:, k])[1], rtol=1e-10)


@pytest.mark.parametrize("scale", [1e-8, 1e7, 1e8, 1e12])
@pytest.mark.parametrize(("n", "p"), [(20, 50), (50, 20)])
def test_units_of_the_whole_do_not_matter(n, p, scale):
    X, Y, _ = data(n, p)
    plain = solution(tw.LinearProblem(X, Y[:, 0], l2=1e-9), Y[:, 0])[1]
    scaled = tw.LinearProblem(scale * X, Y[:, 0], l2=1e-9 * scale**2)
    np.testing.assert_allclose(scale * solution(scaled, Y[:, 0])[1], plain, rtol=1e-9)


def test_units_of_single_columns_do_not_matter():
    X, Y, _ = data(60, 5)
    units = np.array([1e-9, 1e8, 1.0, 1e3, 1e-4])
    plain = solution(tw.LinearProblem(X, Y[:, 0]), Y[:, 0])[1]
    system, scaled = solution(tw.LinearProblem(X * units, Y[:, 0]), Y[:, 0])
    assert system.kind == PRIMAL
    np.testing.assert_allclose(units * scaled, plain, rtol=1e-10)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("n", "p"), [(30, 8), (500, 8), (8, 30), (12, 12)])
def test_of_many_solutions_the_smallest_is_taken(n, p, fit_intercept):
    X, Y, _ = data(n, p)
    X[:, -1] = X[:, 0] - 2.0 * X[:, 1]
    problem = tw.LinearProblem(X, Y[:, 0], fit_intercept=fit_intercept)
    system, found = solution(problem, Y[:, 0])
    Z, r = X, Y[:, 0]
    if fit_intercept:
        Z, r = X - X.mean(axis=0), r - r.mean()
    np.testing.assert_allclose(found, np.linalg.pinv(Z, rcond=1e-12) @ r, rtol=1e-7, atol=1e-9)
    if n > p:
        assert system.kind == ROBUST


def test_a_bad_condition_is_seen_and_solved_from_the_data():
    rng = np.random.default_rng(0)
    t = rng.standard_normal(200)
    X = np.column_stack([t, t + 1e-7 * rng.standard_normal(200), rng.standard_normal(200)])
    y = X @ [1.0, 2.0, 3.0]
    system, found = solution(tw.LinearProblem(X, y, fit_intercept=False), y)
    assert system.kind == ROBUST
    np.testing.assert_allclose(found, [1.0, 2.0, 3.0], rtol=1e-6)


def test_rows_are_reduced_a_block_at_a_time(monkeypatch):
    X, Y, _ = data(400, 5)
    X[:, 4] = X[:, 3]
    problem = tw.LinearProblem(X, Y[:, 0])
    whole = solution(problem, Y[:, 0])[1]
    monkeypatch.setattr(ridge_system, "BLOCK", 100)
    np.testing.assert_allclose(solution(problem, Y[:, 0])[1], whole, rtol=1e-9)


def test_a_constant_column_has_no_coefficient():
    X, Y, _ = data(30, 4)
    X[:, 2] = 5.0
    assert solution(tw.LinearProblem(X, Y[:, 0]), Y[:, 0])[1][2] == pytest.approx(0.0, abs=1e-12)


def test_refinement_takes_back_what_rounding_did():
    rng = np.random.default_rng(1)
    t = rng.standard_normal(300)
    X = np.column_stack([t, t + 3e-5 * rng.standard_normal(300)])
    y = X @ [1.0, -1.0] + 0.01
    problem = tw.LinearProblem(X, y, fit_intercept=False, l2=1e-12)
    system, r = factorised(problem), targets(problem, y)
    assert system.kind == PRIMAL
    first = first_solution(problem, system, r)
    second = refined(problem, system, r, first)
    right = slow(X, y, np.full(300, 1 / 300), 1e-12, False)[0]
    assert np.abs(second.w - right).max() < 0.1 * np.abs(first.w - right).max() + 1e-12
