"""Passes for several classes: products of blocks, and row by row, against the formulas."""

import numpy as np
import pytest
import scipy.sparse
from scipy.special import log_softmax, softmax

from thalweg.kernels import classes
from thalweg.kernels.rows import CSR

N, P, K = 50, 6, 4
RNG = np.random.default_rng(0)
DENSE = RNG.standard_normal((N, P)) * (RNG.random((N, P)) < 0.6)
LABELS, C = RNG.integers(K, size=N), RNG.random(N)
W, B = RNG.standard_normal((P, K)), RNG.standard_normal(K)


def storages():
    sparse = scipy.sparse.csr_array(DENSE)
    return {
        "C": DENSE,
        "F": np.asfortranarray(DENSE),
        "float32": DENSE.astype(np.float32),
        "CSR": CSR(sparse.data, sparse.indices, sparse.indptr),
    }


@pytest.fixture(params=storages(), autouse=True)
def X(request, monkeypatch):
    monkeypatch.setattr(classes, "BLOCK", 7 * P)  # several blocks, the last one short
    return storages()[request.param]


def tolerance(X):
    return 1e-5 if getattr(X, "dtype", None) == np.float32 else 1e-12


@pytest.mark.parametrize("scored", [False, True])
def test_value_and_gradient(X, scored):
    G, slopes, Z = np.zeros((P, K)), np.zeros(K), np.full((N, K), np.nan)
    value = sum(
        classes.gradient_pass(X, LABELS, C, W, B, *rows, G, slopes, Z if scored else None)
        for rows in ((0, 21), (21, N))
    )
    scores = DENSE @ W + B
    residuals = C[:, None] * (softmax(scores, axis=1) - np.eye(K)[LABELS])
    rtol = tolerance(X)
    assert value == pytest.approx(-C @ log_softmax(scores, axis=1)[np.arange(N), LABELS], rel=rtol)
    np.testing.assert_allclose(G, DENSE.T @ residuals, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(slopes, residuals.sum(axis=0), rtol=rtol, atol=rtol)
    if scored:
        np.testing.assert_allclose(Z, scores, rtol=rtol, atol=rtol)


def test_scores(X):
    Z = np.full((N, K), np.nan)
    classes.scores_pass(X, W, B, 0, 30, Z)
    assert np.isnan(Z[30:]).all()
    classes.scores_pass(X, W, B, 30, N, Z)
    np.testing.assert_allclose(Z, DENSE @ W + B, rtol=tolerance(X), atol=tolerance(X))


def test_hessian_vector_product(X):
    shares = softmax(DENSE @ W + B, axis=1)
    V, v_b = np.random.default_rng(1).standard_normal((P, K)), np.arange(float(K))
    out, total = np.zeros((P, K)), np.zeros(K)
    classes.curved_vector_pass(X, C, shares, V, v_b, 0, N, out, total)
    u = DENSE @ V + v_b
    t = C[:, None] * (shares * u - shares * np.sum(shares * u, axis=1, keepdims=True))
    np.testing.assert_allclose(out, DENSE.T @ t, rtol=tolerance(X), atol=tolerance(X))
    np.testing.assert_allclose(total, t.sum(axis=0), rtol=tolerance(X), atol=tolerance(X))


def test_dual_sum(X):
    theta = np.random.default_rng(2).standard_normal((N, K))
    G, total = np.zeros((P, K)), np.zeros(K)
    classes.dual_sum_pass(X, C, theta, 0, N, G, total)
    weighted = C[:, None] * theta
    np.testing.assert_allclose(G, DENSE.T @ weighted, rtol=tolerance(X), atol=tolerance(X))
    np.testing.assert_allclose(total, weighted.sum(axis=0), rtol=1e-12)


def test_blas_runs_on_one_thread_in_each_of_ours():
    from threadpoolctl import threadpool_info

    seen = classes.with_blas(
        lambda start, stop: [
            pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"
        ],
        10, 10**7, 2,
    )  # fmt: skip
    assert seen
    assert all(count == 1 for counts in seen for count in counts)
