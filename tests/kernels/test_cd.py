import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

from linear_data import BOUNDED
from thalweg.kernels import cd
from thalweg.kernels.losses import (
    HUBER,
    LOGISTIC,
    LOSSES,
    SQUARED_HINGE,
    curvature_bound,
    loss_slope,
    loss_value,
)
from thalweg.kernels.rows import CSR

ONE_SCORE = sorted(set(BOUNDED) - {"multinomial"})

K, N = 6, 9
NEVER = 1e300  # a budget that is not reached


def held(l1, l2, k=K):
    """Penalties that are alike, without bounds."""
    return cd.Held(*(np.full(k, number) for number in (l1, l2, -np.inf, np.inf)))


def stored(A, sparse):
    if not sparse:
        return A
    rows = scipy.sparse.csr_array(A)
    return CSR(rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int64))


def model(seed=0, *, intercept=True):
    """Features as rows, r, and u at w = 0."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((K, N)) * (rng.random((K, N)) < 0.6)
    r = np.sqrt(rng.random(N)) if intercept else np.zeros(N)
    return A, r, rng.standard_normal(N)


def slow_coordinate(A, r, u0, w, j, l1, l2):
    """The minimizer in wⱼ, the intercept eliminated by projecting r out of everything."""
    P = np.eye(N) - np.outer(r, r) / (r @ r) if r.any() else np.eye(N)
    a = P @ A[j]
    rest = P @ (u0 + np.delete(w, j) @ np.delete(A, j, axis=0))
    pull = -a @ rest
    return np.sign(pull) * max(abs(pull) - l1, 0.0) / (a @ a + l2)


def slow_sweep(A, r, u0, w, order, l1, l2):
    w = w.copy()
    for j in order:
        w[j] = slow_coordinate(A, r, u0, w, j, l1, l2)
    return w


def constants(A, r):
    total = r @ r
    m = A @ r / total if total else np.zeros(K)
    return total, np.sum(A**2, axis=1) - m**2 * total, m


def centred(r, u):
    return u - (r @ u) / (r @ r) * r if r.any() else u


def test_one_coordinate_by_hand():
    # a = (1, 2), u = (−3, −1): slope −5, L = 5. Soft-thresholded by 1 and with l2 = 3: 4/8.
    A, r = np.array([[1.0, 2.0]]), np.zeros(2)
    w, u = np.zeros(1), np.array([-3.0, -1.0])
    met, change = cd.sweep(A, r, 0.0, np.array([5.0]), r, np.array([0]), held(1.0, 3.0), w, u)
    assert (met, change) == (4.0, 0.0)
    assert w.tolist() == [0.5]
    assert u.tolist() == [-2.5, 0.0]


def test_one_coordinate_with_intercept_by_hand():
    # r = (1, 1): the mean of a = (0, 2) is 1, its centred square 2. u = (1, −1): slope −2.
    # w = 2/2 = 1, b = −1: u + (0, 2) − (1, 1) = (0, 0).
    A, r = np.array([[0.0, 2.0]]), np.ones(2)
    w, u = np.zeros(1), np.array([1.0, -1.0])
    met, change = cd.sweep(
        A, r, 2.0, np.array([2.0]), np.ones(1), np.array([0]), held(0.0, 0.0), w, u
    )
    assert (met, change) == (2.0, -1.0)
    assert w.tolist() == [1.0]
    assert u.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.5, 0.0), (0.3, 0.4), (0.0, 0.7)])
def test_sweeps_equal_the_textbook(sparse, intercept, l1, l2):
    A, r, u0 = model(intercept=intercept)
    total, L, m = constants(A, r)
    order, w, u, b = np.array([4, 0, 1, 5]), np.zeros(K), centred(r, u0), 0.0
    w[[0, 2]] = 0.3, -0.2  # the second stays: it is not in the order
    u = centred(r, u0 + w @ A)
    slow = w.copy()
    for _ in range(3):
        at_start = u0 + w @ A
        _, change = cd.sweep(stored(A, sparse), r, total, L, m, order, held(l1, l2), w, u)
        b += change
        slow = slow_sweep(A, r, u0, slow, order, l1, l2)
        np.testing.assert_allclose(w, slow, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(u, centred(r, u0 + w @ A), atol=1e-12)
        assert abs(r @ u) < 1e-12
        # b carries what the steps moved the mean by.
        np.testing.assert_allclose(change * (r @ r), r @ at_start - r @ (u0 + w @ A), atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_violations_are_distances_to_the_subdifferential(sparse):
    A, _, u = model()
    w = np.array([0.0, 1.0, -1.0, 0.0, 2.0, 0.0])
    slopes = A @ u + 0.4 * w
    slow = np.where(w == 0, np.maximum(abs(slopes) - 0.3, 0), abs(slopes + 0.3 * np.sign(w)))
    for order in ([0, 1, 2, 3, 4, 5], [3, 0]):
        order = np.array(order)
        found = cd.worst_violation(stored(A, sparse), order, held(0.3, 0.4), w, u)
        assert found == pytest.approx(slow[order].max(), rel=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("extrapolates", [False, True])
def test_descends_to_the_minimum(sparse, intercept, extrapolates):
    l1, l2 = 0.3, 0.05
    A, r, u0 = model(intercept=intercept)
    order, w, u = np.arange(K), np.zeros(K), u0.copy()
    b, work = cd.descend(
        stored(A, sparse), r, order, held(l1, l2), 1e-12, 1e-12, NEVER, NEVER, extrapolates, w, u
    )
    slow = np.zeros(K)
    for _ in range(3000):
        slow = slow_sweep(A, r, u0, slow, order, l1, l2)
    np.testing.assert_allclose(w, slow, atol=1e-10)
    np.testing.assert_allclose(u, u0 + w @ A + b * r, atol=1e-11)
    assert work >= 1.0
    assert np.count_nonzero(w) < K


def test_extrapolation_saves_sweeps_and_leads_to_the_same_point():
    rng = np.random.default_rng(3)
    A = rng.standard_normal((30, 40)) + 3.0 * rng.standard_normal(40)  # all features alike
    u0 = rng.standard_normal(40)
    results = []
    for extrapolates in (False, True):
        w, u = np.zeros(30), u0.copy()
        _, work = cd.descend(
            A,
            np.zeros(40),
            np.arange(30),
            held(0.1, 1e-3, 30),
            1e-9,
            1e-9,
            NEVER,
            NEVER,
            extrapolates,
            w,
            u,
        )
        results.append((w, work))
    np.testing.assert_allclose(results[0][0], results[1][0], atol=1e-7)
    assert results[1][1] < 0.5 * results[0][1]


def test_alike_features_do_not_end_it_early():
    # As each is met its slope is small, and at the end of a sweep it is not.
    rng = np.random.default_rng(0)
    A = 100.0 + rng.standard_normal((20, 30))
    w, u = np.zeros(20), rng.standard_normal(30)
    goal = 0.01 * np.max(np.abs(A @ u))
    cd.descend(
        A, np.zeros(30), np.arange(20), held(0.0, 200.0, 20), goal, goal, NEVER, NEVER, True, w, u
    )
    assert np.max(np.abs(A @ u + 200.0 * w)) <= goal


def test_a_budget_ends_it_at_the_loose_goal():
    A, r, u0 = model()
    works = []
    for budget in (0.0, NEVER):
        w, u = np.zeros(K), u0.copy()
        works.append(
            cd.descend(A, r, np.arange(K), held(0.0, 0.1), 1e-12, 0.1, budget, NEVER, True, w, u)[1]
        )
        assert cd.worst_violation(A, np.arange(K), held(0.0, 0.1), w, u) <= 0.1
    assert works[0] < works[1]


def test_it_ends_after_the_sweeps_it_may_take():
    A, r, u0 = model()
    for most in (3.0, 40.0):
        w, u = np.zeros(K), u0.copy()
        _, work = cd.descend(A, r, np.arange(K), held(0.0, 1e-6), 0.0, 0.0, NEVER, most, True, w, u)
        assert most <= work <= most + cd.MEMORY + 1  # a round of extrapolation is not cut


@pytest.mark.parametrize("sparse", [False, True])
def test_features_without_curvature(sparse):
    A = np.array([[0.0, 0.0, 0.0], [2.0, 2.0, 2.0], [1.0, 0.0, -1.0]])  # zero, constant, proper
    r = np.ones(3)
    for l2, expected in ((0.0, [7.0, 5.0]), (0.1, [0.0, 0.0])):  # left alone, or penalised away
        w, u = np.array([7.0, 5.0, 0.0]), np.array([1.0, 0.0, 0.5])
        b, _ = cd.descend(
            stored(A, sparse),
            r,
            np.arange(3),
            held(0.0, l2),
            1e-14,
            1e-14,
            NEVER,
            NEVER,
            True,
            w,
            u,
        )
        np.testing.assert_allclose(w[:2], expected, atol=1e-13)
        assert np.isfinite(b)
        assert abs(A[2] @ u + l2 * w[2]) < 1e-12


def test_nothing_to_sweep_leaves_the_best_intercept():
    u = np.array([1.0, 3.0])
    nothing = np.empty(0, dtype=np.int64)
    b, _ = cd.descend(
        np.zeros((0, 2)),
        np.ones(2),
        nothing,
        held(0.1, 0.0, 0),
        0.0,
        0.0,
        1.0,
        1.0,
        True,
        np.zeros(0),
        u,
    )
    assert b == -2.0
    assert u.tolist() == [-1.0, 1.0]


def test_affine_weights_minimise():
    rng = np.random.default_rng(0)
    R = rng.standard_normal((5, 8))
    a = cd.affine_weights(R @ R.T)
    assert a.sum() == pytest.approx(1.0)
    best = np.sum((a @ R) ** 2)
    for _ in range(100):
        move = rng.standard_normal(5)
        move -= move.mean()
        assert np.sum(((a + 1e-3 * move) @ R) ** 2) >= best
    assert np.isnan(cd.affine_weights(np.zeros((5, 5)))).all()


def test_model_value_by_hand():
    assert (
        cd.model_value(held(2.0, 4.0), np.array([1.0, -3.0]), np.array([3.0, 1.0]))
        == 5.0 + 20.0 + 8.0
    )


@pytest.mark.parametrize("sparse", [False, True])
def test_scores_are_sums_of_features(sparse):
    A, _, z = model()
    w = np.array([0.0, 1.0, -2.0, 0.0, 0.5, 0.0])
    expected = z + w @ A
    cd.add_scores(stored(A, sparse), w, z)
    np.testing.assert_allclose(z, expected, atol=1e-14)


@pytest.mark.parametrize("sparse", [False, True])
def test_products_are_those_of_the_features(sparse):
    A, _, u = model()
    out = np.empty(K)
    cd.products(stored(A, sparse), u, out)
    np.testing.assert_allclose(out, A @ u, atol=1e-14)


def test_curvatures_have_a_floor():
    z, y, out = np.array([-3.0, 0.0, 3.0]), np.ones(3), np.empty(3)
    cd.curvatures(SQUARED_HINGE, z, y, 1.0, 0.01, out)
    assert out.tolist() == [1.0, 1.0, 0.01]
    cd.curvatures(LOGISTIC, z, y, 1.0, 0.1, out)
    assert out.tolist() == [0.1, 0.25, 0.1]


@pytest.mark.parametrize("loss", ONE_SCORE)
def test_at_the_full_floor_the_model_lies_above_the_loss(loss):
    code, y = LOSSES[loss], np.ones(1)
    for z in np.linspace(-6.0, 6.0, 25):
        h = np.empty(1)
        cd.curvatures(code, np.array([z]), y, 0.5, curvature_bound(code), h)
        for q in np.linspace(-12.0, 12.0, 49):
            model = loss_value(code, z, 1.0, 0.5) + loss_slope(code, z, 1.0, 0.5) * q
            model += h[0] * q**2 / 2
            assert loss_value(code, z + q, 1.0, 0.5) <= model + 1e-12


def test_hubers_floor_falls_with_the_residual():
    out = np.empty(3)
    cd.curvatures(HUBER, np.array([0.2, 2.0, -8.0]), np.zeros(3), 0.5, 0.1, out)
    np.testing.assert_allclose(out, [1.0, 0.1 * 0.5 / 2.0, 0.1 * 0.5 / 8.0], rtol=1e-15)


@pytest.mark.parametrize("loss", ONE_SCORE)
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_the_best_shift_is_the_minimum(loss, scale):
    rng = np.random.default_rng(1)
    code, y = LOSSES[loss], rng.choice([-1.0, 1.0], 20)
    z, c = scale * rng.standard_normal(20), rng.random(20)
    c[3] = 0.0
    beta = cd.best_shift(code, z, y, c, 0.5)

    def value(shift):
        return sum(c[i] * loss_value(code, z[i] + shift, y[i], 0.5) for i in range(20))

    best = scipy.optimize.minimize_scalar(value, bounds=(-4 * scale - 9, 4 * scale + 9))
    assert value(beta) <= best.fun + 1e-9 * (1.0 + abs(best.fun))


def test_a_shift_that_does_not_matter_is_none():
    z, y, c = np.array([5.0, -5.0]), np.array([1.0, -1.0]), np.ones(2)
    assert cd.best_shift(SQUARED_HINGE, z, y, c, 1.0) == 0.0  # both beyond their margin
    assert cd.best_shift(HUBER, np.array([9.0, -9.0]), np.zeros(2), c, 1.0) == 0.0  # both outside
