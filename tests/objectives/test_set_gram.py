"""The Hessian of a set of variables: part of the whole one in every storage, above F at ν = 1."""

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.objectives.set_gram import set_gram

K = 4


def problem(storage=np.asarray, dtype=np.float64, n=90, **options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 12)) * (rng.random((n, 12)) < 0.5) + np.linspace(0.0, 5.0, 12)
    options = {"l1": 0.01, "l2": 0.003, "sample_weight": np.arange(n) % 5, **options}
    labels = np.concatenate([np.arange(K), rng.integers(0, K, n - K)])
    return tw.LinearProblem(storage(X.astype(dtype)), labels, "multinomial", **options).centred


def some(data, count=20):
    """A set of variables, by classes, the intercepts of two among them where there are any."""
    chosen = np.random.default_rng(1).permutation(data.p * K)[:count]
    chosen = np.append(chosen, np.arange(data.p * K, data.dim)[:2])
    return chosen[np.lexsort((chosen, chosen % K))]


def point(data):
    w = 0.3 * np.random.default_rng(2).standard_normal(data.dim)
    return w, data.term.bends(data.rows, data.scores(w))


@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_it_is_part_of_the_whole(storage, dtype, fit_intercept, standardize):
    data = problem(storage, dtype, fit_intercept=fit_intercept, standardize=standardize)
    (w, P), chosen = point(data), some(data)
    whole = data.hessian(w)[np.ix_(chosen, chosen)]
    np.testing.assert_allclose(set_gram(data, P, chosen), whole, rtol=1e-6, atol=1e-13)


def test_by_hand():
    # One sample x = 2 of the first of two classes at w = 0: p = ½, x²p(1 − p) = 1, −x²pp = −1.
    data = tw.LinearProblem(
        [[2.0], [0.0]], ["a", "b"], "multinomial", l1=1.0, fit_intercept=False,
        sample_weight=[1.0, 0.0],
    )  # fmt: skip
    P = np.full((2, 2), 0.5)
    np.testing.assert_allclose(set_gram(data, P, np.arange(2)), [[1.0, -1.0], [-1.0, 1.0]])
    # ν = 1 adds x²/2 to the diagonal.
    np.testing.assert_allclose(set_gram(data, P, np.arange(2), 1.0), [[3.0, -1.0], [-1.0, 3.0]])


def test_a_full_floor_lies_above_every_hessian():
    data = problem()
    chosen = some(data)
    _, P = point(data)
    H = set_gram(data, P, chosen, 1.0)
    for far in (0.0, 1.0, 10.0):
        w = far * np.random.default_rng(3).standard_normal(data.dim)
        there = data.hessian(w)[np.ix_(chosen, chosen)]
        assert np.linalg.eigvalsh(H - there).min() > -1e-12


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
def test_any_number_of_threads_gives_the_same_bits(storage):
    data = problem(storage, n=3_000)
    (_, P), chosen = point(data), some(data, 40)
    found = set()
    for threads in (1, 2, 3, 8):
        data.threads = threads
        found.add(set_gram(data, P, chosen).tobytes())
    assert len(found) == 1
