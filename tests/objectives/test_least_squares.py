import numpy as np
import pytest
import scipy.sparse
from threadpoolctl import threadpool_limits

import thalweg as tw
from thalweg.certificates.duality import constant_value
from thalweg.core.errors import InputError
from thalweg.objectives import least_squares

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4)) * (RNG.random((60, 4)) < 0.6) + np.array([0.0, 5.0, 0.0, 1.0])
Y = RNG.standard_normal(60) + 3.0
WEIGHTS = np.arange(60.0)
STORAGES = [np.asarray, np.asfortranarray, scipy.sparse.csr_array]


def problem(storage=np.asarray, **options):
    return tw.LinearProblem(storage(X), Y, sample_weight=WEIGHTS, **options)


def test_by_hand():
    data = tw.LinearProblem([[1.0], [2.0]], [1.0, 4.0], fit_intercept=False)
    sums = data.least_squares
    assert pytest.approx(2.5) == sums.G  # (1 + 4)/2
    assert sums.q == pytest.approx(4.5)  # (1 + 8)/2
    assert sums.s == pytest.approx(8.5)  # (1 + 16)/2
    loss, gradient = sums.loss_and_gradient(np.array([1.0]))
    assert loss == pytest.approx(0.5 * (0.0 + 4.0) / 2)
    assert gradient == pytest.approx(-2.0)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_equals_the_passes_over_the_data(storage, fit_intercept, standardize, weighted):
    data = tw.LinearProblem(
        storage(X), Y, sample_weight=WEIGHTS if weighted else None,
        fit_intercept=fit_intercept, standardize=standardize,
    )  # fmt: skip
    w = RNG.standard_normal(data.dim)
    loss, gradient = data.least_squares.loss_and_gradient(w)
    value, slow = data.value_and_gradient(w)
    assert loss == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(gradient, slow, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        data.least_squares.hessian(), data.hessian(w), rtol=1e-10, atol=1e-12
    )


def test_float32_data_is_summed_in_double():
    data = tw.LinearProblem(X.astype(np.float32), Y, fit_intercept=False)
    single = X.astype(np.float32).astype(np.float64)
    np.testing.assert_allclose(data.least_squares.G, single.T @ single / 60, rtol=1e-13)


@pytest.mark.parametrize("storage", STORAGES)
def test_sizes_bound_what_rounding_does(storage):
    data = problem(storage, standardize=True)
    w = 1e3 * RNG.standard_normal(data.dim)
    exact = w.astype(np.longdouble)
    seen = (np.asarray(X, dtype=np.longdouble) - data.features.place) * data.features.units
    residual = seen @ exact[:-1] + exact[-1] - Y
    slow = 0.5 * np.sum(data.weights * residual**2)
    loss, gradient = data.least_squares.loss_and_gradient(w)
    of_loss, of_gradient = data.least_squares.sizes(w)
    eps = np.finfo(np.float64).eps
    assert abs(loss - float(slow)) <= 8 * eps * of_loss
    by_w = (data.weights * residual) @ seen
    assert np.all(np.abs(gradient[:-1] - by_w.astype(np.float64)) <= 8 * eps * of_gradient)


def test_large_means_cost_few_digits_where_there_is_an_intercept():
    far = tw.LinearProblem(X + 1e6, Y)
    near = tw.LinearProblem(X, Y)
    w = np.append(RNG.standard_normal(4), 0.5)
    moved = np.append(w[:4], w[4] - 1e6 * w[:4].sum())
    expected, _ = near.least_squares.loss_and_gradient(w)
    assert far.least_squares.loss_and_gradient(moved)[0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("mean", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("at_once", [True, False])
def test_about_the_mean_large_means_cost_no_digits(mean, storage, at_once, monkeypatch):
    monkeypatch.setattr(least_squares, "MANY", 100 if at_once else 10**9)
    # Eighths, exact beside 1e9, and so is what is left of them without the origin.
    far, y = np.round(8.0 * X + 40.0) / 8.0 + mean, np.round(8.0 * Y) / 8.0 + mean
    data = tw.LinearProblem(storage(far), y, sample_weight=WEIGHTS).centred
    assert data.is_summed == (at_once and storage is not scipy.sparse.csr_array)
    seen = np.column_stack([far - data.features.place, np.ones(60)])
    assert np.abs(seen).max() < 10.0
    w = RNG.standard_normal(5)
    residual = seen @ w - (y - data.term.origin)
    loss, gradient = data.least_squares.loss_and_gradient(w)
    assert loss == pytest.approx(0.5 * data.weights @ residual**2, rel=1e-13)
    expected = (data.weights * residual) @ seen
    np.testing.assert_allclose(gradient, expected, rtol=1e-12, atol=1e-13)
    H = (seen.T * data.weights) @ seen
    np.testing.assert_allclose(data.least_squares.hessian(), H, rtol=1e-12, atol=1e-13)
    variance = data.weights @ (y - data.weights @ y) ** 2
    assert data.least_squares.s == pytest.approx(variance, rel=1e-12)


@pytest.mark.parametrize("standardize", [True, False])
def test_the_first_rows_may_be_unlike_all_others(standardize, monkeypatch):
    # As where they are left out by a weight of zero: what is near their mean is far from all else.
    monkeypatch.setattr(least_squares, "MANY", 100)
    monkeypatch.setattr(least_squares, "SOME", 20)
    far, weights = X.copy(), np.ones(60)
    far[:20, 2] += 1e9
    weights[:20] = 0.0
    data = tw.LinearProblem(far, Y, sample_weight=weights, standardize=standardize)
    same = tw.LinearProblem(X[20:], Y[20:], standardize=standardize)
    assert data.is_summed
    assert same.is_summed
    np.testing.assert_allclose(data.features.units, same.features.units, rtol=1e-12)
    np.testing.assert_allclose(data.rows.variances, same.rows.variances, rtol=1e-12)
    w = RNG.standard_normal(5)
    expected, slow = same.centred.value_and_gradient(w)
    loss, gradient = data.centred.least_squares.loss_and_gradient(w)
    assert loss == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(gradient, slow, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("standardize", [True, False])
def test_one_look_serves_every_view(storage, standardize):
    data = problem(storage, l1=0.1, l2=0.3, standardize=standardize)
    views = [data, data.smooth, data.centred, data.replaced(l2=1.0), data.centred.smooth]
    assert not any(view.is_summed for view in views)
    G = data.least_squares.G
    w = RNG.standard_normal(data.dim)
    for view in views:
        assert view.is_summed
        assert view.least_squares.G is G
        # The sums are those of the squared loss alone, in the variables of the view.
        here = data.enter(w, view)
        loss, gradient = view.least_squares.loss_and_gradient(here)
        bare = view.replaced(l1=0.0, l2=0.0)
        assert loss == pytest.approx(bare.value(here), rel=1e-12)
        np.testing.assert_allclose(gradient, bare.gradient(here), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(
            view.least_squares.hessian(), bare.hessian(here), rtol=1e-10, atol=1e-12
        )


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("weighted", [True, False])
def test_moments_are_the_mean_and_the_variance_of_every_column(storage, weighted):
    data = tw.LinearProblem(storage(X), Y, sample_weight=WEIGHTS if weighted else None)
    mean, variance = data.least_squares.moments
    np.testing.assert_allclose(mean, data.weights @ X, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(variance, data.weights @ (X - mean) ** 2, rtol=1e-13)


@pytest.mark.parametrize("storage", STORAGES)
def test_any_number_of_threads_gives_the_same_bits(storage, cut_finely):
    cut_finely()
    one = problem(storage, threads=1).least_squares
    for threads in (2, 3, 8):
        for part, expected in zip(
            problem(storage, threads=threads).least_squares, one, strict=True
        ):
            np.testing.assert_array_equal(part, expected)


def test_other_rows_have_other_sums():
    data = problem()
    assert data.least_squares.s > 0
    part = data.part(0, 30)
    assert part.least_squares.s != data.least_squares.s


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("standardize", [True, False])
def test_sums_show_what_is_not_finite(bad, standardize, monkeypatch):
    monkeypatch.setattr(least_squares, "MANY", 100)
    assert problem(standardize=standardize).is_summed
    spoilt = X.copy()
    spoilt[7, 2] = bad
    with pytest.raises(InputError, match=r"X must be finite, got (nan|inf) in row 7, column 2"):
        tw.LinearProblem(spoilt, Y, standardize=standardize)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_what_is_finite_may_have_sums_that_are_not(fit_intercept, monkeypatch):
    monkeypatch.setattr(least_squares, "MANY", 100)
    huge = X.copy()
    huge[7, 2] = 1e200  # finite, if its square is not
    data = tw.LinearProblem(huge, Y, fit_intercept=fit_intercept)
    assert not np.isfinite(data.least_squares.G).all()


def test_only_the_squared_loss_on_tall_dense_data_is_summed_at_once(monkeypatch):
    monkeypatch.setattr(least_squares, "MANY", 100)
    for data in (
        problem(scipy.sparse.csr_array),
        tw.LinearProblem(X, Y > 3.0, "logistic"),
        tw.LinearProblem(X[:20], Y[:20]),
    ):
        assert not data.is_summed


@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray])
def test_the_threads_of_blas_change_no_bit(storage):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((30_000, 40)) + 5.0, rng.standard_normal(30_000) + 7.0

    def sums(threads):
        with threadpool_limits(threads, user_api="blas"):
            data = tw.LinearProblem(storage(X), y)
            return [data.least_squares, constant_value(data), data.centred.term.origin]

    (one, *scales), (two, *others) = sums(1), sums(2)
    assert scales == others
    for mine, other in zip(one, two, strict=True):
        np.testing.assert_array_equal(mine, other)


def test_rows_and_columns_have_the_same_sums():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((30_000, 40)) + 5.0, rng.standard_normal(30_000)
    one, two = (tw.LinearProblem(laid(X), y).least_squares for laid in STORAGES[:2])
    np.testing.assert_array_equal(one.a, two.a)
    np.testing.assert_array_equal(one.G, two.G)
