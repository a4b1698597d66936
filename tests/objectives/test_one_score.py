"""Sums and maps of one score a sample, against their definitions in longdouble."""

import itertools

import numpy as np
import pytest

from far_columns import OFFSETS, STORAGES, N, P, exact, matrix, rows_of, shift_of, weights, within
from linear_data import BOUNDED
from thalweg.kernels.losses import HUBER, LOGISTIC, LOSSES, SQUARED, SQUARED_HINGE
from thalweg.objectives.one_score import OneScore

CODES = {name: LOSSES[name] for name in BOUNDED if name != "multinomial"}
CASES = list(itertools.product(CODES, STORAGES, OFFSETS))
DELTA = 0.7


def term(loss, n=N):
    rng = np.random.default_rng(1)
    y = 2.0 * rng.standard_normal(n)
    y = np.sign(y) if CODES[loss] in (LOGISTIC, SQUARED_HINGE) else y
    return OneScore(CODES[loss], y, DELTA)


def slow_loss(code, z, y):
    """ℓ, ℓ′ and ℓ″, longdouble[n] each."""
    if code == LOGISTIC:
        s = 1 / (1 + np.exp(y * z))
        return np.log1p(np.exp(-y * z)), -y * s, s * (1 - s)
    if code == SQUARED_HINGE:
        short = np.maximum(0, 1 - y * z)
        return short**2 / 2, -y * short, (y * z < 1) * 1.0
    r = z - y
    if code == HUBER:
        inside = np.abs(r) <= DELTA
        value = np.where(inside, r**2 / 2, DELTA * np.abs(r) - np.longdouble(DELTA) ** 2 / 2)
        return value, np.clip(r, -DELTA, DELTA), inside * 1.0
    return r**2 / 2, r, np.ones_like(r)


def point(x=1.0):
    """W, b, V and v_b of kernels, for scores of about one where the entries are `x`."""
    rng = np.random.default_rng(2)
    size = max(1.0, float(np.abs(x).max()) / 10.0)
    return rng.standard_normal(P) / (4.0 * size), 0.3, rng.standard_normal(P), -0.8


def test_by_hand():
    # Scores 1·2 + 0·1 + 1 = 3 and 2·2 − 1·1 + 1 = 4: residuals 2 and −1.
    rows = rows_of(np.array([[1.0, 0.0], [2.0, -1.0]]), np.array([0.25, 0.75]))
    squared = OneScore(SQUARED, np.array([1.0, 5.0]), 1.0)
    W, z = np.array([2.0, 1.0]), np.full(2, np.nan)
    assert squared.value(rows, W, 1.0) == 0.25 * 2.0 + 0.75 * 0.5
    value, G, slopes = squared.gradient(rows, W, 1.0, z)
    assert (value, slopes) == (0.875, 0.25 * 2 - 0.75 * 1)
    assert G.tolist() == [0.25 * 2 - 0.75 * 2, 0.75 * 1]
    assert z.tolist() == [3.0, 4.0]
    # Along V = (1, 0) and v_b = 1 the scores rise by 2 and 3.
    out, total = squared.hessian_vector(rows, W, 1.0, np.array([1.0, 0.0]), 1.0)
    assert (out.tolist(), total) == ([0.25 * 2 + 0.75 * 6, -0.75 * 3], 0.25 * 2 + 0.75 * 3)
    r = squared.weighted_slopes(rows, z)
    assert r.tolist() == [0.5, -0.75]
    # At α = ½ along d = (1, 2) the residuals are 5/2 and 0.
    assert squared.along(rows, z, np.array([1.0, 2.0]), r, 0.5) == (
        0.25 * 3.125, (0.625 - 0.5) * 1 + (0 + 0.75) * 2,
    )  # fmt: skip
    theta = np.empty(2)
    assert squared.slopes(rows.weights, z, theta) == 0.875
    assert theta.tolist() == [2.0, -1.0]


@pytest.mark.parametrize(("loss", "storage", "offset"), CASES)
def test_value_gradient_and_scores_keep_the_digits_of_the_deviations(loss, storage, offset):
    X, c, it = matrix(storage, offset), weights(), term(loss)
    rows = rows_of(X)
    x = exact(X) - shift_of(rows)
    W, b, _, _ = point(x)
    z = x @ W + b
    losses, slopes, curvatures = slow_loss(it.code, z, it.y)
    # A score is off by an ulp of its terms, a loss by ℓ′ times that, a slope by ℓ″.
    off = np.abs(x) @ np.abs(W) + abs(b) + np.abs(it.y)
    value_size = c @ (np.abs(slopes) * off + off**2 * 1e-8 + np.abs(losses))
    slope_sizes = c * (curvatures * off + np.abs(slopes))
    assert within(it.value(rows, W, b), c @ losses, value_size)
    for room in (None, np.full(N, np.nan)):
        value, G, total = it.gradient(rows, W, b, room)
        assert within(value, c @ losses, value_size)
        assert within(G, x.T @ (c * slopes), np.abs(x).T @ slope_sizes)
        assert within(total, c @ slopes, slope_sizes.sum())
        if room is not None:
            assert within(room, z, np.abs(x) @ np.abs(W) + abs(b))


@pytest.mark.parametrize(("loss", "storage", "offset"), CASES)
def test_products_with_the_hessian_keep_them_too(loss, storage, offset):
    X, c, it = matrix(storage, offset), weights(), term(loss)
    rows = rows_of(X)
    x = exact(X) - shift_of(rows)
    W, b, V, v_b = point(x)
    z = x @ W + b
    _, _, curvatures = slow_loss(it.code, z, it.y)
    # ℓ″ of the logistic loss is off by at most ℓ″ times what the score is off by.
    off = 1.0 + np.abs(x) @ np.abs(W) + abs(b)
    d, size = x @ V + v_b, np.abs(x) @ np.abs(V) + abs(v_b)
    change, sizes = c * curvatures * d, c * curvatures * off * size
    h = it.bends(rows, rows.product(W, b))
    assert within(h, c * curvatures, c * curvatures * off)
    assert it.curvatures(rows, h) is h
    for out, total in (
        it.hessian_vector(rows, W, b, V, v_b),
        it.bent_vector(rows, h, V, v_b),
    ):
        assert within(out, x.T @ change, np.abs(x).T @ sizes)
        assert within(total, change.sum(), sizes.sum())
    first, second = it.column_moments(rows, h)
    assert within(first, h @ x, h @ np.abs(x))
    assert within(second, h @ x**2, h @ x**2)


@pytest.mark.parametrize("loss", CODES)
def test_maps_and_sums_of_scores_by_definition(loss):
    rows, c, it = rows_of(matrix("C", 0.0)), weights(), term(loss)
    rng = np.random.default_rng(4)
    z, d = rng.standard_normal((2, N))
    losses, slopes, _ = slow_loss(it.code, z, it.y)
    r = it.weighted_slopes(rows, z)
    np.testing.assert_allclose(r, (c * slopes).astype(float), rtol=1e-13, atol=1e-16)
    for step in (0.0, 0.4, -2.0):
        ahead, there, _ = slow_loss(it.code, z + step * d, it.y)
        value, change = it.along(rows, z, d, r, step)
        assert value == pytest.approx(float(c @ ahead), rel=1e-13)
        assert change == pytest.approx(float((c * there - c * slopes) @ d), rel=1e-12, abs=1e-16)
    theta = np.full(N, np.nan)
    assert it.slopes(c, z, theta) == pytest.approx(float(c @ losses), rel=1e-14)
    np.testing.assert_allclose(theta, slopes.astype(float), rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize("loss", CODES)
def test_no_curvature_is_above_its_bound(loss):
    rows, it = rows_of(matrix("C", 0.0)), term(loss)
    z = np.linspace(-3.0, 3.0, N)
    h = it.bends(rows, z)
    assert np.all(h <= it.curvature_bound * rows.weights)
    assert it.curvature_bound == {"logistic": 0.25}.get(loss, 1.0)


@pytest.mark.parametrize("taken", [slice(3, 17), np.array([5, 5, 30, 1])], ids=["slice", "rows"])
def test_some_of_the_samples_have_a_term_of_their_own(taken):
    it = OneScore(HUBER, term("huber").y, DELTA, origin=4.0)
    part = it.on(taken)
    np.testing.assert_array_equal(part.y, it.y[taken])
    assert (part.code, part.delta, part.origin) == (HUBER, DELTA, 4.0)
    assert (part.outputs, part.is_matrix) == (1, False)


@pytest.mark.parametrize("mean", [-1e9, 1e3, 20.0])
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_targets_are_taken_about_their_mean_where_that_is_exact(loss, mean):
    c, y = weights(), term(loss).y + mean
    it = OneScore(CODES[loss], y, DELTA)
    about = it.centred(c)
    assert about.origin == pytest.approx(c @ y, rel=1e-14)
    # Exact: adding again gives the targets, to the last bit.
    left = y.astype(np.longdouble) - about.origin
    np.testing.assert_array_equal(about.y.astype(np.longdouble), left)
    np.testing.assert_array_equal(it.y, y)
    assert (about.code, about.delta) == (it.code, it.delta)
    assert about.centred(c) is about  # once is enough
    # The same losses, at scores that are lower by the origin.
    z = np.random.default_rng(5).standard_normal(N)
    theta, other = np.empty(N), np.empty(N)
    value = about.slopes(c, z, theta)
    lifted = it.slopes(c, z + about.origin, other)
    assert value == pytest.approx(lifted, rel=1e-15 * abs(mean) + 1e-14)
    assert np.abs(theta - other).max() <= 1e-15 * abs(mean)


@pytest.mark.parametrize(
    "y",
    [
        np.array([1.0, 3.0, 2.1]),  # 1 is below half of the mean, 2.03
        np.array([3.0, 3.0, 7.0, 1.6]),
        np.array([-1.0, 1.0]),
        np.array([0.0, 2.0]),
        np.zeros(3),
    ],
)
def test_targets_that_would_be_rounded_stay(y):
    it = OneScore(SQUARED, y, 1.0)
    assert it.centred(np.full(y.size, 1 / y.size)) is it
    assert it.origin == 0.0


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge"])
def test_labels_have_no_origin(loss):
    it = OneScore(CODES[loss], np.ones(5), 1.0)
    assert it.centred(np.full(5, 0.2)) is it


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("loss", CODES)
def test_any_number_of_threads_gives_the_same_bits(loss, storage, cut_finely):
    X, it = matrix(storage, 1e3), term(loss)
    W, b, V, v_b = point()
    z, d = np.random.default_rng(6).standard_normal((2, N))

    def found(threads):
        rows = rows_of(X, threads=threads)
        room, h = np.empty(N), it.bends(rows, z)
        return [
            it.value(rows, W, b), *it.gradient(rows, W, b), *it.gradient(rows, W, b, room), room, h,
            *it.hessian_vector(rows, W, b, V, v_b), *it.bent_vector(rows, h, V, v_b),
            *it.column_moments(rows, h), it.weighted_slopes(rows, z),
            *it.along(rows, z, d, np.zeros(N), 0.3),
        ]  # fmt: skip

    cut_finely()
    expected = found(1)
    for threads in (2, 3, 8):
        for part, one in zip(found(threads), expected, strict=True):
            np.testing.assert_array_equal(part, one)
