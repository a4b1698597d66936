"""One decomposition for all penalties: the systems solved, and rows left out, one by one."""

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.methods.ridge_spectrum import coefficients, left_out, spectrum
from thalweg.methods.ridge_system import targets

L2S = np.array([1e-3, 0.1, 10.0])


def problem(n, p, *, fit_intercept=True, storage=np.asarray, offset=0.0):
    rng = np.random.default_rng(n + p)
    X = np.where(rng.random((n, p)) < 0.3, 0.0, rng.standard_normal((n, p))) + offset
    Y = X @ rng.standard_normal((p, 2)) + rng.standard_normal((n, 2)) + 5.0
    s = rng.integers(0, 4, n).astype(float)
    s[0] = 0.0
    given = tw.LinearProblem(
        storage(X), Y[:, 0], fit_intercept=fit_intercept, sample_weight=s, l2=1.0
    )
    return given.with_features(given.features.centred), X, Y, s / s.sum()


def slow_fit(X, Y, c, l2, fit_intercept):
    """The normal equations, the intercept as a column of ones that nothing penalises."""
    A = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    ridge = l2 * np.eye(A.shape[1])
    if fit_intercept:
        ridge[-1, -1] = 0.0
    return A, np.linalg.solve(A.T @ (c[:, None] * A) + ridge, A.T @ (c[:, None] * Y))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("shape", [(30, 4), (8, 20)])
@pytest.mark.parametrize("is_exact", [True, False])
@pytest.mark.parametrize("offset", [0.0, 30.0])
def test_every_penalty_is_that_fit_and_every_row_is_left_out(
    fit_intercept, storage, shape, is_exact, offset
):
    data, X, Y, c = problem(*shape, fit_intercept=fit_intercept, storage=storage, offset=offset)
    rho = targets(data, Y)
    found = spectrum(data, L2S[0], is_exact=is_exact)
    W, alpha = coefficients(data, found, rho, L2S)
    features = data.features.with_outputs(W.shape[1], is_matrix=True)
    fitted = data.rows.product(*features.enter(features.join(W, np.zeros(W.shape[1]))))
    if fit_intercept:
        fitted -= data.weights @ fitted
    errors = left_out(data, found, np.tile(rho, L2S.size) - fitted, alpha, L2S)
    for k, l2 in enumerate(L2S):
        _, slow = slow_fit(X, Y, c, l2, fit_intercept)
        np.testing.assert_allclose(
            W[:, 2 * k : 2 * k + 2], slow[: X.shape[1]], rtol=1e-6, atol=1e-9
        )
        for i in range(len(X)):
            without = c.copy()
            without[i] = 0.0  # the penalty stays what it is beside the sums of the others
            A, slow = slow_fit(X, Y, without, l2, fit_intercept)
            np.testing.assert_allclose(errors[i, k], Y[i] - A[i] @ slow, rtol=1e-5, atol=1e-8)


def test_a_penalty_lost_in_the_squares_is_not_lost():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    X[:, 0] *= 1e7
    y = X @ [1e-7, 1.0, -1.0] + rng.standard_normal(50)
    data = tw.LinearProblem(X, y, l2=1.0)
    data = data.with_features(data.features.centred)
    found = spectrum(data, 1e-4)
    W, _ = coefficients(data, found, targets(data, y[:, None]), np.array([1e-4]))
    exact = np.linalg.lstsq(
        np.vstack([X - X.mean(axis=0), np.sqrt(50 * 1e-4) * np.eye(3)]),
        np.concatenate([y - y.mean(), np.zeros(3)]),
    )[0]
    np.testing.assert_allclose(W[:, 0], exact, rtol=1e-7)
