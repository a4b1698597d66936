"""Passes for several classes: products of blocks, and row by row, against the formulas."""

import numpy as np
import pytest
import scipy.sparse
from scipy.special import log_softmax, softmax

from thalweg.kernels import classes
from thalweg.kernels.rows import CSR, Centred

N, P, K = 50, 6, 4
RNG = np.random.default_rng(0)
SPARSE = RNG.standard_normal((N, P)) * (RNG.random((N, P)) < 0.6)
SPARSE[:, 1] += 4.0  # every row has it
MEANS = np.linspace(-2.0, 3.0, P)
LABELS, C = RNG.integers(K, size=N), RNG.random(N)
W, B = RNG.standard_normal((P, K)), RNG.standard_normal(K)


def storages():
    sparse = scipy.sparse.csr_array(SPARSE)
    narrow = SPARSE.astype(np.float32)
    return {
        "C": SPARSE,
        "F": np.asfortranarray(SPARSE),
        "float32": narrow,
        "centred": Centred(SPARSE, MEANS),
        "centred F": Centred(np.asfortranarray(narrow), MEANS),
        "CSR": CSR(sparse.data, sparse.indices, sparse.indptr),
    }


@pytest.fixture(params=storages(), autouse=True)
def X(request, monkeypatch):
    monkeypatch.setattr(classes, "BLOCK", 7 * P)  # several blocks, the last one short
    return storages()[request.param]


@pytest.fixture
def seen(X):
    """The matrix that the storage stands for, float64[n, p]."""
    values = X if isinstance(X, np.ndarray) else getattr(X, "values", SPARSE)
    return values.astype(np.float64) - getattr(X, "means", 0.0)


@pytest.mark.parametrize("scored", [False, True])
def test_value_and_gradient(X, seen, scored):
    G, slopes, Z = np.zeros((P, K)), np.zeros(K), np.full((N, K), np.nan)
    value = sum(
        classes.gradient_pass(X, LABELS, C, W, B, *rows, G, slopes, Z if scored else None)
        for rows in ((0, 21), (21, N))
    )
    scores = seen @ W + B
    residuals = C[:, None] * (softmax(scores, axis=1) - np.eye(K)[LABELS])
    rtol = 1e-12
    assert value == pytest.approx(-C @ log_softmax(scores, axis=1)[np.arange(N), LABELS], rel=rtol)
    np.testing.assert_allclose(G, seen.T @ residuals, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(slopes, residuals.sum(axis=0), rtol=rtol, atol=rtol)
    if scored:
        np.testing.assert_allclose(Z, scores, rtol=rtol, atol=rtol)


def test_scores(X, seen):
    Z = np.full((N, K), np.nan)
    classes.scores_pass(X, W, B, 0, 30, Z)
    assert np.isnan(Z[30:]).all()
    classes.scores_pass(X, W, B, 30, N, Z)
    np.testing.assert_allclose(Z, seen @ W + B, rtol=1e-12, atol=1e-12)


def test_hessian_vector_product(X, seen):
    shares = softmax(seen @ W + B, axis=1)
    V, v_b = np.random.default_rng(1).standard_normal((P, K)), np.arange(float(K))
    out, total = np.zeros((P, K)), np.zeros(K)
    classes.curved_vector_pass(X, C, shares, V, v_b, 0, N, out, total)
    u = seen @ V + v_b
    t = C[:, None] * (shares * u - shares * np.sum(shares * u, axis=1, keepdims=True))
    np.testing.assert_allclose(out, seen.T @ t, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(total, t.sum(axis=0), rtol=1e-12, atol=1e-12)


def test_dual_sum(X, seen):
    theta = np.random.default_rng(2).standard_normal((N, K))
    G, total = np.zeros((P, K)), np.zeros(K)
    classes.dual_sum_pass(X, C, theta, 0, N, G, total)
    weighted = C[:, None] * theta
    np.testing.assert_allclose(G, seen.T @ weighted, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(total, weighted.sum(axis=0), rtol=1e-12)
