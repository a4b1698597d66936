"""Sums of many sets of rows from one pass: the same as those of each set alone."""

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.objectives.fold_sums import fold_sums


def data(n=200, p=4):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n, p)) < 0.4, 0.0, rng.standard_normal((n, p)) + 3.0)
    return X, X @ rng.standard_normal(p) + rng.standard_normal(n), rng.random(n)


@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_losses_and_gradients_are_those_of_the_rows_alone(storage, fit_intercept):
    X, y, s = data()
    problem = tw.LinearProblem(storage(X), y, fit_intercept=fit_intercept, sample_weight=s)
    # A fold of rows apart, one that overlaps it, one that names rows twice, and all.
    sets = [np.arange(150), np.arange(100, 200), np.r_[:50, :20, 30:40], np.arange(200)]
    w = np.random.default_rng(1).standard_normal(problem.dim)
    for rows, sums in zip(sets, fold_sums(problem, sets), strict=True):
        z = X[rows] @ w[:4] + (w[4] if fit_intercept else 0.0) - y[rows]
        c = s[rows] / s[rows].sum()
        loss, gradient = sums.loss_and_gradient(w)
        assert loss == pytest.approx(0.5 * c @ z**2, rel=1e-10)
        slow = X[rows].T @ (c * z)
        slow = np.append(slow, c @ z) if fit_intercept else slow
        np.testing.assert_allclose(gradient, slow, rtol=1e-9)
        sizes, _ = sums.sizes(w)
        assert sizes >= loss


def test_a_row_of_large_entries_leaves_no_rounding_where_it_is_not():
    X, y, _ = data()
    X[7] *= 1e9
    problem = tw.LinearProblem(X, y, fit_intercept=False)
    without = np.delete(np.arange(200), 7)
    (sums,) = fold_sums(problem, [without])
    np.testing.assert_allclose(sums.G, X[without].T @ X[without] / 199, rtol=1e-12)


def test_sets_that_share_too_little_have_no_sums_in_common():
    X, y, _ = data()
    problem = tw.LinearProblem(X, y)
    alone = [np.delete(np.arange(200), i) for i in range(200)]
    assert fold_sums(problem, alone) is None
