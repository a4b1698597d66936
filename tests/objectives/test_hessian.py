import itertools

import numpy as np
import pytest
import scipy.sparse

from linear_data import BOUNDED
from thalweg.objectives.linear import LinearProblem

STORAGES = {"C": np.ascontiguousarray, "F": np.asfortranarray, "csr": scipy.sparse.csr_array}


def problem(loss, storage="C", n=25, **options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4)) * np.logspace(-1, 1, 4) * (rng.random((n, 4)) < 0.8) + 1.0
    y = rng.standard_normal(n) if loss in ("squared", "huber") else np.arange(n) % 2
    y = np.arange(n) % 3 if loss == "multinomial" else y
    return LinearProblem(
        STORAGES[storage](X), y, loss, l2=0.2, delta=0.7, sample_weight=rng.random(n), **options
    )


def test_by_hand():
    # Squared: H = Σcᵢx̃ᵢx̃ᵢᵀ + l2 on the coefficient: ½(1 + 9) + ½, ½(1 + 3), 1.
    data = LinearProblem([[1.0], [3.0]], [0.0, 0.0], l2=0.5)
    H = data.hessian_at(np.zeros(2))
    np.testing.assert_allclose(H.matrix(), [[5.5, 2.0], [2.0, 1.0]], rtol=1e-15)
    assert H.diagonal().tolist() == [5.5, 1.0]
    assert H.vector(np.array([1.0, -1.0])).tolist() == [3.5, 1.0]


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("loss", BOUNDED)
def test_matrix_diagonal_and_products_are_those_of_the_problem(loss, storage):
    rng = np.random.default_rng(1)
    for fit_intercept, standardize in itertools.product((False, True), repeat=2):
        data = problem(loss, storage, fit_intercept=fit_intercept, standardize=standardize)
        w, v = rng.standard_normal(data.dim), rng.standard_normal(data.dim)
        expected = np.stack([data.hessian_vector(w, unit) for unit in np.eye(data.dim)])
        H = data.hessian_at(data.scores(w))
        np.testing.assert_allclose(H.matrix(), expected, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(H.diagonal(), np.diag(expected), rtol=1e-10)
        np.testing.assert_allclose(H.vector(v), expected @ v, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("loss", BOUNDED)
def test_curvatures_are_those_of_the_samples(loss):
    data = problem(loss, fit_intercept=False)
    w = np.random.default_rng(4).standard_normal(data.dim)
    H = data.hessian_at(data.scores(w))
    squares = data.matrix.rows**2
    expected = squares.T @ H.curvatures + data.l2
    np.testing.assert_allclose(H.diagonal(), expected.ravel(), rtol=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_float32_data_have_hessians_in_float64(loss):
    data = problem(loss)
    small = LinearProblem(data.matrix.rows.astype(np.float32), data.y, loss, l2=0.2)
    w = np.random.default_rng(2).standard_normal(small.dim).astype(np.float32)
    H = small.hessian_at(small.scores(w))
    exact = LinearProblem(small.matrix.rows.astype(np.float64), data.y, loss, l2=0.2)
    expected = exact.hessian(w.astype(np.float64))
    np.testing.assert_allclose(H.matrix(), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(H.vector(w), expected @ w, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(H.diagonal(), np.diag(expected), rtol=1e-12)


def test_a_constant_feature_that_is_centred_has_the_penalty_alone():
    X = np.column_stack([np.full(9, 1e3 + 1 / 3), np.arange(9.0)])
    data = LinearProblem(X, np.arange(9) % 2, "logistic", l2=0.25, standardize=True)
    diagonal = data.hessian_at(data.scores(np.ones(3))).diagonal()
    assert diagonal[0] == pytest.approx(0.25, rel=1e-6)
    assert diagonal[0] >= 0.25


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
@pytest.mark.parametrize("storage", STORAGES)
def test_any_number_of_threads_gives_the_same_bits(loss, storage, cut_finely):
    w = np.random.default_rng(5).standard_normal(problem(loss).dim)

    def found(threads):
        data = problem(loss, storage, threads=threads)
        H = data.hessian_at(data.scores(w))
        return [part.copy() for part in (H.matrix(), H.diagonal(), H.vector(w), H.curvatures)]

    whole = found(1)
    cut_finely()
    expected = found(1)
    for threads in (2, 3, 8):
        for part, one in zip(found(threads), expected, strict=True):
            np.testing.assert_array_equal(part, one)
    for part, one in zip(expected, whole, strict=True):
        np.testing.assert_allclose(part, one, rtol=1e-12, atol=1e-14)
