"""Every storage, lagged or not, against the definition: all coordinates at every step."""

import itertools

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.kernels import sgd
from thalweg.objectives.finite_sum import enter, finite_sum, leave

N, P = 40, 9
RNG = np.random.default_rng(0)
# Column 0 is in every row, the last ones in few: entries that wait long, or until the end.
X = RNG.standard_normal((N, P)) * (RNG.random((N, P)) < np.linspace(1.0, 0.05, P))
LABELS = {"logistic": RNG.integers(2, size=N), "multinomial": RNG.integers(3, size=N)}
LABELS["squared"] = RNG.standard_normal(N)
Q = RNG.uniform(0.5, 2.0, N)
ORDER = RNG.integers(N, size=90)  # with repeats, also within a batch
START = RNG.standard_normal(3 * (P + 1))


def slopes(loss, scores, y):
    if loss == "squared":
        return scores - y
    if loss == "logistic":
        return -y / (1 + np.exp(y * scores))
    e = np.exp(scores - scores.max())
    e /= e.sum()
    e[int(y)] -= 1
    return e


def slow(X, y, loss, v, K, has_intercept, steps, batch, l1, l2, radius):
    """The last iterate and the sum of those before it, by the formulas of the kernel's page."""
    v, total = v.copy(), np.zeros_like(v)
    p = X.shape[1]
    for t, eta in enumerate(steps):
        W = v[: p * K].reshape(p, K)
        b = v[p * K :] if has_intercept else np.zeros(K)
        G, g = np.zeros((p, K)), np.zeros(K)
        rows = ORDER[t * batch : (t + 1) * batch]
        for i in rows:
            s = Q[i] * slopes(loss, X[i] @ W + b, y[i]) / len(rows)
            G += np.outer(X[i], s)
            g += s
        total += v
        W = W - eta * (G + l2 * W)
        W = np.sign(W) * np.maximum(np.abs(W) - eta * l1, 0)
        v = np.append(W.ravel(), b - eta * g) if has_intercept else W.ravel()
        v = v * min(1.0, radius / max(np.linalg.norm(v), 1e-300))
    return v, total


def fast(problem, steps, batch, radius, block):
    data = finite_sum(problem)
    v, total = enter(problem, START[: problem.dim]), np.full(problem.dim, 7.0)
    arguments = (data, Q, ORDER, steps, batch)
    penalties = (problem.l1, problem.l2, radius, v, total)
    if problem.matrix.is_sparse:
        sgd.sparse_pass(*arguments, block, *penalties)
    else:
        sgd.dense_pass(*arguments, *penalties)
    return v, total - 7.0


def steps_of(batch):
    return 0.4 / np.sqrt(1.0 + np.arange(-(-ORDER.size // batch)) / 5.0)


def test_two_steps_by_hand():
    # ½(2w + b − 1)², then ½(0w + b − 3)², η = ½, ½l2w² with l2 = ½, l1 = ½.
    problem = tw.LinearProblem([[2.0], [0.0]], [1.0, 3.0], l1=0.5, l2=0.5)
    for sparse in (False, True):
        if sparse:
            rows = scipy.sparse.csr_array(np.array([[2.0], [0.0]]))
            problem = tw.LinearProblem(rows, [1.0, 3.0], l1=0.5, l2=0.5)
        v, total = np.array([1.0, 0.0]), np.zeros(2)
        arguments = (finite_sum(problem), np.ones(2), np.arange(2), np.full(2, 0.5), 1)
        penalties = (0.5, 0.5, np.inf, v, total)
        if sparse:
            sgd.sparse_pass(*arguments, 2, *penalties)
        else:
            sgd.dense_pass(*arguments, *penalties)
        # Slope 1: w = 1 − ½(2 + ½) = −¼, thresholded by ¼ to 0, b = −½. Slope −3½: b = 1¼.
        assert v.tolist() == [0.0, 1.25]
        assert total.tolist() == [1.0, -0.5]


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("loss", LABELS)
def test_equals_the_definition(storage, loss):
    rows = scipy.sparse.csr_array(X) if storage == "csr" else X
    options = itertools.product((0.0, 0.02, 0.5), (0.0, 0.1), (np.inf, 1.5), (1, 4), (True, False))
    for l1, l2, radius, batch, has_intercept in options:
        problem = tw.LinearProblem(
            rows, LABELS[loss], loss, l1=l1, l2=l2, fit_intercept=has_intercept
        )
        y = finite_sum(problem).y
        block = 1 if l1 and radius < np.inf else 5
        v, total = fast(problem, steps_of(batch), batch, radius, block)
        expected = slow(
            X, y, loss, START[: problem.dim], problem.outputs, has_intercept,
            steps_of(batch), batch, l1, l2, radius,
        )  # fmt: skip
        message = f"l1={l1}, l2={l2}, radius={radius}, batch={batch}, intercept={has_intercept}"
        np.testing.assert_allclose(v, expected[0], rtol=1e-10, atol=1e-12, err_msg=message)
        np.testing.assert_allclose(total, expected[1], rtol=1e-10, atol=1e-10, err_msg=message)
        if l1 == 0.5:
            assert np.any(v == 0.0)  # exactly, however long ago it arrived there


@pytest.mark.parametrize("block", [1, 2, 7, 45, 90])
def test_when_entries_catch_up_changes_nothing(block):
    """They reach 0 before, at and after the ends of blocks; R falls below SMALL in between."""
    problem = tw.LinearProblem(scipy.sparse.csr_array(X), LABELS["squared"], l1=0.05, l2=1.8)
    v, total = fast(problem, steps_of(1), 1, np.inf, block)
    expected = slow(X, problem.y, "squared", START[: P + 1], 1, True, steps_of(1), 1, 0.05, 1.8,
                    np.inf)  # fmt: skip
    assert np.prod(1.0 - 1.8 * steps_of(1)) < sgd.SMALL**2
    np.testing.assert_allclose(v, expected[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(total, expected[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_standardized_rows_are_standardized_rows(loss):
    means, scales = X.mean(axis=0), 1.0 / X.std(axis=0)
    for l1 in (0.0, 0.02):
        options = {"l1": l1, "l2": 0.1, "standardize": True}
        dense = tw.LinearProblem(X, LABELS[loss], loss, **options)
        v, total = fast(dense, steps_of(1), 1, np.inf, 5)
        y, K = finite_sum(dense).y, dense.outputs
        seen = (X - means) * scales
        expected = slow(seen, y, loss, START[: dense.dim], K, True, steps_of(1), 1, l1, 0.1, np.inf)
        np.testing.assert_allclose(v, expected[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(total, expected[1], rtol=1e-9, atol=1e-9)
        # Sparse rows are scaled only: the intercept takes what centring would.
        sparse = tw.LinearProblem(scipy.sparse.csr_array(X), LABELS[loss], loss, **options)
        v, total = fast(sparse, steps_of(1), 1, np.inf, 5)
        start = enter(sparse, START[: dense.dim])
        expected = slow(X * scales, y, loss, start, K, True, steps_of(1), 1, l1, 0.1, np.inf)
        np.testing.assert_allclose(v, expected[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(total, expected[1], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(enter(sparse, leave(sparse, v)), v, rtol=1e-12)


def test_a_projected_iterate_stays_in_the_ball():
    problem = tw.LinearProblem(scipy.sparse.csr_array(X), 100 * LABELS["squared"], l2=0.1)
    v, _ = fast(problem, steps_of(1), 1, 0.7, 5)
    assert np.linalg.norm(v) == pytest.approx(0.7, rel=1e-12)


@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_an_iterate_that_is_no_number_stays_none(storage):
    """A NaN must reach the loop, which ends the run; l1 must not take it to 0."""
    rows = scipy.sparse.csr_array(X) if storage == "csr" else X
    problem = tw.LinearProblem(rows, LABELS["squared"], l1=0.5)
    v, _ = fast(problem, np.full(90, 1e6), 1, np.inf, 5)
    assert np.isnan(v).any()
