import itertools
import math

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

from linear_data import BOUNDED
from thalweg.kernels import sdca
from thalweg.kernels.losses import HUBER, LOGISTIC, LOSSES, SQUARED, SQUARED_HINGE, loss_slope
from thalweg.kernels.rows import CSR, ScaledCSR, Standardized
from thalweg.kernels.sdca import Samples

N, P, K = 11, 5, 3
DELTA = 0.7
L2 = 0.1
CODES = [SQUARED, LOGISTIC, SQUARED_HINGE, HUBER]
CLASSIFIERS = (LOGISTIC, SQUARED_HINGE)


def dense(dtype=np.float64):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P)) * (rng.random((N, P)) < 0.7)
    X[3] = 0.0
    X[5] = X[4]
    return unwritable(X.astype(dtype))


def unwritable(array):
    """As problems hand them to kernels: a type of its own to Numba."""
    array.flags.writeable = False
    return array


def csr(dtype, kind):
    X = scipy.sparse.csr_array(dense(dtype))
    parts = X.data, X.indices.astype(kind), X.indptr.astype(kind)
    return CSR(*map(unwritable, parts))


def targets(code):
    y = np.random.default_rng(1).standard_normal(N)
    return np.sign(y) if code in CLASSIFIERS else y


def weights():
    c = np.random.default_rng(2).random(N)
    c[7] = 0.0
    return c / c.sum()


def samples(X, code, *, l2=L2, l1=0.0, rows=None):
    squares = (X.astype(np.float64) ** 2).sum(axis=1)
    y = np.arange(N) % K * 1.0 if code is None else targets(code)
    return Samples(
        X if rows is None else rows, y, weights(), squares, code or 0, DELTA, l2, l1 / l2
    )  # fmt: skip


def conjugate(code, theta, y):
    """ℓ*(θ) from the table of the losses."""
    if code == LOGISTIC:
        q = np.clip(-y * theta, 0.0, 1.0)
        return sum(a * math.log(a) if a > 0 else 0.0 for a in (q, 1 - q))
    return y * theta + theta**2 / 2


def domain(code, y):
    """Where ℓ* is finite, cut where no optimum can be."""
    if code == LOGISTIC:
        return sorted((0.0, -y))
    if code == SQUARED_HINGE:
        return sorted((0.0, -50.0 * y))
    return (-DELTA, DELTA) if code == HUBER else (-50.0, 50.0)


def slopes(code, s, y):
    return np.array([loss_slope(code, a, b, DELTA) for a, b in zip(s, y, strict=True)])


def soft(v, t):
    return np.sign(v) * np.maximum(np.abs(v) - t, 0.0)


def dual(code, data, theta, l1, centre=0.0, pull=0.0):
    """D(θ), with b drawn to its centre."""
    _, y, c, *_ = data
    v = (c * theta) @ dense()
    sigma = c @ theta
    conjugates = sum(k * conjugate(code, t, b) for k, t, b in zip(c, theta, y, strict=True))
    beyond = np.maximum(0, np.abs(v) - l1)
    return -conjugates - beyond @ beyond / (2 * data.l2) + centre * sigma - pull * sigma**2 / 2


def test_one_visit_by_hand():
    # x = 2, y = 3, c = 1, l2 = 4: q = 4/4 = 1, θ = (0 − 3)/(1 + 1) = −3/2, w = 3·2/(2·4) = 3/4:
    # the ridge solution 2·3/(4 + 4).
    X = unwritable(np.array([[2.0]]))
    data = Samples(X, np.array([3.0]), np.ones(1), np.array([4.0]), SQUARED, 1.0, 4.0, 0.0)
    s, u, b = np.array([3.0]), np.zeros(1), np.zeros(1)
    sdca.dual_pass(data, 0.0, np.arange(1), 1, s, u, b)
    assert (s[0], u[0], b[0]) == (1.5, 0.75, 0.0)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("q", [0.0, 1e-3, 1.0, 40.0, 1e6])
def test_a_score_solves_its_equation(code, q):
    for s, k, y in itertools.product((-30.0, -1.0, 0.4, 1000.0), (-50.0, -1.2, 0.3, 9.0), (-1, 1)):
        found = sdca.proximal_score(code, s, k, float(y), q, DELTA)
        residual = found + q * loss_slope(code, found, float(y), DELTA) - k
        # An error of NEAR²/2 in s moves qℓ′ by at most q·γ times that.
        assert abs(residual) <= 5e-7 * (1 + q) + 1e-12 * abs(k)


@pytest.mark.parametrize("margin", [40.0, 300.0, 700.0])
def test_tiny_duals_keep_their_digits(margin):
    # θ = −e^(−margin) to the last digits, where 1 − (1 − θ) would be 0.
    found = sdca.proximal_score(LOGISTIC, 0.0, margin, 1.0, 1.0, DELTA)
    assert loss_slope(LOGISTIC, found, 1.0, DELTA) == pytest.approx(-math.exp(-margin), rel=1e-10)


@pytest.mark.parametrize("Q", [1e-3, 1.0, 50.0, 1e5])
@pytest.mark.parametrize("spread", [0.1, 3.0, 100.0])
def test_shares_are_those_of_the_scores_after_the_move(Q, spread):
    rng = np.random.default_rng(3)
    for start in ("inside", "corner"):
        z, q = spread * rng.standard_normal(K), rng.dirichlet(np.ones(K))
        if start == "corner":
            q = np.eye(K)[1]
        p = np.empty(K)
        sdca.proximal_shares(z, q, Q, p, np.empty(K))
        assert p.sum() == pytest.approx(1.0, abs=1e-12)
        # φ has its minimum where all gₖ are equal; what it could still fall by is half of this.
        g = np.log(p) - z + Q * (p - q)
        h = p / (1 + Q * p)
        assert h @ (g - (h @ g) / h.sum()) ** 2 <= 1e-6


def slow_pass(code, data, l1, pull, theta, centre):
    """Every dual in turn to the maximum of its bound, found by a search."""
    X, y, c = dense(), data.y, data.c
    for i in np.flatnonzero(c):
        v = (c * theta) @ X
        z = X[i] @ (-soft(v, l1) / data.l2) + centre - pull * (c @ theta)
        q = c[i] * (X[i] @ X[i] / data.l2 + pull)

        def loss(t, i=i, z=z, q=q):
            step = t - theta[i]
            return conjugate(code, t, y[i]) - z * step + q * step**2 / 2

        theta[i] = scipy.optimize.minimize_scalar(
            loss, bounds=domain(code, y[i]), method="bounded", options={"xatol": 1e-12}
        ).x
    return theta


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize(("l1", "pull"), [(0.0, 0.0), (0.03, 0.0), (0.0, 5.0), (0.03, 5.0)])
def test_passes_equal_a_slow_search(code, l1, pull):
    data = samples(dense(), code, l1=l1)
    s = data.y * (1000.0 if code == LOGISTIC else 1.0)
    u, b, theta, blocks = np.zeros(P), np.array([0.4]), np.zeros(N), np.arange(4)
    for _ in range(3):
        sdca.dual_pass(data, pull, blocks, 3, s, u, b)
        theta = slow_pass(code, data, l1, pull, theta, 0.4)
        used = data.c > 0
        np.testing.assert_allclose(slopes(code, s, data.y)[used], theta[used], atol=2e-6)
    np.testing.assert_allclose(u, -((data.c * theta) @ dense()) / L2, atol=2e-6)
    assert b[0] == pytest.approx(0.4 - pull * (data.c @ theta), abs=2e-5)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize(
    ("l1", "pull", "l2"), [(0.0, 0.0, 1e-4), (0.03, 0.0, 0.1), (0.0, 9.0, 0.1)]
)
def test_the_dual_never_falls_and_u_is_that_of_the_duals(code, l1, pull, l2):
    data = samples(dense(), code, l2=l2, l1=l1)
    rng = np.random.default_rng(4)
    s = rng.standard_normal(N) * 2.0
    theta = slopes(code, s, data.y)
    u, b = -((data.c * theta) @ dense()) / l2, np.array([0.4 - pull * (data.c @ theta)])
    before = dual(code, data, theta, l1, 0.4, pull)
    for i in np.concatenate([rng.permutation(N) for _ in range(5)]):
        sdca.dual_pass(data, pull, np.array([i]), 1, s, u, b)
        theta = slopes(code, s, data.y)
        after = dual(code, data, theta, l1, 0.4, pull)
        assert after >= before - 1e-11 * (1 + abs(before))
        before = after
    np.testing.assert_allclose(u, -((data.c * theta) @ dense()) / l2, atol=1e-12 / l2)


@pytest.mark.parametrize("pull", [0.0, 5.0])
@pytest.mark.parametrize("l1", [0.0, 0.03])
def test_class_passes_raise_the_dual_to_its_maximum(l1, pull):
    X, data = dense(), samples(dense(), None, l1=l1)
    labels = data.y.astype(int)
    shares, U, b = np.eye(K)[labels], np.zeros((P, K)), np.zeros(K)

    def value():
        theta = shares - np.eye(K)[labels]
        V = X.T @ (data.c[:, None] * theta)
        np.testing.assert_allclose(U, -V / L2, atol=1e-12)
        sigma = data.c @ theta
        entropy = np.where(shares > 0, shares * np.log(np.where(shares > 0, shares, 1)), 0)
        beyond = np.maximum(0, np.abs(V) - l1)
        return (
            -data.c @ entropy.sum(axis=1) - (beyond**2).sum() / (2 * L2) - pull * sigma @ sigma / 2
        )

    before = value()
    rng = np.random.default_rng(5)
    for i in np.concatenate([rng.permutation(N) for _ in range(40)]):
        sdca.class_dual_pass(data, pull, np.array([i]), 1, shares, U, b)
        assert value() >= before - 1e-12
        before = value()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    # At the maximum every sample's probabilities are those of its scores.
    Z = X @ soft(U, l1 / L2) + b
    p = np.exp(Z - Z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    used = data.c > 0
    np.testing.assert_allclose(shares[used], p[used], atol=1e-6)


SCALES = np.linspace(0.5, 2.0, P)
# Every storage, both dtypes for dense and for CSR; each row more compiles both passes once more.
STORAGES = [
    (lambda: unwritable(np.asfortranarray(dense(np.float32))), np.float32, 1.0),
    (lambda: csr(np.float64, np.int32), np.float64, 1.0),
    (lambda: csr(np.float32, np.int64), np.float32, 1.0),
    (lambda: Standardized(dense(), np.zeros(P), SCALES), np.float64, SCALES),
    (lambda: ScaledCSR(*csr(np.float64, np.int32), SCALES), np.float64, SCALES),
]


@pytest.mark.parametrize(("rows", "dtype", "scales"), STORAGES)
def test_storages_agree(rows, dtype, scales):
    plain = unwritable(dense(dtype).astype(np.float64) * scales)
    blocks = np.arange(4)[::-1].copy()
    found = []
    for X in (plain, rows()):
        one = samples(plain, LOGISTIC, l1=0.01, rows=X)
        s, u, b = one.y * 2.0, np.ones(P), np.zeros(1)
        sdca.dual_pass(one, 2.0, blocks, 3, s, u, b)
        many = samples(plain, None, l1=0.01, rows=X)
        shares, U, c = np.full((N, K), 1 / K), np.ones((P, K)), np.zeros(K)
        sdca.class_dual_pass(many, 2.0, blocks, 3, shares, U, c)
        found.append(np.concatenate([s, u, b, shares.ravel(), U.ravel(), c]))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("code", CODES)
def test_sums_are_those_of_the_duals(code):
    data = samples(dense(), code)
    s = np.random.default_rng(6).standard_normal(N)
    theta = slopes(code, s, data.y)
    sigma, curvature, total = sdca.dual_sums(data.y, data.c, code, DELTA, s)
    expected = sum(c * conjugate(code, t, y) for c, t, y in zip(data.c, theta, data.y, strict=True))
    assert sigma == pytest.approx(data.c @ theta, rel=1e-12)
    assert total == pytest.approx(expected, rel=1e-10)
    differences = slopes(code, s + 1e-6, data.y) - slopes(code, s - 1e-6, data.y)
    assert curvature == pytest.approx(data.c @ differences / 2e-6, rel=1e-6)


def test_class_sums_are_those_of_the_duals():
    data = samples(dense(), None)
    shares = np.random.default_rng(7).dirichlet(np.ones(K), N)
    sigma = np.empty(K)
    curvature, total = sdca.class_dual_sums(data.y, data.c, shares, sigma)
    np.testing.assert_allclose(sigma, data.c @ (shares - np.eye(K)[data.y.astype(int)]), rtol=1e-12)
    assert curvature == pytest.approx(np.min(data.c @ (shares * (1 - shares))), rel=1e-12)
    assert total == pytest.approx(data.c @ (shares * np.log(shares)).sum(axis=1), rel=1e-12)


def test_every_loss_of_one_score_has_a_step():
    assert {LOSSES[name] for name in BOUNDED if name != "multinomial"} == set(CODES)
