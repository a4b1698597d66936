import numpy as np
import pytest
import scipy.sparse

from linear_data import BOUNDED
from thalweg.kernels import margins
from thalweg.kernels.losses import HUBER, LOGISTIC, LOSSES, SQUARED, SQUARED_HINGE
from thalweg.kernels.rows import CSR

N, P, K, DELTA = 9, 5, 3, 0.7
STORAGES = [("C", "f8"), ("F", "f4"), ("csr", "f8"), ("csr", "f4")]

CODES = [LOSSES[name] for name in BOUNDED]


def data(storage, dtype):
    """The matrix, and the same as kernels take it."""
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((N, P)) * (rng.random((N, P)) < 0.6)).astype(dtype)
    if storage == "csr":
        sparse = scipy.sparse.csr_array(X)
        return X.astype(float), CSR(sparse.data, sparse.indices, sparse.indptr)
    return X.astype(float), np.asarray(X, order=storage)


def targets(code):
    y = np.random.default_rng(1).standard_normal(N)
    return np.sign(y) if code in (LOGISTIC, SQUARED_HINGE) else y


def slow_loss(code, z, y):
    """Values, slopes and curvatures, from the table of the losses."""
    if code == LOGISTIC:
        s = 1 / (1 + np.exp(y * z))
        return np.log(1 + np.exp(-y * z)), -y * s, s * (1 - s)
    if code == SQUARED_HINGE:
        short = np.maximum(0, 1 - y * z)
        return short**2 / 2, -y * short, (y * z < 1) * 1.0
    r = z - y
    if code == HUBER:
        inside = np.abs(r) <= DELTA
        value = np.where(inside, r**2 / 2, DELTA * np.abs(r) - DELTA**2 / 2)
        return value, np.clip(r, -DELTA, DELTA), inside * 1.0
    return r**2 / 2, r, np.ones_like(r)


def slow_classes(Z, labels):
    """Values, slopes and probabilities."""
    e = np.exp(Z - Z.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return -np.log(p[np.arange(N), labels]), p - np.eye(K)[labels], p


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-14)


RNG = np.random.default_rng(2)
C = RNG.random(N)
Z, D, R = (RNG.standard_normal((N, K)) for _ in range(3))
LABELS = np.arange(N) % K


def test_one_pass_by_hand():
    # Scores 1·2 + 0·1 + 1 = 4 − 1 = 3 and 2·2 − 1·1 + 1 = 4: residuals 2 and −1.
    X, y, c = np.array([[1.0, 0.0], [2.0, -1.0]]), np.array([1.0, 5.0]), np.array([0.5, 0.25])
    g, z = np.array([10.0, 20.0]), np.full(2, np.nan)
    w = np.array([2.0, 1.0])
    value, slopes = margins.scored_gradient_pass(X, y, c, w, 1.0, SQUARED, 1.0, 0, 2, g, z)
    assert z.tolist() == [3.0, 4.0]
    assert (value, slopes) == (0.5 * 2.0 + 0.25 * 0.5, 0.5 * 2 - 0.25 * 1)
    assert g.tolist() == [10 + 0.5 * 2 * 1 - 0.25 * 2, 20 + 0.25 * 1]
    # Along d = (1, 1) with α = ½ the residuals become 5/2 and −½.
    r = np.array([0.5 * 2.0, 0.25 * -1.0])
    value, change = margins.line_pass(z, np.ones(2), r, y, c, SQUARED, 1.0, 0.5, 0, 2)
    assert value == 0.5 * 3.125 + 0.25 * 0.125
    assert change == 0.5 * 0.5 + 0.25 * 0.5


@pytest.mark.parametrize(("storage", "dtype"), STORAGES)
def test_passes_over_the_rows_equal_plain_numpy(storage, dtype):
    X, rows = data(storage, dtype)
    rng = np.random.default_rng(3)
    w, V, v_b = rng.standard_normal(P), rng.standard_normal((P, K)), rng.standard_normal(K)
    for code in CODES:
        y, g, z = targets(code), np.ones(P), np.full(N, np.nan)
        found = margins.scored_gradient_pass(rows, y, C, w, 0.3, code, DELTA, 0, N, g, z)
        values, slopes, _ = slow_loss(code, X @ w + 0.3, y)
        close(z, X @ w + 0.3)
        close(found, [C @ values, C @ slopes])
        close(g, 1 + X.T @ (C * slopes))
    first, second = np.ones(P), np.ones(P)
    margins.column_moments_pass(rows, C, 0, N, first, second)
    close(first, 1 + C @ X)
    close(second, 1 + C @ X**2)

    G, slopes, scores = np.ones((P, K)), np.ones(K), np.full((N, K), np.nan)
    value = margins.class_scored_gradient_pass(
        rows, LABELS, C, V, v_b, 0, N, G, slopes, scores
    )  # fmt: skip
    values, expected, p = slow_classes(X @ V + v_b, LABELS)
    close(scores, X @ V + v_b)
    close(value, C @ values)
    close(G, 1 + X.T @ (C[:, None] * expected))
    close(slopes, 1 + C @ expected)
    out, total = np.ones((P, K)), np.ones(K)
    margins.class_curved_vector_pass(rows, C, p, V, v_b, 0, N, out, total)
    change = [c * (np.diag(q) - np.outer(q, q)) @ u for c, q, u in zip(C, p, scores, strict=True)]
    close(out, 1 + X.T @ np.array(change))
    close(total, 1 + np.sum(change, axis=0))
    first, second = np.ones((P, K)), np.ones((K, P))
    margins.class_column_moments_pass(rows, R, 0, N, first, second)
    close(first, 1 + X.T @ R)
    close(second, 1 + R.T @ X**2)


@pytest.mark.parametrize("code", CODES)
def test_passes_over_scores_equal_plain_numpy(code):
    z, d, r, y = Z[:, 0].copy(), D[:, 0].copy(), R[:, 0].copy(), targets(code)
    _, slopes, curvatures = slow_loss(code, z, y)
    out = np.full(N, np.nan)
    margins.slopes_pass(z, y, C, code, DELTA, 0, N, out)
    close(out, C * slopes)
    margins.curvatures_pass(z, y, C, code, DELTA, 0, N, out)
    close(out, C * curvatures)
    for step in (0.0, 0.3, -2.0):
        values, slopes, _ = slow_loss(code, z + step * d, y)
        found = margins.line_pass(z, d, r, y, C, code, DELTA, step, 0, N)
        close(found, [C @ values, (C * slopes - r) @ d])


def test_passes_over_scores_of_classes_equal_plain_numpy():
    _, slopes, p = slow_classes(Z, LABELS)
    out = np.full((N, K), np.nan)
    margins.class_slopes_pass(Z, LABELS, C, 0, N, out)
    close(out, C[:, None] * slopes)
    margins.probabilities_pass(Z, 0, N, out)
    close(out, p)
    for step in (0.0, 0.3, -2.0):
        values, slopes, _ = slow_classes(Z + step * D, LABELS)
        found = margins.class_line_pass(Z, D, R, LABELS, C, step, 0, N)
        close(found, [C @ values, np.sum((C[:, None] * slopes - R) * D)])


def test_blocks_of_rows_leave_the_others_alone():
    _, rows = data("C", "f8")
    g, z = np.zeros(P), np.full(N, np.nan)
    w, y = np.ones(P), targets(LOGISTIC)
    margins.scored_gradient_pass(rows, y, C, w, 0.0, LOGISTIC, 1.0, 2, 4, g, z)
    assert np.flatnonzero(np.isfinite(z)).tolist() == [2, 3]
    whole = margins.line_pass(z * 0 + 1, z * 0 + 1, C, y, C, LOGISTIC, 1.0, 0.5, 2, 4)
    z = np.ones(N)
    parts = [
        margins.line_pass(z, z, C, y, C, LOGISTIC, 1.0, 0.5, a, b) for a, b in ((2, 3), (3, 4))
    ]
    close(np.sum(parts, axis=0), whole)
