"""For the tests of incremental methods: small problems, and their passes by definition."""

import numpy as np
import scipy.sparse

import thalweg as tw
from stepping import follow
from thalweg.methods.sampling import sampler
from thalweg.objectives.finite_sum import sample_smoothness

NAMES = ("sag", "iag", "saga", "svrg")
STORAGES = {"dense": np.asarray, "csr": scipy.sparse.csr_array}


def problem(loss="logistic", *, n=23, p=4, storage="dense", weighted=False, **options):
    """A linear problem on rows of unequal length with some zeros."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, p)) * rng.uniform(0.3, 2.0, (n, 1)) * (rng.random((n, p)) < 0.6)
    scores = X @ rng.standard_normal((p, 3)) + rng.standard_normal((n, 3))
    y = {"squared": scores[:, 0], "logistic": scores[:, 0] > 0}.get(loss, scores.argmax(axis=1))
    if weighted:
        options["sample_weight"] = rng.integers(0, 4, n).astype(float)
    return tw.LinearProblem(STORAGES[storage](X), y, loss, **options)


def rows(problem):
    """X as a dense array."""
    stored = problem.matrix.rows
    if not problem.matrix.is_sparse:
        return np.array(stored)
    return scipy.sparse.csr_array(tuple(stored), shape=(problem.n, problem.p)).toarray()


def slopes_of(problem, i, W, b):
    """aᵢℓ′ at sample i, float64[K]."""
    z = rows(problem)[i] @ W + b
    a, y = problem.n * problem.weights[i], problem.y[i]
    if problem.loss == "squared":
        return a * (z - y)
    if problem.loss == "logistic":
        return a * -y / (1.0 + np.exp(y * z))
    e = np.exp(z - z.max())
    return a * (e / e.sum() - (np.arange(z.size) == y))


def slow_visits(kind, problem, w, slopes, seen, order, odds, step, batch=1):
    """The visits as the formulas have them: g is added up anew from the slopes at every step.

    `slopes` [n, K] and `seen`, the set of samples seen, change in place; `odds` are npᵢ.
    """
    X, K, n = rows(problem), problem.outputs, problem.n
    count = problem.p * K
    W = np.array(w[:count]).reshape(problem.p, K)
    b = np.array(w[count:]) if problem.fit_intercept else np.zeros(K)
    for start in range(0, len(order), batch):
        B = order[start : start + batch]
        fresh = [slopes_of(problem, i, W, b) for i in B]
        d, d_b = np.zeros_like(W), np.zeros(K)
        if kind == "sag":
            for i, s in zip(B, fresh, strict=True):
                slopes[i] = s
            seen.update(B)
        else:
            for i, s in zip(B, fresh, strict=True):
                news = (s - slopes[i]) / (odds[i] * len(B))
                d += np.outer(X[i], news)
                d_b += news
        m = max(1.0, sum(odds[i] for i in seen) if len(seen) < n else n)
        d += X.T @ slopes / m + problem.l2 * W
        d_b += slopes.sum(axis=0) / m
        W = W - step * d
        W = np.sign(W) * np.maximum(np.abs(W) - step * problem.l1, 0.0)
        b = b - step * d_b * problem.fit_intercept
        if kind == "saga":
            for i, s in zip(B, fresh, strict=True):
                slopes[i] = s
            seen.update(B)
    return np.append(W.ravel(), b) if problem.fit_intercept else W.ravel()


def slow_run(method, problem, passes, w0=None, inner=1.0):
    """w after each pass, from an empty memory; SVRG from the slopes at w₀."""
    kind = "sag" if method.name == "iag" else method.name
    rng = np.random.default_rng(0)
    draw = sampler(method.sampling, sample_smoothness(problem) + problem.l2)
    w = np.zeros(problem.dim) if w0 is None else w0
    slopes, seen = np.zeros((problem.n, problem.outputs)), set()
    found = []
    for _ in range(passes):
        if kind == "svrg":
            W = w[: problem.p * problem.outputs].reshape(problem.p, -1)
            b = w[W.size :] if problem.fit_intercept else np.zeros(problem.outputs)
            slopes[:] = [slopes_of(problem, i, W, b) for i in range(problem.n)]
            seen = set(range(problem.n))
        order = draw.order(round(inner * problem.n), rng)
        w = slow_visits(kind, problem, w, slopes, seen, order, draw.odds, method.step, method.batch)
        found.append(w)
    return found


def assert_as_defined(method, problem, passes=3, inner=1.0):
    """The states of `method` are those of the definition."""
    states = follow(method, problem, problem.start, passes)
    for state, w in zip(states[1:], slow_run(method, problem, passes, inner=inner), strict=True):
        np.testing.assert_allclose(state.w, w, rtol=1e-9, atol=1e-12)


def passes_to(problem, method, level, *, seed=0, cap=3000):
    """Gradients, in passes, until F ≤ `level`; infinite if the run ends before."""
    run = tw.minimize(
        problem, method, tol=1e-15, max_iter=cap, seed=seed, progress=False,
        callback=lambda step: step.value <= level,
    )  # fmt: skip
    return run.counts["gradients"] if run.trace["value"][-1] <= level else np.inf


def optimum(problem):
    """w and F at the optimum of a smooth problem."""
    run = tw.minimize(problem, "newton-cg", tol=1e-14, progress=False)
    return run.w, run.value
