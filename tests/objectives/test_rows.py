"""The rows as kernels see them, and sums over them, against exact arithmetic."""

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from far_columns import (
    EPS,
    OFFSETS,
    STORAGES,
    N,
    P,
    exact,
    matrix,
    rows_of,
    shift_of,
    weights,
    within,
)
from thalweg.kernels.rows import CSR, Centred
from thalweg.objectives.matrix import check_matrix
from thalweg.objectives.rows import OFFSET, Rows, is_full

CASES = [(storage, offset) for storage in STORAGES for offset in OFFSETS]
K = 3


def test_by_hand():
    # Means 2 and 1000, variances 1 and ¼: the second is dwarfed by its mean.
    rows = rows_of(np.array([[1.0, 1000.5], [3.0, 999.5]]), np.array([0.5, 0.5]))
    assert rows.means.tolist() == [2.0, 1000.0]
    assert rows.variances.tolist() == [1.0, 0.25]
    assert rows.shift.tolist() == [2.0, 1000.0]
    assert isinstance(rows.seen, Centred)
    assert rows.product(np.array([1.0, 10.0]), 0.5).tolist() == [-1 + 5 + 0.5, 1 - 5 + 0.5]
    sums, total = rows.transpose(np.array([2.0, 4.0]))
    assert (sums.tolist(), total) == ([-1 + 2, 0.5 - 1], 3.0)
    sums, total = rows.gram_vector(np.array([1.0, 2.0]), np.array([1.0, 0.0]), 3.0)
    assert (sums.tolist(), total) == ([-2 + 8, 1 - 4], 2.0 + 8.0)
    assert rows.squares_about(None).tolist() == [5.0, 1000.0**2 + 0.25]
    assert rows.squares_about(np.array([1.0, 1001.0])).tolist() == [2.0, 1.25]
    assert rows.lengths.tolist() == [1.0, 0.5]


@pytest.mark.parametrize(("storage", "offset"), CASES)
@pytest.mark.parametrize("c", [weights(), np.full(N, 1 / N)], ids=["weighted", "even"])
def test_means_and_variances_are_those_of_exact_arithmetic(storage, offset, c):
    X = matrix(storage, offset)
    rows, x = rows_of(X, c), exact(X)
    mean = c @ x
    assert within(rows.means, mean, np.abs(mean) + c @ np.abs(x - mean), ulps=4)
    variance = c @ (x - mean / c.astype(np.longdouble).sum()) ** 2
    # A difference of squares, where the mean is not so large that it would cost many digits.
    sizes = np.where(variance < OFFSET * c @ x**2, variance, c @ x**2)
    assert within(rows.variances, variance, sizes)
    # What the rounding of the mean has left.
    tilt = np.where(variance < OFFSET * c @ x**2, c @ (x - rows.means), 0.0)
    assert within(rows.tilt, tilt, c @ np.abs(x - mean))


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("storage", ["C", "F", "float32"])
def test_a_dense_matrix_is_seen_about_its_means_where_one_of_them_is_large(storage, offset):
    X = matrix(storage, offset)
    rows = rows_of(X)
    if offset < 1e3:
        assert rows.shift is None
        assert rows.seen is rows.matrix.rows
        return
    assert isinstance(rows.seen, Centred)
    assert np.shares_memory(rows.seen.values, X)  # nothing is copied
    assert rows.seen.means is rows.shift
    # What is left after the shift is no larger than the deviation.
    assert np.all((rows.means - rows.shift) ** 2 <= 1e-12 * rows.variances)


@pytest.mark.parametrize("offset", OFFSETS)
def test_of_a_sparse_matrix_only_what_every_row_stores_is_shifted(offset):
    X = matrix("csr", offset)
    rows = rows_of(X)
    if offset < 1e3:
        assert rows.shift is None
        assert rows.seen is rows.matrix.rows
        return
    assert isinstance(rows.seen, CSR)
    assert np.array_equal(rows.seen.data, X.data - rows.shift[X.indices])  # exact: see Centred
    assert rows.seen.data.dtype == np.float64
    for seen, given in zip(rows.seen[1:], (X.indices, X.indptr), strict=True):
        assert np.shares_memory(seen, given)
    assert (rows.shift != 0.0).tolist() == [True, True, False, False]


def test_a_column_is_shifted_from_a_hundred_deviations_on():
    deviation = np.tile([-1.0, 1.0], 10)[:, None]
    edge = OFFSET**-0.5
    for mean, is_shifted in ((0.99 * edge, False), (1.01 * edge, True)):
        for storage in (np.asarray, scipy.sparse.csr_array):
            rows = rows_of(storage(deviation + mean), np.full(20, 1 / 20))
            assert (rows.shift is not None) == is_shifted


def test_a_row_of_weight_zero_may_leave_an_entry_out():
    # Weighted, the column is far from zero; but one row has a zero there, which stays a zero.
    X = np.array([[1e6, 1.0], [1e6 + 1.0, 2.0], [0.0, 3.0]])
    rows = rows_of(scipy.sparse.csr_array(X), np.array([0.5, 0.5, 0.0]))
    assert rows.shift is None
    np.testing.assert_array_equal(rows.product(np.array([1.0, 0.0]), 0.0), X[:, 0])


@pytest.mark.parametrize(("storage", "offset"), CASES)
def test_products_lose_nothing_to_what_is_common_to_all_rows(storage, offset):
    X = matrix(storage, offset)
    rows, rng = rows_of(X), np.random.default_rng(1)
    x = exact(X) - shift_of(rows)
    assert np.abs(x).max() <= 10.0 * max(1.0, offset / 1e6) + 7.0  # as deviations are
    W, b = rng.standard_normal(P), 0.3
    assert within(rows.product(W, b), x @ W + b, np.abs(x) @ np.abs(W) + abs(b))
    W, b = rng.standard_normal((P, K)), rng.standard_normal(K)
    assert within(rows.product(W, b), x @ W + b, np.abs(x) @ np.abs(W) + np.abs(b))


@pytest.mark.parametrize(("storage", "offset"), CASES)
def test_sums_over_rows_lose_nothing_either(storage, offset):
    X = matrix(storage, offset)
    rows, c, rng = rows_of(X), weights(), np.random.default_rng(2)
    x = exact(X) - shift_of(rows)
    for theta in (rng.standard_normal(N), rng.standard_normal((N, K))):
        weighted = (c * theta.T).T
        sums, total = rows.transpose(theta)
        assert within(sums, x.T @ weighted, np.abs(x).T @ np.abs(weighted))
        assert within(total, weighted.sum(axis=0), np.abs(weighted).sum(axis=0))
    h, v, v_b = rng.random(N), rng.standard_normal(P), -0.7
    sums, total = rows.gram_vector(h, v, v_b)
    inner, size = h * (x @ v + v_b), h * (np.abs(x) @ np.abs(v) + abs(v_b))
    assert within(sums, inner @ x, size @ np.abs(x))
    assert within(total, inner.sum(), size.sum())


@pytest.mark.parametrize(("storage", "offset"), CASES)
def test_squares_about_any_origin(storage, offset):
    X = matrix(storage, offset)
    rows, x, c = rows_of(X), exact(X), weights()
    near = rows.means + np.linspace(-1.0, 1.0, P)
    s = shift_of(rows)
    for origin in (None, near, np.zeros(P), rows.means.copy()):
        a = np.zeros(P) if origin is None else origin
        off = np.abs(x - s) + np.abs(s - a)
        assert within(rows.squares_about(origin), c @ (x - a) ** 2, c @ off**2)
        assert within(rows.mean_about(origin), c @ (x - a), c @ off)
    # About the mean as it is, and not as it is rounded: less by the square of that.
    assert rows.squares_about(rows.means) is rows.variances
    assert within(rows.lengths, np.sqrt(c @ (x - s) ** 2), np.sqrt(c @ (x - s) ** 2))


@pytest.mark.parametrize("storage", STORAGES)
def test_squares_are_never_negative(storage):
    X = matrix(storage, 1e9)
    rows = rows_of(X)
    for k in range(N):  # about a place where one of the rows is
        assert np.all(rows.squares_about(exact(X)[k].astype(np.float64)) >= 0.0)


@pytest.mark.parametrize("constant", [0.0, 0.1, -3e6, 1e9 + 1 / 3])
@pytest.mark.parametrize("storage", ["C", "csr"])
def test_a_constant_has_no_variance(storage, constant):
    X = matrix("C", 1e3)
    X[:, 1] = constant
    X = scipy.sparse.csr_array(X) if storage == "csr" else X
    for c in (weights(), np.full(N, 1 / N)):
        rows = rows_of(X, c)
        assert rows.variances[1] == 0.0
        assert np.all(rows.variances[[0, 2, 3]] > 0.0)
        assert rows.means[1] == pytest.approx(constant, rel=4 * EPS)


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
def test_a_small_deviation_beside_a_large_mean_is_no_constant(storage):
    X = 1e9 + np.tile([-1.0, 1.0], 10)[:, None] / 1024.0
    rows = rows_of(storage(X), np.full(20, 1 / 20))
    assert rows.variances[0] == pytest.approx(1024.0**-2, rel=1e-12)


@pytest.mark.parametrize(("storage", "offset"), CASES)
def test_part_of_the_rows_is_seen_as_the_whole_is(storage, offset):
    X, c = matrix(storage, offset), weights()
    rows = rows_of(X, c)
    here, some = slice(7, 29), np.array([31, 3, 3, 18])
    W = np.random.default_rng(3).standard_normal(P)
    whole = rows.product(W, 0.2)
    for taken, part in (
        (here, rows.part(rows.matrix.between(7, 29), c[here] / c[here].sum())),
        (some, rows.part(rows.matrix.take(some), c[some] / c[some].sum())),
    ):
        x, own = exact(X)[taken], c[taken] / c[taken].sum()
        assert part.n == len(own)
        assert type(part.seen) is type(rows.seen)  # kernels compile nothing new
        np.testing.assert_array_equal(shift_of(part), shift_of(rows))
        np.testing.assert_allclose(part.product(W, 0.2), whole[taken], rtol=1e-14, atol=1e-14)
        # Its mean and its squares are its own, though it is seen about the mean of all.
        assert part.means is rows.means
        s = shift_of(rows)
        for origin in (None, part.means):
            a = np.zeros(P) if origin is None else origin
            off = np.abs(x - s) + np.abs(s - a)
            assert within(part.mean_about(origin), own @ (x - a), own @ off)
            assert within(part.squares_about(origin), own @ (x - a) ** 2, own @ off**2)
        assert within(part.lengths, np.sqrt(own @ (x - s) ** 2), np.sqrt(own @ (x - s) ** 2))


def test_part_of_a_part_and_other_weights():
    X, c = matrix("C", 1e6), weights()
    rows = rows_of(X, c)
    part = rows.part(rows.matrix.between(5, 30), np.full(25, 1 / 25))
    assert part.moments[0].shape == (P,)  # measured, and not to be taken over by what follows
    inner = part.part(part.matrix.between(5, 10), np.full(5, 1 / 5))
    np.testing.assert_allclose(inner.mean_about(None), X[10:15].mean(axis=0), rtol=1e-14)
    np.testing.assert_array_equal(inner.shift, rows.shift)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_with_its_place(storage, offset, bad):
    for row in (0, 16, 25):  # of weight zero, too
        X = matrix("C", offset)
        X[row, 1] = X[row + 7, 0] = bad
        X = {"F": np.asfortranarray, "csr": scipy.sparse.csr_array}.get(storage, np.asarray)(X)
        X = X.astype(np.float32) if storage == "float32" else X
        says = f"^X must be finite, got {bad} in row {row}, column 1: impute or drop NaN"
        with pytest.raises(tw.InputError, match=says):
            rows_of(X)


@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
def test_what_is_huge_is_finite(storage):
    X = matrix("C", 1e3)
    X[3, 2] = 1e200  # its square is not
    rows = rows_of(storage(X))
    expected = X[:, 2] - shift_of(rows)[2].astype(float)
    np.testing.assert_allclose(rows.product(np.array([0.0, 0.0, 1.0, 0.0]), 0.0), expected)
    assert np.isinf(rows.squares_about(None)[2])
    assert np.isinf(rows.lengths[2])


@pytest.mark.parametrize(("storage", "offset"), CASES)
def test_any_number_of_threads_gives_the_same_bits(storage, offset, cut_finely):
    X, rng = matrix(storage, offset), np.random.default_rng(4)
    theta, Theta = rng.standard_normal(N), rng.standard_normal((N, K))
    W, V = rng.standard_normal(P), rng.standard_normal((P, K))

    def found(threads):
        rows = rows_of(X, threads=threads)
        return [
            rows.means, rows.variances, rows.product(W, 0.1), rows.product(V, np.ones(K)),
            *rows.transpose(theta), *rows.transpose(Theta), *rows.gram_vector(theta, W, 0.2),
            *rows.part(rows.matrix.between(3, 33), np.full(30, 1 / 30)).moments,
        ]  # fmt: skip

    cut_finely()
    expected = found(1)
    for threads in (2, 3, 8):
        for part, one in zip(found(threads), expected, strict=True):
            np.testing.assert_array_equal(part, one)


@pytest.mark.parametrize("offset", OFFSETS)
def test_moments_that_are_known_make_the_same_rows(offset):
    X = matrix("C", offset)
    measured = rows_of(X)
    given = Rows(check_matrix(X), weights(), moments=(measured.means, measured.variances))
    np.testing.assert_array_equal(given.means, measured.means)
    np.testing.assert_array_equal(given.variances, measured.variances)
    assert (given.shift is None) == (measured.shift is None)
    w = np.random.default_rng(5).standard_normal(P)
    np.testing.assert_array_equal(given.product(w, 0.1), measured.product(w, 0.1))


def test_work_is_over_all_rows_whatever_it_is():
    rows = rows_of(matrix("C", 0.0))
    assert rows.sums(lambda start, stop: stop - start) == N
    assert rows.sums(lambda start, stop: stop - start, outputs=K) == N
    assert rows.light(lambda start, stop: stop - start, 10**9, add=True) == N
    for each in (
        rows.each,
        lambda work: rows.light(work, 10**9, add=False),
    ):
        seen = np.zeros(N)

        def work(start, stop, seen=seen):
            seen[start:stop] += 1.0

        each(work)
        assert seen.tolist() == [1.0] * N


@pytest.mark.parametrize("stored", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
def test_products_with_many_columns_are_the_same_on_any_number_of_threads(stored):
    rng = np.random.default_rng(6)
    X, c = rng.standard_normal((3_000, 20)), np.full(3_000, 1 / 3_000)
    W, theta = rng.standard_normal((20, 60)), rng.standard_normal((3_000, 60))
    told = []
    for threads in (1, 2, 3):
        rows = Rows(check_matrix(stored(X)), c, threads)
        told.append((rows.product(W, np.arange(60.0)), *rows.transpose(theta)))
    for found, slow in zip(
        told[0], (X @ W + np.arange(60.0), X.T @ theta / 3_000, theta.mean(axis=0)), strict=True
    ):
        np.testing.assert_allclose(found, slow, rtol=1e-12, atol=1e-12)
    for others in told[1:]:
        for found, first in zip(others, told[0], strict=True):
            np.testing.assert_array_equal(found, first)


def test_full_columns_by_hand():
    X = np.array([[1.0, 0.0, 2.0], [3.0, 4.0, 5.0]])
    sparse = scipy.sparse.csr_array(X)
    assert is_full(check_matrix(sparse)).tolist() == [True, False, True]
    whole = check_matrix(sparse)
    assert is_full(whole.between(1, 2)).tolist() == [True, True, True]
    assert is_full(whole.take(np.array([0, 0]))).tolist() == [True, False, True]
    assert is_full(check_matrix(scipy.sparse.csr_array((3, 2)))).tolist() == [False, False]
    # A zero that is stored is an entry.
    stored = scipy.sparse.csr_array(([0.0, 1.0], [1, 1], [0, 1, 2]), shape=(2, 2))
    assert is_full(check_matrix(stored)).tolist() == [False, True]


@pytest.mark.parametrize("storage", STORAGES)
def test_nothing_that_was_passed_is_changed(storage):
    X, c = matrix(storage, 1e6), weights()
    before = exact(X)
    rows = rows_of(X, c)
    rows.product(np.ones(P), 0.0)
    rows.transpose(np.ones((N, K)))
    np.testing.assert_array_equal(exact(X), before)
    np.testing.assert_array_equal(c, weights())
