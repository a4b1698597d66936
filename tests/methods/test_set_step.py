"""Newton over a set of coefficients: the set and a step by definition, then the optimum itself."""

import itertools

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.methods import set_step as module
from thalweg.methods.problem import Problem
from thalweg.methods.prox_newton import penalties, shortest_subgradient
from thalweg.methods.set_step import has_set, set_step, wanted

K = 3


@pytest.fixture
def small(monkeypatch):
    """Sets that are smaller than problems that a reference solves."""
    monkeypatch.setattr(module, "FEWEST", 6)


def problem(storage=np.asarray, dtype=np.float64, n=60, p=30, **options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.7) + 0.5
    y = np.argmax(X[:, :K] + 0.7 * rng.standard_normal((n, K)), axis=1)
    options = {"l1": 0.02, **options}
    return tw.LinearProblem(storage(X.astype(dtype)), y, "multinomial", **options)


def at(data, w):
    counted = Problem(data, data.dim, data.start.dtype)
    return counted, counted.point(w)


def lowest(data):
    """F at the optimum: proximal gradient steps by the definition, to 10⁻¹² of the subgradient."""
    X = data.matrix.rows
    X = X if isinstance(X, np.ndarray) else np.asarray(scipy.sparse.csr_array(
        (X.data, X.indices, X.indptr), shape=data.matrix.shape).todense())  # fmt: skip
    X = X.astype(np.float64)
    if data.standardize:
        mean = data.weights @ X
        X = (X - mean) / np.sqrt(data.weights @ (X - mean) ** 2)
    X = X - data.weights @ X if data.fit_intercept else X
    c, Y = data.weights, np.eye(K)[data.y]
    W = last = ahead = np.zeros((data.p, K))
    b = last_b = ahead_b = np.zeros(K)
    step = 1.0 / (0.5 * np.linalg.eigvalsh((X * c[:, None]).T @ X)[-1] + data.l2 + 0.5)
    theta = 1.0

    def loss(W, b):
        Z = X @ W + b
        tops = Z.max(axis=1)
        E = np.exp(Z - tops[:, None])
        return c @ (np.log(E.sum(axis=1)) + tops - (Z * Y).sum(axis=1)), E / E.sum(axis=1)[:, None]

    for _ in range(100_000):
        _, P = loss(ahead, ahead_b)
        R = c[:, None] * (P - Y)
        W = ahead - step * (X.T @ R + data.l2 * ahead)
        W = np.sign(W) * np.maximum(np.abs(W) - step * data.l1, 0.0)
        b = ahead_b - step * R.sum(axis=0) * data.fit_intercept
        move = max(np.abs(ahead - W).max(), np.abs(ahead_b - b).max()) / step
        if move <= 1e-12:
            break
        uphill = np.sum((ahead - W) * (W - last)) + (ahead_b - b) @ (b - last_b) > 0.0
        before, theta = (1.0, 1.0) if uphill else (theta, 0.5 + np.sqrt(0.25 + theta**2))
        beta = (before - 1.0) / theta
        ahead, ahead_b = W + beta * (W - last), b + beta * (b - last_b)
        last, last_b = W, b
    else:
        pytest.fail("the reference did not arrive")
    return loss(W, b)[0] + 0.5 * data.l2 * np.sum(W**2) + data.l1 * np.abs(W).sum()


def test_the_set_is_the_support_and_the_furthest_by_classes(small):
    data = problem()
    w = data.start
    w[[4, 50]] = 0.1
    counted, point = at(data, w)
    chosen = wanted(counted, point)
    assert sorted(chosen.tolist()) != chosen.tolist()
    assert (np.diff(chosen % K) >= 0).all()
    assert {4, 50, *range(data.p * K, data.dim)} <= set(chosen)
    assert chosen.size == 2 * (2 + K)
    far = np.abs(shortest_subgradient(counted, w, point.gradient))
    far /= np.sqrt(np.repeat(np.append(data.column_squares, 1.0), K))
    left = np.setdiff1d(np.arange(data.dim), chosen)
    joined = np.setdiff1d(chosen, [4, 50, *range(data.p * K, data.dim)])
    assert far[joined].min() >= far[left].max()


def test_what_is_within_its_bound_does_not_join(small):
    data = problem(l1=10.0)
    counted, point = at(data, data.start)
    np.testing.assert_array_equal(wanted(counted, point), np.arange(data.p * K, data.dim))


def test_a_support_too_large_is_taken_in_parts(small, monkeypatch):
    monkeypatch.setattr(module, "MOST", 10)
    data = problem()
    counted, point = at(data, np.full(data.dim, 0.1))
    chosen = wanted(counted, point)
    assert chosen.size == 10
    assert set(range(data.p * K, data.dim)) <= set(chosen)
    run = tw.minimize(data, "newton", tol=1e-8, max_iter=2_000, progress=False)
    assert run.converged


def test_a_step_minimises_the_model_in_its_set(small):
    data = problem(l2=0.01).centred
    counted, point = at(data, np.random.default_rng(1).normal(size=data.dim) * 0.01)
    chosen = wanted(counted, point)
    found, part = set_step(counted, point, 0.0)
    assert part == 1.0
    moved = found.w - point.w
    assert not np.delete(moved, chosen).any()
    slope = (point.gradient + data.hessian(point.w) @ moved)[chosen]
    w, held = found.w[chosen], penalties(counted)[chosen]
    far = np.where(w == 0.0, np.maximum(np.abs(slope) - held, 0.0), slope + held * np.sign(w))
    before = np.abs(shortest_subgradient(counted, point.w, point.gradient)[chosen]).max()
    assert np.abs(far).max() <= 0.05 * before


def test_no_step_at_the_optimum(small):
    data = problem()
    best = tw.minimize(data, "newton", tol=1e-14, progress=False)
    again = tw.minimize(data, "newton", best.w, tol=1e-8, progress=False)
    assert again.converged
    assert again.iterations == 0


OPTIONS = {
    "l1": {},
    "elastic net": {"l2": 0.05},
    "no intercept": {"fit_intercept": False},
    "weights": {"sample_weight": np.arange(60) % 4},
    "standardized": {"standardize": True},
}


@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_it_ends_where_proximal_gradient_steps_end(small, storage, options):
    data = problem(storage, **options)
    run = tw.minimize(data, "newton", tol=1e-11, progress=False)
    assert run.converged
    assert run.value == pytest.approx(lowest(data), abs=1e-11)
    assert np.count_nonzero(run.w) < data.dim / 2


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
def test_float32_is_kept_and_certified(small, storage):
    data = problem(storage, np.float32, l2=0.01)
    run = tw.minimize(data, "newton", tol=1e-5, progress=False)
    assert run.converged
    assert run.w.dtype == np.float32
    assert run.value == pytest.approx(lowest(data), abs=1e-5)


def test_every_step_descends_where_classes_are_told_apart(small):
    # Curvatures vanish there: without a floor most of the first steps are cut to pieces.
    data = problem(n=40, p=100, l1=1e-4)
    run = tw.minimize(data, "newton", tol=1e-8, progress=False)
    assert run.converged
    assert run.iterations <= 40
    assert all(b < a for a, b in itertools.pairwise(run.trace["value"][:-1]))


def test_many_more_variables_than_a_hessian_may_have():
    data = problem(n=50, p=2_000, l1=0.01)
    run = tw.minimize(data, "newton", progress=False)
    assert run.converged
    assert run.iterations <= 20
    other = tw.minimize(data, "fista", progress=False)
    assert abs(run.value - other.value) <= run.certificate.limit


@pytest.mark.parametrize("stop", [1, 3])
def test_it_resumes_to_the_same_bits(small, stop, tmp_path):
    data, file = problem(l2=1e-3), tmp_path / "run.checkpoint"
    whole = tw.minimize(data, "newton", tol=1e-12, max_iter=8, progress=False)
    tw.minimize(data, "newton", tol=1e-12, max_iter=stop, checkpoint=file, progress=False)
    resumed = tw.minimize(data, "newton", tol=1e-12, max_iter=8, checkpoint=file, progress=False)
    assert resumed.w.tobytes() == whole.w.tobytes()
    np.testing.assert_array_equal(resumed.trace["value"], whole.trace["value"])


def test_who_has_a_set():
    assert has_set(problem())
    assert not has_set(problem(l1=0.0, l2=0.1))
    X = np.random.default_rng(0).standard_normal((20, 5))
    assert not has_set(tw.LinearProblem(X, X[:, 0] > 0, "logistic", l1=0.1))
    assert not has_set(tw.surfaces.Rosenbrock())


def test_a_plan_takes_it_where_coefficients_are_many():
    rows = {row.method: row for row in tw.plan(problem(n=200, p=2_000, l1=1e-3)).rows}
    assert rows["newton"].eligible
    assert rows["newton"].remark.startswith("CHOSEN")
