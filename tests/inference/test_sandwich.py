import numpy as np
import pytest
import scipy.sparse

from thalweg.core.errors import InputError
from thalweg.inference import sandwich
from thalweg.inference.sandwich import Rows, spread

RNG = np.random.default_rng(0)
N, P = 40, 3
X = RNG.standard_normal((N, P)) * [1.0, 10.0, 0.01] + [0.0, 50.0, 1.0]
X[RNG.random((N, P)) < 0.2] = 0.0
GROUPS = np.arange(N) % 7


def rows(K=1, storage=np.asarray, has_intercept=True, shift=0.0):
    rng = np.random.default_rng(1)
    half = rng.standard_normal((N, K, K))
    information = np.einsum("ikl,iml->ikm", half, half) + 0.1 * np.eye(K)
    held = X + shift
    centre = held.mean(axis=0) if has_intercept else np.zeros(P)
    return Rows(storage(held), has_intercept, rng.standard_normal((N, K)), information, centre)


def design(given):
    A = given.X.toarray() if scipy.sparse.issparse(given.X) else given.X
    return np.column_stack([A, np.ones(N)]) if given.has_intercept else A


def by_definition(given, kind, scale=1.0):
    """Sum by sum, row by row, in the units of X."""
    A, (n, K) = design(given), given.slopes.shape
    dim = K * A.shape[1]
    H = sum(np.kron(given.information[i], np.outer(A[i], A[i])) for i in range(n))
    inverse = np.linalg.inv(H)
    if kind == "classical":
        return scale * inverse
    u = np.array([np.kron(given.slopes[i], A[i]) for i in range(n)])
    if kind in ("HC2", "HC3"):
        h = np.array([given.information[i, 0, 0] * A[i] @ inverse @ A[i] for i in range(n)])
        u /= (1.0 - h)[:, None] ** (0.5 if kind == "HC2" else 1.0)
    factor = n / (n - dim) if kind == "HC1" else 1.0
    if kind == "clustered":
        u = np.array([u[g == GROUPS].sum(axis=0) for g in range(7)])
        factor = 7 / 6 * (n - 1) / (n - dim)
    return factor * inverse @ (u.T @ u) @ inverse


@pytest.mark.parametrize(
    ("kind", "K"),  # leverages are of one score
    [
        (kind, K)
        for kind in sandwich.KINDS
        for K in (1, 3)
        if K == 1 or kind not in sandwich.LEVERAGED
    ],
)
@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("has_intercept", [True, False])
def test_it_is_the_definition(kind, K, storage, has_intercept, monkeypatch):
    monkeypatch.setattr(sandwich, "BLOCK", 20)  # several blocks
    given = rows(K, storage, has_intercept)
    groups = GROUPS if kind == "clustered" else None
    found = spread(given, kind, 2.5, groups)
    expected = by_definition(given, kind, 2.5)
    d = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(
        found.covariance / np.outer(d, d), expected / np.outer(d, d), atol=1e-8
    )
    assert np.array_equal(found.covariance.shape, [K * given.width] * 2)


def test_columns_far_from_zero_lose_no_digits():
    near, far = rows(), rows(shift=1e8)
    one, other = (spread(each, "HC0", 1.0).covariance[:P, :P] for each in (near, far))
    np.testing.assert_allclose(other, one, rtol=1e-6)


def test_how_far_the_optimum_is():
    given = rows()
    A = design(given)
    H = (A.T * given.information[:, 0, 0]) @ A
    g = A.T @ given.slopes[:, 0]
    expected = np.sqrt(g @ np.linalg.solve(H, g) / 4.0)
    assert spread(given, "classical", 4.0).off == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("change", ["copy", "constant"])
def test_dependent_columns_are_a_sentence(change):
    given = rows()
    held = np.column_stack([given.X, given.X[:, 0] if change == "copy" else np.full(N, 3.0)])
    with pytest.raises(InputError, match="columns that are independent of each other, got 4"):
        spread(given._replace(X=held, centre=held.mean(axis=0)), "classical", 1.0)
