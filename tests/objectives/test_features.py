"""Features about any origin, in any unit: what enters kernels, and what leaves them."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from threadpoolctl import threadpool_limits

from far_columns import (
    OFFSETS,
    STORAGES,
    N,
    P,
    exact,
    fractions,
    matrix,
    rows_of,
    shift_of,
    weights,
    within,
)
from thalweg.objectives.features import Features

SCALES = np.array([0.5, 3.0, 0.1, 7.0])
ORIGINS = ("zero", "mean", "near")
CASES = [
    (storage, offset, origin) for storage in STORAGES for offset in OFFSETS for origin in ORIGINS
]
K = 3
CACHED = ("centred", "column_squares", "row_squares", "dense", "row_products", "gram_extent")


def features(X, origin="zero", *, scaled=False, outputs=1, fit_intercept=True):
    """As users see them, about the mean, or about a place near that; K outputs are a matrix."""
    rows = rows_of(X)
    places = {"zero": None, "mean": rows.means, "near": rows.means + np.linspace(-2.0, 1.0, P)}
    return Features(
        rows,
        fit_intercept=fit_intercept,
        origin=places[origin],
        scales=SCALES if scaled else None,
        outputs=outputs,
        is_matrix=outputs > 1,
    )


def seen(X, these):
    """x̂ by its definition, longdouble[n, p]."""
    return (exact(X) - these.place) * these.units


def variables(these, seed=1):
    """Such that scores are small, however far the features are from zero."""
    w = np.random.default_rng(seed).standard_normal(these.dim)
    W, b = these.split(w)
    if these.fit_intercept:
        b = b - (these.rows.means - these.place) @ (these.units * W.T).T
        w = these.join(W, b)
    return w


def test_by_hand():
    # x = (1, 10), (3, 30) about a = (2, 10) in units of d = (10, 1): x̂ = (−10, 0), (10, 20).
    rows = rows_of(np.array([[1.0, 10.0], [3.0, 30.0]]), np.array([0.5, 0.5]))
    these = Features(
        rows, fit_intercept=True, origin=np.array([2.0, 10.0]), scales=np.array([10.0, 1.0]),
        outputs=1, is_matrix=False,
    )  # fmt: skip
    W, beta = these.enter(np.array([2.0, 3.0, 4.0]))
    assert W.tolist() == [20.0, 3.0]
    assert beta == 4 - 2 * 20 - 10 * 3
    assert rows.product(W, beta).tolist() == [-20 + 0 + 4, 20 + 60 + 4]
    # Σ rᵢx̂ᵢ for r = (1, 2), from Σ rᵢxᵢ = (7, 70) and Σ rᵢ = 3.
    assert these.leave(np.array([7.0, 70.0]), 3.0).tolist() == [10.0, 40.0]
    assert these.column_squares.tolist() == [100.0, 200.0]
    assert these.row_squares.tolist() == [101.0, 501.0]
    plain = these.about(None, these.scales)
    assert these.recentred(np.array([2.0, 3.0, 4.0]), plain).tolist() == [2.0, 3.0, -66.0]
    coefficients, b = these.in_units_of_X(np.array([2.0, 3.0, 4.0]))
    assert (coefficients.tolist(), b) == ([20.0, 3.0], -66.0)


@pytest.mark.parametrize("outputs", [1, K])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(("storage", "offset", "origin"), CASES)
def test_scores_are_those_of_the_features_to_the_digits_of_their_deviations(
    storage, offset, origin, scaled, outputs
):
    X = matrix(storage, offset)
    these = features(X, origin, scaled=scaled, outputs=outputs)
    w = variables(these)
    W, b = these.split(fractions(w))
    x = (fractions(exact(X)) - fractions(these.place)) * fractions(these.units)
    expected = (x @ W + b).astype(np.longdouble)
    found, beta = these.enter(w)
    # d∘w is rounded, which is felt by the features; what is far from zero is not, nor is β.
    x, size = exact(X) - shift_of(these.rows), np.abs(found)
    sizes = np.abs(x) @ size + np.abs(beta)
    if scaled:
        sizes = sizes + np.abs(exact(X) - these.place) @ size
    elif these.rows.shift is None and origin != "zero":
        sizes = sizes + np.abs(these.place) @ size  # a place of at most 100 deviations
    assert within(these.rows.product(found, beta), expected, sizes)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("storage", STORAGES)
def test_without_an_intercept_the_origin_is_zero(storage, offset):
    X = matrix(storage, offset)
    for scaled in (False, True):
        these = features(X, scaled=scaled, fit_intercept=False)
        w = variables(these)
        x = seen(X, these)
        assert within(these.rows.product(*these.enter(w)), x @ w, np.abs(x) @ np.abs(w))
        assert these.centred is these
        assert these.recentred(w, these) is w


@pytest.mark.parametrize("outputs", [1, K])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(("storage", "offset", "origin"), CASES)
def test_sums_leave_as_those_of_the_features(storage, offset, origin, scaled, outputs):
    X, c = matrix(storage, offset), weights()
    these = features(X, origin, scaled=scaled, outputs=outputs)
    theta = np.random.default_rng(2).standard_normal((N, outputs))
    r = c[:, None] * theta
    r = r[:, 0] if outputs == 1 else r
    G, total = these.rows.transpose(theta[:, 0] if outputs == 1 else theta)
    x, s = exact(X), shift_of(these.rows)
    sizes = np.abs(x - s).T @ np.abs(r) + np.multiply.outer(
        np.abs(s - these.place), np.abs(r).sum(0)
    )
    sizes = (these.units * sizes.T).T
    assert within(these.leave(G, total), seen(X, these).T @ r, sizes)


@pytest.mark.parametrize("outputs", [1, K])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("offset", OFFSETS)
def test_variables_are_carried_to_the_mean_and_back(storage, offset, scaled, outputs):
    X = matrix(storage, offset)
    here = features(X, scaled=scaled, outputs=outputs)
    there = here.centred
    assert there.origin is here.rows.means
    w = variables(here)
    moved = here.recentred(w, there)
    back = there.recentred(moved, here)
    count = P * outputs
    np.testing.assert_array_equal(moved[:count], w[:count])
    np.testing.assert_array_equal(back[:count], w[:count])
    W, b = here.split(w)
    W = (here.units * W.T).T.reshape(P, outputs)
    for k in range(outputs):
        terms = [Fraction(m) * Fraction(v) for m, v in zip(here.rows.means, W[:, k], strict=True)]
        true = Fraction(np.ravel(b)[k]) + sum(terms)
        if here.rows.shift is None:
            assert within(
                moved[count + k], float(true), abs(float(true)) + float(sum(map(abs, terms)))
            )
        else:
            assert moved[count + k] == float(true)  # as if there were no rounding but the last
    assert within(back[count:], w[count:], np.abs(moved[count:]) + np.abs(w[count:]), ulps=2)
    # The same function: scores at both are the same.
    scores = here.rows.product(*here.enter(w)), there.rows.product(*there.enter(moved))
    sizes = np.abs(exact(X) - shift_of(here.rows)) @ np.abs(W) + np.abs(moved[count:])
    if here.rows.shift is None:
        sizes = sizes + np.abs(here.rows.means) @ np.abs(W)
    assert within(scores[1].reshape(N, outputs), scores[0].reshape(N, outputs), sizes)


@pytest.mark.parametrize("lift", [0.0, -2.5, 1e9])
def test_scores_rise_by_the_lift(lift):
    these = features(matrix("C", 0.0), outputs=K)
    w = variables(these)
    moved = these.recentred(w, these, lift)
    np.testing.assert_array_equal(moved[: P * K], w[: P * K])
    np.testing.assert_array_equal(moved[P * K :], w[P * K :] + lift)


def test_carried_variables_are_fresh_and_of_the_same_dtype():
    here = features(matrix("float32", 1e3))
    there = here.centred
    for dtype in (np.float32, np.float64):
        w = variables(here).astype(dtype)
        moved = here.recentred(w, there)
        assert moved.dtype == dtype
        assert not np.shares_memory(moved, w)
        assert there.recentred(moved, there) is moved


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("outputs", [1, K])
@pytest.mark.parametrize(("storage", "offset", "origin"), CASES)
def test_in_the_units_of_x(storage, offset, origin, outputs, scaled):
    X = matrix(storage, offset)
    these = features(X, origin, scaled=scaled, outputs=outputs)
    w = variables(these)
    before = w.copy()
    W, b = these.in_units_of_X(w)
    plain, given = these.split(w)
    assert within(W, (these.units * plain.T).T.astype(np.longdouble), np.abs(W), ulps=1)
    expected = given - these.place.astype(np.longdouble) @ W
    sizes = np.abs(expected) + (np.abs(these.place) @ np.abs(W) if these.rows.shift is None else 0)
    assert within(b, expected, sizes, ulps=4)
    assert not np.shares_memory(W, w)
    np.testing.assert_array_equal(w, before)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(("storage", "offset", "origin"), CASES)
def test_squares_of_rows_and_columns(storage, offset, origin, scaled):
    X, c = matrix(storage, offset), weights()
    these = features(X, origin, scaled=scaled)
    x, s = exact(X), shift_of(these.rows)
    terms = (np.abs(x - s) + np.abs(s - these.place)) * these.units
    squares = np.sum(seen(X, these) ** 2, axis=1)
    assert within(these.row_squares, squares + 1.0, np.sum(terms**2, axis=1) + 1.0)
    bare = features(X, scaled=scaled, fit_intercept=False)
    plain = np.sum(seen(X, bare) ** 2, axis=1)
    assert within(
        bare.row_squares, plain, np.sum((np.abs(x) + 2 * np.abs(s)) ** 2 * bare.units**2, axis=1)
    )
    expected = c @ seen(X, these) ** 2
    sizes = c @ terms**2 + (c @ x**2 if these.rows.shift is None else 0.0) * these.units**2
    if origin == "mean":  # about the mean as it is, and not as it is rounded
        expected = expected - (these.units * these.rows.tilt.astype(np.longdouble)) ** 2
        sizes = sizes + (c @ x**2 * these.units**2) * (these.rows.tilt == 0.0)
    assert within(these.column_squares, expected, sizes)
    assert np.all(these.lengths() >= np.sqrt(c @ seen(X, these) ** 2) * (1 - 1e-12))


@pytest.mark.parametrize("outputs", [1, K])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(("storage", "offset", "origin"), CASES)
def test_gram_products_and_the_ends_of_the_spectrum(storage, offset, origin, scaled, outputs):
    X, c = matrix(storage, offset), weights()
    these = features(X, origin, scaled=scaled, outputs=outputs)
    x = np.column_stack([seen(X, these), np.ones(N)])
    G = (x.T * c) @ x
    v = np.random.default_rng(3).standard_normal(P + 1)
    size = c @ np.abs(x) ** 2
    bound = np.sqrt(size) * (np.sqrt(size) @ np.abs(v))
    if these.rows.shift is None:
        bound = bound + (c @ exact(X) ** 2).max() * 50.0
    assert within(these.gram_vector(v), G @ v, bound, ulps=64)
    exact_end = np.linalg.eigvalsh(G.astype(np.float64))[-1]
    assert these.gram_extent.interval[1] >= exact_end * (1 - 1e-12)
    assert these.gram_extent.largest == pytest.approx(exact_end, rel=1e-9)
    assert these.gram_extent is these.gram_extent


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("outputs", [1, K])
def test_split_and_join_are_inverse(outputs, fit_intercept):
    these = features(matrix("C", 0.0), outputs=outputs, fit_intercept=fit_intercept)
    assert these.dim == outputs * (P + fit_intercept)
    w = np.arange(1.0, these.dim + 1)
    W, b = these.split(w)
    assert W.shape == ((P, K) if outputs > 1 else (P,))
    assert np.shape(b) == ((K,) if outputs > 1 else ())
    assert np.shares_memory(W, w)
    np.testing.assert_array_equal(these.join(W, b), w)
    if not fit_intercept:
        assert not np.any(b)


def test_what_enters_is_a_view_where_nothing_is_done_to_it():
    these = features(matrix("C", 0.0))
    w = variables(these)
    W, b = these.enter(w)
    assert np.shares_memory(W, w)
    assert (type(b), b) == (np.float64, w[-1])
    narrow, _ = these.enter(w.astype(np.float32))
    assert narrow.dtype == np.float64
    w.flags.writeable = False  # of two types, each kernel would be compiled twice
    assert these.enter(w)[0].flags.writeable


@pytest.mark.parametrize("storage", ["C", "csr"])
def test_of_other_rows_origin_and_scales_stay(storage):
    X, c = matrix(storage, 1e6), weights()
    whole = features(X, "mean", scaled=True)
    caches = whole.row_squares, whole.column_squares, whole.gram_extent
    part = whole.on(whole.rows.part(whole.rows.matrix.between(10, 30), c[10:30] / c[10:30].sum()))
    assert part.is_centred
    assert part.centred is part
    w = variables(whole)
    np.testing.assert_allclose(
        part.rows.product(*part.enter(w)), whole.rows.product(*whole.enter(w))[10:30], rtol=1e-12
    )
    np.testing.assert_allclose(part.row_squares, whole.row_squares[10:30], rtol=1e-12)
    x, own = seen(X, whole)[10:30], c[10:30] / c[10:30].sum()
    np.testing.assert_allclose(part.column_squares, (own @ x**2).astype(float), rtol=1e-9)
    assert part.gram_extent.largest != caches[2].largest
    assert whole.row_squares is caches[0]
    assert whole.column_squares is caches[1]


def test_views_that_are_the_same_are_not_made_again():
    these = features(matrix("C", 1e6))
    centred = these.centred
    assert not these.is_centred
    assert centred.is_centred
    assert centred.centred is centred
    np.testing.assert_array_equal(these.place, 0.0)
    np.testing.assert_array_equal(these.units, 1.0)
    several = these.with_outputs(K, is_matrix=True)
    assert (several.dim, these.dim) == (K * (P + 1), P + 1)
    assert several.rows is these.rows


@pytest.mark.parametrize("last", [0.0, 1.0])
def test_many_features_have_the_same_bits_whatever_blas_may_take(last):
    # A product of long vectors that BLAS spread over its threads would show how many those were.
    rng = np.random.default_rng(5)
    X = rng.standard_normal((3, 40_000)) + 2.0
    X[:, -1] = last
    for outputs in (1, K):
        these = Features(
            rows_of(X, np.full(3, 1 / 3)), fit_intercept=True, origin=None, scales=None,
            outputs=outputs, is_matrix=outputs > 1,
        ).centred  # fmt: skip
        w = rng.standard_normal(these.dim)
        found = []
        for threads in (1, 2):
            with threadpool_limits(limits=threads, user_api="blas"):
                found.append(np.ravel(these.enter(w)[1]))
        np.testing.assert_array_equal(*found)


def test_a_sparse_matrix_stays_sparse():
    # Dense, this one would take 80 GB.
    X = scipy.sparse.random_array((100_000, 100_000), density=1e-6, rng=np.random.default_rng(0))
    these = Features(
        rows_of(X.tocsr(), np.full(100_000, 1e-5)), fit_intercept=True, origin=None, scales=None,
        outputs=1, is_matrix=False,
    ).centred  # fmt: skip
    w = np.append(np.ones(100_000), 0.25)
    scores = these.rows.product(*these.enter(w))
    assert scores.mean() == pytest.approx(0.25, rel=1e-10)


@pytest.mark.parametrize(("storage", "offset", "origin"), CASES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_dense_rows_are_those_of_the_model(storage, offset, origin, fit_intercept):
    X = matrix(storage, offset)
    these = features(X, origin, scaled=True, fit_intercept=fit_intercept)
    slow = seen(X, these).astype(np.float64)
    assert within(these.dense[:, :P], slow, np.abs(slow) + np.abs(these.place * these.units))
    assert these.dense.shape == (N, P + fit_intercept)
    assert np.all(these.dense[:, P:] == 1.0)


def test_other_rows_know_nothing_of_the_whole():
    these = features(matrix("C", 0.0), "mean")
    for name in CACHED:
        getattr(these, name)
    assert set(CACHED) <= set(vars(these))
    assert not set(CACHED) & set(vars(these.on(these.rows)))


def test_the_same_number_of_scores_are_the_same_features():
    these = features(matrix("C", 0.0))
    assert these.with_outputs(1, is_matrix=False) is these
    assert these.with_outputs(1, is_matrix=True).is_matrix
    assert these.with_outputs(K, is_matrix=True).outputs == K
