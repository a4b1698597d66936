"""Sums and maps of K scores a sample, against their definitions in longdouble."""

import itertools

import numpy as np
import pytest

from far_columns import OFFSETS, STORAGES, N, P, exact, matrix, rows_of, shift_of, weights, within
from thalweg.kernels import classes
from thalweg.objectives.class_scores import ClassScores

CASES = list(itertools.product(STORAGES, OFFSETS))
K = 3
LABELS = np.arange(N) % K


@pytest.fixture(autouse=True)
def several_blocks(monkeypatch):
    monkeypatch.setattr(classes, "BLOCK", 7 * P)


def term():
    return ClassScores(LABELS, K)


def softmax(Z):
    e = np.exp(Z - Z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def losses(Z):
    return -np.log(softmax(Z)[np.arange(N), LABELS])


def residuals(Z):
    return softmax(Z) - np.eye(K)[LABELS]


def curved(p, u):
    """(diag(p) − ppᵀ)u of every sample."""
    return np.array([(np.diag(q) - np.outer(q, q)) @ v for q, v in zip(p, u, strict=True)])


def point(x=1.0):
    """W, b, V and v_b of kernels, for scores of about one where the entries are `x`."""
    rng = np.random.default_rng(2)
    size = max(1.0, float(np.abs(x).max()) / 10.0)
    W, V = rng.standard_normal((2, P, K))
    return W / (4.0 * size), rng.standard_normal(K), V, rng.standard_normal(K)


def test_by_hand():
    # W = 0 and b = (0, log 2, log 5): probabilities 1/8, 2/8, 5/8 for both samples.
    rows = rows_of(np.array([[1.0], [2.0]]), np.array([0.5, 0.5]))
    it, W, b = ClassScores(np.array([0, 2]), 3), np.zeros((1, 3)), np.log([1.0, 2.0, 5.0])
    expected = 0.5 * (np.log(8.0) + np.log(8 / 5))
    assert it.value(rows, W, b) == pytest.approx(expected, rel=1e-15)
    Z = np.full((2, 3), np.nan)
    value, G, slopes = it.gradient(rows, W, b, Z)
    assert value == pytest.approx(expected, rel=1e-15)
    np.testing.assert_allclose(Z, np.stack([b, b]), rtol=1e-15)
    # ½·1·(p − e₀) + ½·2·(p − e₂).
    np.testing.assert_allclose(G[0], [-7 / 16 + 1 / 8, 1 / 8 + 1 / 4, 5 / 16 - 3 / 8], atol=1e-16)
    np.testing.assert_allclose(slopes, [-3 / 8, 1 / 4, 1 / 8], atol=1e-16)
    P0 = it.bends(rows, Z)
    np.testing.assert_allclose(P0, [[1 / 8, 2 / 8, 5 / 8]] * 2, rtol=1e-15)
    np.testing.assert_allclose(it.curvatures(rows, P0)[0], [7 / 128, 6 / 64, 15 / 128], rtol=1e-15)


@pytest.mark.parametrize(("storage", "offset"), CASES)
def test_value_gradient_and_scores_keep_the_digits_of_the_deviations(storage, offset):
    X, c, it = matrix(storage, offset), weights(), term()
    rows = rows_of(X)
    x = exact(X) - shift_of(rows)
    W, b, _, _ = point(x)
    Z, R = x @ W + b, c[:, None] * residuals(x @ W + b)
    # A score is off by an ulp of its terms, which a loss feels by |p − e| and p by less than p.
    off = 1.0 + (np.abs(x) @ np.abs(W) + np.abs(b)).sum(axis=1, keepdims=True)
    sizes = c[:, None] * softmax(Z) * off + np.abs(R)
    value_size = c @ (losses(Z) + off[:, 0])
    assert within(it.value(rows, W, b), c @ losses(Z), value_size)
    for room in (None, np.full((N, K), np.nan)):
        value, G, total = it.gradient(rows, W, b, room)
        assert within(value, c @ losses(Z), value_size)
        assert within(G, x.T @ R, np.abs(x).T @ sizes)
        assert within(total, R.sum(axis=0), sizes.sum(axis=0))
        if room is not None:
            assert within(room, Z, np.abs(x) @ np.abs(W) + np.abs(b))


@pytest.mark.parametrize(("storage", "offset"), CASES)
def test_products_with_the_hessian_keep_them_too(storage, offset):
    X, c, it = matrix(storage, offset), weights(), term()
    rows = rows_of(X)
    x = exact(X) - shift_of(rows)
    W, b, V, v_b = point(x)
    p = softmax(x @ W + b)
    off = 1.0 + (np.abs(x) @ np.abs(W) + np.abs(b)).sum(axis=1, keepdims=True)
    u, size = x @ V + v_b, np.abs(x) @ np.abs(V) + np.abs(v_b)
    change = c[:, None] * curved(p, u)
    sizes = c[:, None] * p * off * (size + np.sum(p * size, axis=1, keepdims=True))
    bends = it.bends(rows, rows.product(W, b))
    assert within(bends, p, p * off)
    for out, total in (
        it.hessian_vector(rows, W, b, V, v_b),
        it.bent_vector(rows, bends, V, v_b),
    ):
        assert within(out, x.T @ change, np.abs(x).T @ sizes)
        assert within(total, change.sum(axis=0), sizes.sum(axis=0))
    h = it.curvatures(rows, bends)
    np.testing.assert_allclose(h, c[:, None] * bends * (1.0 - bends), rtol=1e-15)
    first, second = it.column_moments(rows, h)
    assert within(first, x.T @ h, np.abs(x).T @ h)
    assert within(second, (x**2).T @ h, (x**2).T @ h)


def test_maps_and_sums_of_scores_by_definition():
    rows, c, it = rows_of(matrix("C", 0.0)), weights(), term()
    Z, D = np.random.default_rng(4).standard_normal((2, N, K))
    r = it.weighted_slopes(rows, Z)
    np.testing.assert_allclose(r, c[:, None] * residuals(Z), rtol=1e-13, atol=1e-16)
    for step in (0.0, 0.4, -2.0):
        there = c[:, None] * residuals(Z + step * D)
        value, change = it.along(rows, Z, D, r, step)
        assert value == pytest.approx(c @ losses(Z + step * D), rel=1e-13)
        assert change == pytest.approx(np.sum((there - r) * D), rel=1e-12, abs=1e-16)
    theta, before = np.full((N, K), np.nan), Z.copy()
    assert it.slopes(c, Z, theta) == pytest.approx(c @ losses(Z), rel=1e-14)
    np.testing.assert_allclose(theta, residuals(Z), rtol=1e-13, atol=1e-16)
    np.testing.assert_array_equal(Z, before)


def test_no_curvature_is_above_its_bound():
    p = np.random.default_rng(5).dirichlet(np.ones(K), 50)
    largest = max(np.linalg.eigvalsh(np.diag(q) - np.outer(q, q))[-1] for q in p)
    assert 0.4 < largest <= term().curvature_bound == 0.5


@pytest.mark.parametrize("taken", [slice(3, 17), np.array([5, 5, 30, 1])], ids=["slice", "rows"])
def test_some_of_the_samples_have_a_term_of_their_own(taken):
    part = term().on(taken)
    np.testing.assert_array_equal(part.y, LABELS[taken])
    assert (part.outputs, part.is_matrix) == (K, True)  # though a class be missing


def test_labels_have_no_origin():
    it = term()
    assert it.centred(weights()) is it
    assert it.origin == 0.0


@pytest.mark.parametrize("storage", STORAGES)
def test_any_number_of_threads_gives_the_same_bits(storage, cut_finely):
    X, it = matrix(storage, 1e3), term()
    W, b, V, v_b = point()
    Z, D = np.random.default_rng(6).standard_normal((2, N, K))

    def found(threads):
        rows = rows_of(X, threads=threads)
        room, p = np.empty((N, K)), it.bends(rows, Z)
        return [
            it.value(rows, W, b), *it.gradient(rows, W, b), *it.gradient(rows, W, b, room), room, p,
            *it.hessian_vector(rows, W, b, V, v_b), *it.bent_vector(rows, p, V, v_b),
            *it.column_moments(rows, it.curvatures(rows, p)), it.weighted_slopes(rows, Z),
            *it.along(rows, Z, D, np.zeros((N, K)), 0.3),
        ]  # fmt: skip

    cut_finely()
    expected = found(1)
    for threads in (2, 3, 8):
        for part, one in zip(found(threads), expected, strict=True):
            np.testing.assert_array_equal(part, one)
