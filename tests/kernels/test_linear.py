import numpy as np
import pytest
import scipy.sparse

from linear_data import BOUNDED
from thalweg.kernels import linear
from thalweg.kernels.leaves import LEAF, leaf_edges, tree_sum
from thalweg.kernels.losses import HUBER, LOGISTIC, LOSSES, SQUARED, SQUARED_HINGE
from thalweg.kernels.rows import CSR, Centred

N, P, K = 9, 5, 3
DELTA = 0.7
# Every storage, both dtypes for dense and for CSR; each row more compiles all passes once more.
STORAGES = [
    ("C", "f8"), ("F", "f4"), ("csr32", "f8"), ("csr64", "f4"),
    ("centred C", "f4"), ("centred F", "f8"),
]  # fmt: skip


ONE_SCORE = {name: LOSSES[name] for name in BOUNDED if name != "multinomial"}


def matrix(dtype):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P)) * (rng.random((N, P)) < 0.6)
    X[:, 2] += 3.0  # every row has it: a sparse matrix may be seen about its mean
    return X.astype(dtype)


def centres(storage):
    """What is taken off the columns while they are read."""
    m = np.zeros(P)
    if storage.startswith("centred"):
        m[2] = 3.1
        if not storage.endswith("csr32"):
            m += np.linspace(-2.0, 2.0, P)
    return m


def seen(storage, dtype):
    """The matrix that a storage stands for, float64[n, p]."""
    return matrix(dtype).astype(np.float64) - centres(storage)


def stored(storage, X):
    m, kind = centres(storage), storage.split()[-1]
    is_centred = storage.startswith("centred")
    if kind in "CF":
        X = np.asarray(X, order=kind)
        return Centred(X, m) if is_centred else X
    sparse = scipy.sparse.csr_array(X)
    index = np.int32 if kind == "csr32" else np.int64
    parts = sparse.data, sparse.indices.astype(index), sparse.indptr.astype(index)
    return CSR(*parts)


def targets(code):
    rng = np.random.default_rng(1)
    y = rng.standard_normal(N)
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


def softmax(Z):
    e = np.exp(Z - Z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def vectors(seed=2):
    rng = np.random.default_rng(seed)
    return rng.random(N), rng.standard_normal(P), rng.standard_normal(P)


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-14)


def test_one_pass_by_hand():
    # Scores 1·2 + 0·1 + 1 = 3 and 2·2 − 1·1 + 1 = 4: residuals 2 and −1.
    X, y, c = np.array([[1.0, 0.0], [2.0, -1.0]]), np.array([1.0, 5.0]), np.array([0.5, 0.25])
    w, g = np.array([2.0, 1.0]), np.array([10.0, 20.0])
    value, slopes = linear.value_and_gradient_pass(X, y, c, w, 1.0, SQUARED, 1.0, 0, 2, g)
    assert value == 0.5 * 2.0 + 0.25 * 0.5
    assert slopes == 0.5 * 2 - 0.25 * 1
    assert g.tolist() == [10 + 0.5 * 2 * 1 - 0.25 * 2, 20 + 0.25 * 1]
    assert linear.value_pass(X, y, c, w, 1.0, SQUARED, 1.0, 1, 2) == 0.125


@pytest.mark.parametrize(("storage", "dtype"), STORAGES)
def test_passes_of_the_losses_equal_plain_numpy(storage, dtype):
    X, rows = seen(storage, dtype), stored(storage, matrix(dtype))
    c, w, v = vectors()
    b, v_b = 0.3, -0.8
    for code in ONE_SCORE.values():
        y = targets(code)
        values, slopes, curvatures = slow_loss(code, X @ w + b, y)
        close(linear.value_pass(rows, y, c, w, b, code, DELTA, 0, N), c @ values)
        g = np.ones(P)
        found = linear.value_and_gradient_pass(rows, y, c, w, b, code, DELTA, 0, N, g)
        close(found, [c @ values, c @ slopes])
        close(g, 1 + X.T @ (c * slopes))
        out = np.ones(P)
        total = linear.hessian_vector_pass(rows, y, c, w, b, v, v_b, code, DELTA, 0, N, out)
        change = c * curvatures * (X @ v + v_b)
        close(total, change.sum())
        close(out, 1 + X.T @ change)


@pytest.mark.parametrize(("storage", "dtype"), STORAGES)
def test_passes_without_a_loss_equal_plain_numpy(storage, dtype):
    X, rows = seen(storage, dtype), stored(storage, matrix(dtype))
    c, w, v = vectors()
    out = np.ones(P)
    close(linear.gram_vector_pass(rows, c, v, 0.4, 0, N, out), c @ (X @ v + 0.4))
    close(out, 1 + X.T @ (c * (X @ v + 0.4)))
    z = np.full(N, np.nan)
    linear.margins_pass(rows, w, 0.3, 0, N, z)
    close(z, X @ w + 0.3)
    g = np.ones(P)
    linear.transpose_pass(rows, c, 0, N, g)
    close(g, 1 + X.T @ c)
    linear.squares_pass(rows, 0, N, z)
    close(z, (X**2).sum(axis=1))
    linear.quadratics_pass(rows, w, v, 0, N, z)
    close(z, X**2 @ w + X @ v)


@pytest.mark.parametrize(("storage", "dtype"), STORAGES)
def test_passes_of_classes_equal_plain_numpy(storage, dtype):
    X, rows = seen(storage, dtype), stored(storage, matrix(dtype))
    c, _, _ = vectors()
    rng = np.random.default_rng(3)
    W, V, A = (rng.standard_normal(shape) for shape in ((P, K), (P, K), (N, K)))
    b, v_b = rng.standard_normal(K), rng.standard_normal(K)
    labels = np.arange(N) % K
    Z = np.full((N, K), np.nan)
    linear.class_scores_pass(rows, W, b, 0, N, Z)
    close(Z, X @ W + b)
    probabilities = softmax(Z)
    R = c[:, None] * (probabilities - np.eye(K)[labels])
    G, slopes = np.ones((P, K)), np.ones(K)
    value = linear.class_value_and_gradient_pass(rows, labels, c, W, b, 0, N, G, slopes)
    close(value, -c @ np.log(probabilities[np.arange(N), labels]))
    close(G, 1 + X.T @ R)
    close(slopes, 1 + R.sum(axis=0))
    out, total = np.ones((P, K)), np.ones(K)
    linear.class_hessian_vector_pass(rows, c, W, b, V, v_b, 0, N, out, total)
    U = X @ V + v_b
    change = np.array(
        [c[i] * (np.diag(p) - np.outer(p, p)) @ U[i] for i, p in enumerate(probabilities)]
    )
    close(out, 1 + X.T @ change)
    close(total, 1 + change.sum(axis=0))
    G = np.ones((P, K))
    linear.class_transpose_pass(rows, A, 0, N, G)
    close(G, 1 + X.T @ A)


@pytest.mark.parametrize("storage", ["C", "csr32"])
def test_blocks_add_up_to_the_whole(storage):
    rows, (c, w, v) = stored(storage, matrix("f8")), vectors()
    y, b = targets(LOGISTIC), 0.3
    edges = [(0, 4), (4, 4), (4, N)]
    g, whole = np.zeros(P), np.zeros(P)
    found = [
        linear.value_and_gradient_pass(rows, y, c, w, b, LOGISTIC, 1.0, start, stop, g)
        for start, stop in edges
    ]
    assert found[1] == (0.0, 0.0)
    expected = linear.value_and_gradient_pass(rows, y, c, w, b, LOGISTIC, 1.0, 0, N, whole)
    close(np.sum(found, axis=0), expected)
    close(g, whole)
    out, whole = np.zeros(P), np.zeros(P)
    parts = [
        linear.hessian_vector_pass(rows, y, c, w, b, v, 0.1, LOGISTIC, 1.0, start, stop, out)
        for start, stop in edges
    ]
    total = linear.hessian_vector_pass(rows, y, c, w, b, v, 0.1, LOGISTIC, 1.0, 0, N, whole)
    close(sum(parts), total)
    close(out, whole)
    # Passes that write leave the other rows alone.
    z = np.full(N, np.nan)
    linear.margins_pass(rows, w, b, 2, 4, z)
    assert np.flatnonzero(np.isfinite(z)).tolist() == [2, 3]


def test_float32_variables_are_summed_in_float64():
    rows, (c, w, _) = stored("C", matrix("f4")), vectors()
    w, y, g = w.astype(np.float32), targets(SQUARED), np.zeros(P)
    value, _ = linear.value_and_gradient_pass(rows, y, c, w, np.float32(0.5), SQUARED, 1.0, 0, N, g)
    X = matrix("f4").astype(np.float64)
    values, slopes, _ = slow_loss(SQUARED, X @ w.astype(np.float64) + 0.5, y)
    close(value, c @ values)
    close(g, X.T @ (c * slopes))


def test_samples_of_weight_zero_do_not_count():
    rows, (c, w, _) = stored("C", matrix("f8")), vectors()
    y, g, fewer = targets(SQUARED), np.zeros(P), np.zeros(P)
    c[4:] = 0.0
    whole = linear.value_and_gradient_pass(rows, y, c, w, 0.0, SQUARED, 1.0, 0, N, g)
    part = linear.value_and_gradient_pass(rows, y, c, w, 0.0, SQUARED, 1.0, 0, 4, fewer)
    close(whole, part)
    close(g, fewer)


@pytest.mark.parametrize("storage", ["C", "F", "csr32", "centred C", "centred F"])
def test_any_number_of_threads_gives_the_same_bits(storage):
    rng = np.random.default_rng(5)
    n = 8 * LEAF // P + 1
    X, y, c = rng.standard_normal((n, P)), np.sign(rng.standard_normal(n)), rng.random(n)
    rows, w, v = stored(storage, X), rng.standard_normal(P), rng.standard_normal(P)
    edges = leaf_edges(n, n * P, P)
    assert len(edges) == 9

    def total(threads):
        def work(start, stop):
            # Where an array lies is not to be seen in a sum: each of these begins elsewhere.
            g, out = np.zeros((2, P + threads))[:, threads:]
            sums = linear.value_and_gradient_pass(rows, y, c, w, 0.1, LOGISTIC, 1.0, start, stop, g)
            curved = linear.hessian_vector_pass(
                rows, y, c, w, 0.1, v, 0.2, LOGISTIC, 1.0, start, stop, out
            )
            value = linear.value_pass(rows, y, c, w, 0.1, LOGISTIC, 1.0, start, stop)
            return np.array([*sums, *g, curved, *out, value])

        return tree_sum(work, edges, threads).tobytes()

    expected = total(1)
    assert all(total(threads) == expected for threads in (2, 3, 8))


def test_a_total_is_that_of_the_first_numbers():
    a = np.array([1.0, 2.0, 4.0, np.nan])
    assert [linear.total_of(a, count) for count in range(4)] == [0.0, 1.0, 3.0, 7.0]


def test_by_columns_blocks_of_rows_follow_one_another():
    rng = np.random.default_rng(4)
    X = np.asfortranarray(rng.standard_normal((2500, 3)))
    w, c = rng.standard_normal(3), rng.random(2500)
    start, stop = 100, 2400  # more than two blocks, and not from the first row on
    z, g = np.zeros(2500), np.zeros(3)
    linear.margins_pass(X, w, 0.5, start, stop, z)
    linear.transpose_pass(X, c, start, stop, g)
    np.testing.assert_allclose(z[start:stop], X[start:stop] @ w + 0.5, rtol=1e-12, atol=1e-12)
    assert not z[:start].any()
    assert not z[stop:].any()
    np.testing.assert_allclose(g, X[start:stop].T @ c[start:stop], rtol=1e-12, atol=1e-12)
