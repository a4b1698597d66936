import itertools
import threading

import numpy as np
import pytest
import scipy.sparse

from thalweg.kernels import linear
from thalweg.kernels.losses import HUBER, LOGISTIC, LOSSES, SQUARED, SQUARED_HINGE
from thalweg.kernels.rows import CSR

N, P, K = 9, 5, 3
DELTA = 0.7
# Every storage, both dtypes for dense and for CSR; each row more compiles all passes once more.
STORAGES = [("C", "f8"), ("F", "f4"), ("csr32", "f8"), ("csr64", "f4")]


ONE_SCORE = {name: code for name, code in LOSSES.items() if name != "multinomial"}


def matrix(dtype):
    rng = np.random.default_rng(0)
    return (rng.standard_normal((N, P)) * (rng.random((N, P)) < 0.6)).astype(dtype)


def stored(storage, dtype):
    X = matrix(dtype)
    if storage in "CF":
        return np.asarray(X, order=storage)
    sparse = scipy.sparse.csr_array(X)
    kind = np.int32 if storage == "csr32" else np.int64
    return CSR(sparse.data, sparse.indices.astype(kind), sparse.indptr.astype(kind))


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
    X, rows = matrix(dtype).astype(np.float64), stored(storage, dtype)
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
    X, rows = matrix(dtype).astype(np.float64), stored(storage, dtype)
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
    g = np.ones(P)
    linear.column_squares_pass(rows, c, 0, N, g)
    close(g, 1 + c @ X**2)


@pytest.mark.parametrize(("storage", "dtype"), STORAGES)
def test_passes_of_classes_equal_plain_numpy(storage, dtype):
    X, rows = matrix(dtype).astype(np.float64), stored(storage, dtype)
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
    rows, (c, w, v) = stored(storage, "f8"), vectors()
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
    rows, (c, w, _) = stored("C", "f4"), vectors()
    w, y, g = w.astype(np.float32), targets(SQUARED), np.zeros(P)
    value, _ = linear.value_and_gradient_pass(rows, y, c, w, np.float32(0.5), SQUARED, 1.0, 0, N, g)
    X = matrix("f4").astype(np.float64)
    values, slopes, _ = slow_loss(SQUARED, X @ w.astype(np.float64) + 0.5, y)
    close(value, c @ values)
    close(g, X.T @ (c * slopes))


def test_samples_of_weight_zero_do_not_count():
    rows, (c, w, _) = stored("C", "f8"), vectors()
    y, g, fewer = targets(SQUARED), np.zeros(P), np.zeros(P)
    c[4:] = 0.0
    whole = linear.value_and_gradient_pass(rows, y, c, w, 0.0, SQUARED, 1.0, 0, N, g)
    part = linear.value_and_gradient_pass(rows, y, c, w, 0.0, SQUARED, 1.0, 0, 4, fewer)
    close(whole, part)
    close(g, fewer)


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_results_of_blocks_come_in_row_order_and_cover_the_rows(threads):
    first_may_go = threading.Event()

    def work(start, stop):
        if start == 0:  # ends last, and must still come first
            first_may_go.wait(10)
        elif stop == 20:
            first_may_go.set()
        return start, stop

    blocks = linear.in_row_blocks(work, 20, linear.SERIAL_BELOW, threads)
    assert len(blocks) == threads
    assert blocks[0][0] == 0
    assert blocks[-1][1] == 20
    assert all(left[1] == right[0] for left, right in itertools.pairwise(blocks))
    sizes = [stop - start for start, stop in blocks]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("rows", "entries", "threads"),
    [
        (20, linear.SERIAL_BELOW - 1, 2),
        (20, linear.SERIAL_BELOW, 1),
        (1, linear.SERIAL_BELOW, 2),
    ],
)
def test_small_work_stays_in_the_calling_thread(rows, entries, threads):
    seen = linear.in_row_blocks(
        lambda start, stop: (start, stop, threading.current_thread()), rows, entries, threads
    )
    assert seen == [(0, rows, threading.current_thread())]


def test_large_work_is_shared_with_another_thread():
    seen = linear.in_row_blocks(
        lambda start, stop: threading.current_thread(), 20, linear.SERIAL_BELOW, 2
    )
    assert seen[0] is threading.current_thread()
    assert seen[1] is not seen[0]


def test_without_a_number_of_threads_every_core_gets_a_block(monkeypatch):
    monkeypatch.setattr(linear, "available_threads", lambda: 3)
    blocks = linear.in_row_blocks(lambda start, stop: stop, 9, linear.SERIAL_BELOW)
    assert blocks == [3, 6, 9]


def test_an_error_in_another_thread_is_raised():
    def work(start, stop):
        if start:
            raise RuntimeError("in the second block")

    with pytest.raises(RuntimeError, match="in the second block"):
        linear.in_row_blocks(work, 20, linear.SERIAL_BELOW, 2)


def test_one_and_two_threads_give_the_same_to_rounding():
    rng = np.random.default_rng(5)
    n = linear.SERIAL_BELOW // P + 1
    X, y, c = rng.standard_normal((n, P)), rng.standard_normal(n), np.full(n, 1 / n)
    w = rng.standard_normal(P)

    def total(threads):
        def work(start, stop):
            g = np.zeros(P)
            sums = linear.value_and_gradient_pass(X, y, c, w, 0.1, SQUARED, 1.0, start, stop, g)
            return np.array([*sums, *g])

        parts = linear.in_row_blocks(work, n, X.size, threads)
        assert len(parts) == threads
        return np.sum(parts, axis=0)

    np.testing.assert_allclose(total(1), total(2), rtol=1e-12, atol=1e-14)


def test_by_columns_blocks_of_rows_follow_one_another():
    rng = np.random.default_rng(4)
    X = np.asfortranarray(rng.standard_normal((2500, 3)))
    w, c = rng.standard_normal(3), rng.random(2500)
    start, stop = 100, 2400  # more than two blocks, and not from the first row on
    z, g, squares = np.zeros(2500), np.zeros(3), np.zeros(3)
    linear.margins_pass(X, w, 0.5, start, stop, z)
    linear.transpose_pass(X, c, start, stop, g)
    linear.column_squares_pass(X, c, start, stop, squares)
    np.testing.assert_allclose(z[start:stop], X[start:stop] @ w + 0.5, rtol=1e-12, atol=1e-12)
    assert not z[:start].any()
    assert not z[stop:].any()
    np.testing.assert_allclose(g, X[start:stop].T @ c[start:stop], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(squares, c[start:stop] @ X[start:stop] ** 2, rtol=1e-12)
