"""No gap below the true distance, on 2,000 awkward problems, against a reference in longdouble.

The reference minimises by cyclic coordinate descent and Newton steps on the support with gradients
in longdouble, and bounds its own error by a duality gap written anew here, in longdouble: where
that error is below a tenth of the certified gap, the distance to the optimum is known well enough
to tell a gap that is too small.
"""

import math
from typing import NamedTuple

import numba
import numpy as np
import pytest
import scipy.sparse

from thalweg.certificates.duality import duality_gap, tightened
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.minimize import minimize

PROBLEMS, BLOCKS = 2000, 8
DECIDED = 0.9  # of the points: there the reference is ten times better known than the gap is large
ROUNDS, EPOCHS, NEWTON_STEPS = 10, 100, 10
EXACT = np.longdouble
LOSSES = ("squared", "logistic", "squared-hinge", "huber", "multinomial")


class Model(NamedTuple):
    """The problem as a reference sees it: features as they enter, centred and scaled, dense."""

    X: np.ndarray  # longdouble[n, p]
    y: np.ndarray  # targets, ±1 or labels
    c: np.ndarray  # longdouble[n]
    loss: int
    delta: float
    l1: float
    l2: float
    fit_intercept: bool
    outputs: int


def awkward_problem(seed):
    """A small problem with something wrong with it, in one of all combinations."""
    rng = np.random.default_rng(seed)
    loss = LOSSES[seed % 5]
    is_class = loss not in ("squared", "huber")
    n, p = [(12, 4), (5, 9), (20, 3), (3, 2), (8, 8), (2, 1)][rng.integers(6)]
    scale = 10.0 ** rng.integers(-8, 9)
    X = rng.standard_normal((n, p))
    if rng.random() < 0.3:
        X[:, -1] = X[:, 0]  # duplicated
    if rng.random() < 0.3:
        X[:, p // 2] = 1.0  # constant
    if rng.random() < 0.3:
        X[n // 2] = 0.0
    if rng.random() < 0.2:
        X[:, 0] = 0.0
    if rng.random() < 0.2:
        X += 100.0  # means that dwarf the deviations
    if rng.random() < 0.2:
        X *= 10.0 ** rng.integers(-3, 4, p)  # columns of different scales
    X *= scale
    size = 1.0
    if is_class:
        classes = 2 if loss != "multinomial" else min(n, 3)
        y = np.arange(n) % classes
        if rng.random() < 0.3:
            y = (np.arange(n) == 0).astype(int)  # one sample of a class
    else:
        size = 10.0 ** rng.integers(-8, 9)
        y = size * (rng.standard_normal(n) + 10.0 * (rng.random() < 0.2))
    weights = None
    if rng.random() < 0.4:
        weights = rng.random(n) * (rng.random(n) < 0.7)
        weights[:2] = 1.0
    if rng.random() < 0.8:  # penalties that suit the data
        strength = 10.0 ** rng.integers(-2, 2)
        l1, l2 = 0.02 * strength * scale * size, 0.1 * strength * scale**2
    else:
        l1, l2 = 10.0 ** rng.integers(-3, 2), 10.0 ** rng.integers(-3, 2)
    kind = rng.integers(3)
    X = X.astype(np.float32 if rng.random() < 0.3 else np.float64)
    return LinearProblem(
        scipy.sparse.csr_array(X) if rng.random() < 0.3 else X,
        y,
        loss,
        l1=float(l1) if kind else 0.0,
        l2=float(l2) if kind != 1 else 0.0,
        fit_intercept=bool(rng.random() < 0.6),
        sample_weight=weights,
        delta=float(size * rng.choice([0.1, 1.0, 10.0])),
        standardize=bool(rng.random() < 0.3),
    )


def model_of(problem):
    X = problem.matrix.rows
    if problem.matrix.is_sparse:
        X = scipy.sparse.csr_array((X.data, X.indices, X.indptr), shape=(problem.n, problem.p))
        X = X.toarray()
    X = X.astype(EXACT)
    if problem.standardize:
        X = (X - problem.features.place.astype(EXACT)) * problem.features.units.astype(EXACT)
    return Model(
        X, problem.y, problem.weights.astype(EXACT), LOSSES.index(problem.loss), problem.delta,
        problem.l1, problem.l2, problem.fit_intercept, problem.outputs,
    )  # fmt: skip


@numba.njit(error_model="numpy")
def slope_and_curvature(loss, Z, i, k, y, delta):
    """ℓ′ and a bound on ℓ″ in the score of sample i for output k."""
    z = Z[i, k]
    if loss == 0:
        return z - y[i], 1.0
    if loss == 1:
        return -y[i] / (1.0 + math.exp(y[i] * z)), 0.25
    if loss == 2:
        return -y[i] * max(0.0, 1.0 - y[i] * z), 1.0
    if loss == 3:
        return min(max(z - y[i], -delta), delta), 1.0
    top = Z[i].max()
    q = math.exp(z - top) / np.exp(Z[i] - top).sum()
    return q - (1.0 if y[i] == k else 0.0), 0.25


@numba.njit(error_model="numpy")
def coordinate_descent(X, y, c, loss, delta, l1, l2, fit_intercept, epochs, W, b):
    """Minimise over one entry of W and b after another, in place, by a bound on its curvature."""
    n, p = X.shape
    Z, outputs = X @ W + b, b.size
    for _ in range(epochs):
        most = 0.0
        for j in range(p + 1):
            if j == p and not fit_intercept:
                break
            for k in range(outputs):
                slope, curvature = 0.0, 0.0
                for i in range(n):
                    x = X[i, j] if j < p else 1.0
                    s, h = slope_and_curvature(loss, Z, i, k, y, delta)
                    slope += c[i] * x * s
                    curvature += c[i] * x * x * h
                if j < p:
                    old = W[j, k]
                    curvature += l2
                    if curvature == 0.0:
                        continue
                    new = old - (slope + l2 * old) / curvature
                    new = math.copysign(max(0.0, abs(new) - l1 / curvature), new)
                    W[j, k] = new
                else:
                    old = b[k]
                    new = old - slope / curvature
                    b[k] = new
                change = new - old
                if change != 0.0:
                    most = max(most, curvature * change * change)
                    for i in range(n):
                        Z[i, k] += change * (X[i, j] if j < p else 1.0)
        if most < 1e-30:
            break


def scores(model, W, b):
    return model.X @ W + b


def value(model, W, b):
    """P, in the precision of its arguments."""
    Z = scores(model, W, b)
    return model.c @ losses(model, Z) + model.l2 * (W * W).sum() / 2 + model.l1 * np.abs(W).sum()


def losses(model, Z):
    y, z = model.y, Z[:, 0]
    if model.loss == 4:
        samples, top = np.arange(len(y)), Z.argmax(axis=1)
        e = np.exp(Z - Z[samples, top][:, None])
        e[samples, top] = 0
        return Z[samples, top] - Z[samples, y] + np.log1p(e.sum(axis=1))
    if model.loss == 1:
        return np.maximum(-y * z, 0) + np.log1p(np.exp(-np.abs(y * z)))
    if model.loss == 2:
        return np.maximum(0, 1 - y * z) ** 2 / 2
    r = z - y
    if model.loss == 3:
        return np.where(
            np.abs(r) <= model.delta, r * r / 2, model.delta * (np.abs(r) - model.delta / 2)
        )
    return r * r / 2


def slopes(model, Z):
    """ℓ′, longdouble[n, K]."""
    y, z = model.y, Z[:, 0]
    if model.loss == 4:
        q = np.exp(Z - Z.max(axis=1, keepdims=True))
        return q / q.sum(axis=1, keepdims=True) - np.eye(model.outputs)[y]
    if model.loss == 1:
        e = np.exp(-np.abs(y * z))
        return (-y * np.where(y * z > 0, e, 1) / (1 + e))[:, None]
    if model.loss == 2:
        return (-y * np.maximum(0, 1 - y * z))[:, None]
    bound = model.delta if model.loss == 3 else np.inf
    return np.clip(z - y, -bound, bound)[:, None]


def curvatures(model, Z):
    """∇²ℓ, float64[n, K, K]."""
    y, z = model.y, Z[:, 0].astype(float)
    if model.loss == 4:
        q = (slopes(model, Z) + np.eye(model.outputs)[y]).astype(float)
        return q[:, :, None] * np.eye(model.outputs) - q[:, :, None] * q[:, None, :]
    if model.loss == 1:
        e = np.exp(-np.abs(z))
        h = e / (1 + e) ** 2
    elif model.loss == 2:
        h = (y * z < 1).astype(float)
    else:
        h = (np.abs(z - y) <= (model.delta if model.loss == 3 else np.inf)).astype(float)
    return h[:, None, None]


def newton_steps(model, W, b):
    """On the support of W and the intercepts; the gradient in longdouble, the solution not."""
    Z, K = scores(model, W, b), model.outputs
    A = np.hstack([model.X, np.ones((len(Z), 1))]) if model.fit_intercept else model.X
    gradient = A.T @ (model.c[:, None] * slopes(model, Z))
    gradient[: len(W)] += model.l2 * W + model.l1 * np.sign(W)
    unit = np.sqrt((A * A).sum(axis=0).astype(float))  # each column by its own length
    unit = np.where(unit > 0, unit, 1)
    A = A.astype(float) / unit
    H = np.einsum("i,ij,ikl,im->jkml", model.c.astype(float), A, curvatures(model, Z), A)
    H = H.reshape(A.shape[1] * K, -1)
    ridge = np.zeros(len(H))
    ridge[: W.size] = np.repeat(model.l2 / unit[: len(W)] ** 2, K)
    H += np.diag(ridge)
    free = np.append(W.ravel() != 0, np.ones(len(H) - W.size, dtype=bool)) if model.l1 else ...
    g = (gradient / unit[:, None]).ravel().astype(float)
    step = np.zeros(len(H))
    step[free] = np.linalg.lstsq(H[free][:, free], g[free], rcond=1e-14)[0]
    step = step.reshape(-1, K) / unit[:, None]
    yield W - step[: len(W)], b - step[len(W) :].sum(axis=0)
    crosses = (W != 0) & (W * step[: len(W)] > W * W)
    if model.l1 and crosses.any():  # as far as the first weight that changes its sign, and drop it
        t = np.where(crosses, W / np.where(crosses, step[: len(W)], 1), 1)
        W = np.where(t == t.min(), 0, W - t.min() * step[: len(W)])
        yield W, b - t.min() * step[len(step) - model.fit_intercept :].sum(axis=0)


def dual_value(model, W, b):
    """A lower bound on P*: slopes, balanced and scaled, in the textbook's way."""
    y, c = model.y, model.c
    theta = slopes(model, scores(model, W, b))
    if model.loss == 4:
        hot = np.eye(model.outputs)[y].astype(EXACT)
        if model.fit_intercept:
            # A mixture with one distribution for all samples gives every class its share.
            q = theta + hot
            shares, predicted = c @ hot, c @ q
            t = np.max(1 - shares / np.maximum(predicted, 1e-300))
            if t > 0:
                t = min(1, 2 * t)
                q = (1 - t) * q + (shares - (1 - t) * predicted) / c.sum()
            theta = q - hot
    elif model.fit_intercept:
        up, down = c @ np.maximum(theta, 0), c @ np.maximum(-theta, 0)
        most = np.maximum(np.maximum(up, down), 1e-300)
        theta = np.where(theta > 0, theta * (down / most if up > down else 1), theta)
        theta = np.where(theta < 0, theta * (up / most if down > up else 1), theta)
    v = model.X.T @ (c[:, None] * theta)
    penalty = EXACT(0)
    if model.l2 > 0:
        penalty = (np.maximum(0, np.abs(v) - model.l1) ** 2).sum() / (2 * EXACT(model.l2))
    else:
        theta = theta * min(1, model.l1 / max(np.abs(v).max(), EXACT(1e-300)))
    if model.loss == 4:
        q = theta + hot
        terms = np.where(q > 0, q * np.log(np.where(q > 0, q, 1)), 0).sum(axis=1)
    elif model.loss == 1:
        q = -y * theta[:, 0]
        terms = np.where(q > 0, q * np.log(np.where(q > 0, q, 1)), 0)
        terms = terms + np.where(q < 1, (1 - q) * np.log1p(-np.where(q < 1, q, 0)), 0)
    else:
        terms = theta[:, 0] * y + theta[:, 0] ** 2 / 2
    return -(c @ terms) - penalty


def reference(model):
    """A nearly optimal point, P there, and how far that may be from P*."""
    # Centred columns: an intercept that moves along with the features slows the descent down.
    means = model.c @ model.X if model.fit_intercept else np.zeros(model.X.shape[1])
    centred = (model.X - means).astype(float)
    W = np.zeros((model.X.shape[1], model.outputs), EXACT)
    b = np.zeros(model.outputs, EXACT)
    c, lowest = model.c.astype(float), value(model, W, b)
    for _ in range(ROUNDS):
        W, b = W.astype(float), (b + means @ W).astype(float)
        coordinate_descent(centred, model.y, c, *model[3:-1], EPOCHS, W, b)
        W, b = W.astype(EXACT), b.astype(EXACT) - means @ W
        for _ in range(NEWTON_STEPS):
            lowest = value(model, W, b)
            steps = list(newton_steps(model, W, b))
            values = [value(model, *step) for step in steps]
            if not min(values) < lowest:
                break
            W, b = steps[int(np.argmin(values))]
        if value(model, W, b) - dual_value(model, W, b) < 1e-12 * lowest:
            break
    W, b = W.astype(float).astype(EXACT), b.astype(float).astype(EXACT)
    highest = value(model, W, b)
    return W, b, highest, highest - dual_value(model, W, b)


def flat(model, W, b):
    return np.append(W.ravel(), b if model.fit_intercept else []).astype(float)


def apart(model, w):
    count = model.X.shape[1] * model.outputs
    W = w[:count].reshape(-1, model.outputs).astype(EXACT)
    return W, w[count:].astype(EXACT) if model.fit_intercept else np.zeros(model.outputs, EXACT)


def few_steps(problem):
    """After three proximal gradient steps from zero."""
    w, smooth = np.zeros(problem.dim), problem.smooth or problem
    step = 1 / smooth.smoothness if smooth.smoothness > 0 else 1.0
    for _ in range(3):
        w = problem.prox(w - step * smooth.gradient(w), step)
    return w


def points(problem, best, rng):
    size = np.abs(best).max() + 1e-12
    yield np.zeros(problem.dim)
    yield best
    yield best.astype(np.float32).astype(float)
    for step in (1e-8, 1e-3):
        yield best * (1 + step * rng.standard_normal(problem.dim))
    yield size * rng.standard_normal(problem.dim)
    yield 1e6 * size * rng.standard_normal(problem.dim)
    yield few_steps(problem)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_no_gap_is_below_the_distance_to_the_optimum(block):
    told, all_points = 0, 0
    for seed in range(block * PROBLEMS // BLOCKS, (block + 1) * PROBLEMS // BLOCKS):
        problem = awkward_problem(seed)
        model = model_of(problem)
        W, b, highest, error = reference(model)
        best = flat(model, W, b)
        for index, w in enumerate(points(problem, best, np.random.default_rng(seed))):
            found = duality_gap(problem, w, thorough=index % 2 == 1)
            if index in (2, 4, 7):
                found = tightened(problem, w, found)
            distance = value(model, *apart(model, w)) - highest
            assert found.floor <= highest, (seed, index, found)
            assert found.gap >= distance, (seed, index, found)
            all_points += 1
            told += error <= 0.1 * found.gap
    assert told >= DECIDED * all_points


def calendar(n):
    """Columns that a table of hours has: a counter, a year, an hour, a kind, a constant."""
    rng = np.random.default_rng(0)
    count = np.arange(n, dtype=np.float64)
    year = 2013.0 + count // (n / 4)
    kinds = np.eye(6)[rng.integers(6, size=n)]  # sums to one: dependent on the intercept
    X = np.column_stack([count, year, count // 24 % 30, kinds, np.full(n, 0.1)])
    y = 40.0 + 20.0 * np.sin(count / 500) + 30.0 * (kinds @ rng.normal(size=6))
    return X, y + 30.0 * rng.normal(size=n)


@pytest.mark.parametrize("is_sparse", [True, False])
@pytest.mark.parametrize("method", ["newton", "cholesky", "lbfgs"])
def test_no_gap_below_the_distance_on_many_rows_with_large_means(method, is_sparse):
    """Sums over 200,000 rows: where digits are lost, they are lost here."""
    X, y = calendar(200_000)
    l2 = 1.0 / len(y)
    problem = LinearProblem(
        scipy.sparse.csr_array(X) if is_sparse else X, y, "squared", l2=l2, standardize=True
    )
    run = minimize(problem, method, max_iter=200, progress=False)
    moving = X.std(axis=0) > 1e-9
    Z = (X - X.mean(axis=0))[:, moving] / X[:, moving].std(axis=0)
    H, q = Z.T @ Z / len(y) + l2 * np.eye(Z.shape[1]), Z.T @ (y - y.mean()) / len(y)
    best = 0.5 * (y.var() - q @ np.linalg.solve(H, q))
    w = run.w[:-1][moving]
    value = 0.5 * ((Z @ w + run.w[-1] - y) ** 2).mean() + 0.5 * l2 * (w @ w)
    assert abs(run.value - value) <= 1e-9 * value
    assert value - best <= run.certificate.gap + 1e-9 * value
    assert run.certificate.gap <= 1e-6 * y.var()
