import itertools

import numpy as np
import pytest
import scipy.sparse

from linear_data import BOUNDED
from thalweg.kernels.losses import LOSSES, loss_at, slopes_at
from thalweg.kernels.rows import CSR, Centred, ScaledCSR, Standardized
from thalweg.objectives.finite_sum import (
    enter,
    leave,
    leave_gradient,
    rows_are_as_seen,
    sample_smoothness,
)
from thalweg.objectives.linear import LinearProblem

N, P, K, DELTA = 10, 4, 3, 0.7
STORAGES = ("C", "csr")
SETTINGS = list(itertools.product(BOUNDED, STORAGES, (False, True), (True, False)))
FAR = (0.0, 30.0, 1e5)  # nearer than what features vary by, further, and far beyond


def problem(
    loss="squared", storage="C", standardize=False, fit_intercept=True, dtype="f8", far=0.0
):
    """A problem whose features differ in mean and scale, and one of whose weights is zero."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P)) * np.logspace(-1, 1, P) + np.linspace(0, 2, P)
    X *= rng.random((N, P)) < 0.7
    X[:, 1] += far
    makers = {"C": np.ascontiguousarray, "F": np.asfortranarray, "csr": scipy.sparse.csr_array}
    y = np.arange(N) % (K if loss == "multinomial" else 2)
    if loss in ("squared", "huber"):
        y = rng.standard_normal(N)
    return LinearProblem(
        makers[storage](X.astype(dtype)), y, loss, l1=0.1, l2=0.3, delta=DELTA,
        sample_weight=np.arange(N), standardize=standardize, fit_intercept=fit_intercept,
    )  # fmt: skip


def point(data, seed=1):
    return np.random.default_rng(seed).standard_normal(data.dim)


def dense(X):
    """The rows that a storage stands for, float64[n, p]."""
    if isinstance(X, Standardized):
        return (X.values - X.means) * X.scales
    if isinstance(X, Centred):
        return X.values - X.means
    if isinstance(X, CSR | ScaledCSR):
        scales = X.scales if isinstance(X, ScaledCSR) else np.ones(P)
        sparse = scipy.sparse.csr_array((X.data, X.indices, X.indptr), shape=(N, P))
        return sparse.toarray().astype(float) * scales
    return np.array(X, dtype=float)


def summands(data, v):
    """fᵢ(v), float64[n], and their gradients, float64[n, dim], one by one."""
    samples, l2, outputs = data.samples, data.l2, data.outputs
    W = v[: P * outputs].reshape(P, outputs)
    b = v[P * outputs :] if data.fit_intercept else np.zeros(outputs)
    values, gradients = [], []
    for x, y, a in zip(dense(samples.X), samples.y, samples.a, strict=True):
        z, slopes = x @ W + b, np.empty(outputs)
        values.append(a * loss_at(samples.code, z, y, samples.delta) + l2 / 2 * np.sum(W * W))
        slopes_at(samples.code, z, y, samples.delta, slopes)
        part = np.ravel(a * np.outer(x, slopes) + l2 * W)
        gradients.append(np.append(part, a * slopes) if data.fit_intercept else part)
    return np.array(values), np.array(gradients)


def test_two_samples_by_hand():
    X = np.array([[3.0, 4.0], [1.0, 0.0]])
    data = LinearProblem(X, np.array([5, 6]), "huber", l2=0.5, delta=2.0, sample_weight=[1, 3])
    samples = data.samples
    assert samples.y.tolist() == [5.0, 6.0]
    assert samples.a.tolist() == [0.5, 1.5]
    assert samples.squares.tolist() == [26.0, 2.0]
    assert samples[4:] == (LOSSES["huber"], 2.0, 1, True)
    assert sample_smoothness(data).tolist() == [13.0, 3.0]
    assert LinearProblem(X, [5, 6], fit_intercept=False).samples.squares.tolist() == [25.0, 1.0]


@pytest.mark.parametrize(("loss", "storage", "standardize", "fit_intercept"), SETTINGS)
def test_the_mean_over_the_samples_is_the_problem(loss, storage, standardize, fit_intercept):
    data = problem(loss, storage, standardize, fit_intercept)
    w = point(data)
    values, gradients = summands(data, enter(data, w))
    assert values.mean() + data.penalty(w) == pytest.approx(data.value(w), rel=1e-12)
    gradient = leave_gradient(data, gradients.mean(axis=0))
    np.testing.assert_allclose(gradient, data.gradient(w), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("loss", "storage", "standardize", "fit_intercept"), SETTINGS)
def test_what_enters_leaves_as_it_was(loss, storage, standardize, fit_intercept):
    data = problem(loss, storage, standardize, fit_intercept)
    w = point(data)
    v = enter(data, w)
    np.testing.assert_allclose(leave(data, v), w, rtol=1e-14, atol=1e-14)
    shifted = storage == "csr" and standardize and fit_intercept
    assert np.array_equal(v, w) != shifted
    coefficients = slice(data.p * data.outputs)
    np.testing.assert_array_equal(v[coefficients], w[coefficients])


@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("storage", ["C", "F", "csr"])
@pytest.mark.parametrize("loss", BOUNDED)
def test_about_the_mean_the_samples_are_the_problem_too(loss, storage, standardize, far):
    data = problem(loss, storage, standardize, far=far).centred
    w = point(data)
    v = enter(data, w)
    # Rounding of the intercept that features far from zero have here, where they are not centred.
    off = 0.0 if rows_are_as_seen(data) else 1e-15 * far
    np.testing.assert_allclose(leave(data, v), w, rtol=1e-14, atol=1e-14 + off)
    values, gradients = summands(data, v)
    assert values.mean() + data.penalty(w) == pytest.approx(data.value(w), rel=1e-12 + 10 * off)
    gradient = leave_gradient(data, gradients.mean(axis=0))
    np.testing.assert_allclose(gradient, data.gradient(w), rtol=1e-11, atol=1e-12 + 1e3 * off)


@pytest.mark.parametrize(
    ("storage", "standardize", "far", "kind"),
    [
        ("C", False, 0.0, np.ndarray),
        ("C", False, 30.0, Centred),
        ("F", False, 1e5, Centred),
        ("C", True, 0.0, Standardized),
        ("csr", False, 0.0, CSR),
        ("csr", False, 1e5, CSR),
        ("csr", True, 30.0, ScaledCSR),
    ],
)
def test_rows_are_centred_where_that_makes_them_shorter(storage, standardize, far, kind):
    data = problem("squared", storage, standardize, far=far).centred
    X = data.samples.X
    assert type(X) is kind
    assert rows_are_as_seen(data) == (kind in (Centred, Standardized))
    if kind is Centred:
        assert np.shares_memory(X.values, data.matrix.rows)
        assert data.samples.squares.sum() < 0.5 * np.sum(data.matrix.rows**2)
    # As users see it, nothing is centred that they did not ask for.
    plain = problem("squared", storage, standardize, far=far)
    assert rows_are_as_seen(plain) == (not (storage == "csr" and standardize))
    assert isinstance(plain.samples.X, np.ndarray) == (storage != "csr" and not standardize)


def test_centred_samples_are_as_smooth_as_they_look():
    data = problem("logistic", "C", far=30.0).centred
    L = sample_smoothness(data) + data.l2
    np.testing.assert_allclose(L, data.row_smoothness, rtol=1e-9)
    v, u = point(data, 2), point(data, 3)
    rises = summands(data, v)[1] - summands(data, u)[1]
    assert (np.linalg.norm(rises, axis=1) <= L * np.linalg.norm(v - u) * (1 + 1e-12)).all()


@pytest.mark.parametrize("storage", STORAGES)
def test_arrays_are_of_the_right_dtype_and_shared_only_where_they_are_equal(storage):
    for dtype, standardize in itertools.product(("f4", "f8"), (False, True)):
        data = problem("multinomial", storage, standardize, dtype=dtype)
        w = point(data).astype(dtype)
        v = enter(data, w)
        back = leave(data, v)
        assert (v.dtype, back.dtype) == (np.float64, dtype)
        assert not np.shares_memory(w, v)
        is_the_same = dtype == "f8" and not (storage == "csr" and standardize)
        assert (back is v) == is_the_same
        assert is_the_same or not np.shares_memory(back, v)
        np.testing.assert_array_equal(v[: P * K], w[: P * K])


@pytest.mark.parametrize(
    ("storage", "standardize", "kind"),
    [
        ("C", False, np.ndarray),
        ("F", True, Standardized),
        ("csr", False, CSR),
        ("csr", True, ScaledCSR),
    ],
)
def test_the_matrix_is_not_copied(storage, standardize, kind):
    data = problem("squared", storage, standardize)
    rows, X = data.matrix.rows, data.samples.X
    assert type(X) is kind
    if storage == "csr":
        for name in ("data", "indices", "indptr"):
            assert np.shares_memory(getattr(X, name), getattr(rows, name))
    else:
        assert np.shares_memory(X.values if standardize else X, rows)
    assert data.samples is data.samples


@pytest.mark.parametrize(("loss", "storage", "standardize", "fit_intercept"), SETTINGS)
def test_smoothness_of_a_sample(loss, storage, standardize, fit_intercept):
    data = problem(loss, storage, standardize, fit_intercept)
    rows = dense(data.samples.X)
    squares = (rows**2).sum(axis=1) + fit_intercept
    np.testing.assert_allclose(data.samples.squares, squares, rtol=1e-12)
    expected = N * data.weights * data.curvature_bound * squares
    np.testing.assert_allclose(sample_smoothness(data), expected, rtol=1e-12)
    if storage != "csr" or not standardize:  # else rows that are not centred
        np.testing.assert_allclose(expected + data.l2, data.row_smoothness, rtol=1e-9)


@pytest.mark.parametrize("storage", ["C", "csr"])
def test_no_sample_is_steeper_than_its_smoothness(storage):
    for loss in BOUNDED:
        data = problem(loss, storage, standardize=True)
        L = sample_smoothness(data) + data.l2
        v, u = point(data, 2), point(data, 3)
        rises = summands(data, v)[1] - summands(data, u)[1]
        assert (np.linalg.norm(rises, axis=1) <= L * np.linalg.norm(v - u) * (1 + 1e-12)).all()


@pytest.mark.parametrize("loss", BOUNDED)
def test_what_kernels_are_given_is_of_one_type(loss):
    samples = problem(loss, dtype="f4").samples
    for array in samples[1:4]:
        assert array.dtype == np.float64
        assert array.flags.c_contiguous
        assert array.flags.writeable
    assert [type(value) for value in samples[4:]] == [int, float, int, bool]
