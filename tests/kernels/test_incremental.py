"""Every pass against its definition: all coefficients moved at every step, sums added up anew."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse

from linear_data import BOUNDED
from thalweg.kernels.incremental import (
    ROUNDING,
    SAG,
    SAGA,
    SVRG,
    TOO_FLAT,
    Memory,
    Rule,
    dense_pass,
    snapshot_pass,
    sparse_pass,
)
from thalweg.kernels.lag import cells_of
from thalweg.kernels.losses import (
    HUBER,
    LOGISTIC,
    LOSSES,
    MULTINOMIAL,
    SQUARED,
    SQUARED_HINGE,
    curvature_bound,
)
from thalweg.kernels.prefetch import AHEAD
from thalweg.kernels.rows import CSR, ScaledCSR, Standardized, is_sparse
from thalweg.kernels.sum_tree import sum_tree
from thalweg.objectives.finite_sum import FiniteSum

SUMMED = tuple(LOSSES[name] for name in BOUNDED)  # whose single samples are stepped along
N, P, K, T = 11, 6, 3, 23
DELTA = 0.7
KINDS = {"sag": SAG, "saga": SAGA, "svrg": SVRG}
STEPS = ("fixed", "searched", "tree")
STARTS = ("empty", "zero", "full")
PENALTIES = {"none": (0.0, 0.0), "l1": (0.3, 0.0), "l2": (0.0, 0.4), "both": (0.2, 0.1)}
BLOCKS = (1, 2, 7, 64)

every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
every_step = pytest.mark.parametrize("step", STEPS)


# Storages of one matrix. Each is one compilation of its pass; arrays that come from the user are
# read-only, as those of a `LinearProblem` are, so that no type is compiled that nothing else uses.


def entries():
    """Numbers of float32, with an empty row and an empty column."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P)) * (rng.random((N, P)) < 0.5)
    X[3], X[:, 4] = 0.0, 0.0
    return X.astype(np.float32).astype(np.float64)


def standards():
    rng = np.random.default_rng(1)
    return rng.standard_normal(P), 0.5 + rng.random(P)


def unwritable(*arrays):
    for array in arrays:
        array.flags.writeable = False
    return arrays


def csr(dtype, index):
    X = scipy.sparse.csr_array(entries())
    return unwritable(X.data.astype(dtype), X.indices.astype(index), X.indptr.astype(index))


def storages():
    means, scales = standards()
    (dense,) = unwritable(entries())
    return {
        "C float64": dense,
        "F float32": unwritable(np.asfortranarray(entries().astype(np.float32)))[0],
        "CSR float64 int32": CSR(*csr(np.float64, np.int32)),
        "CSR float32 int64": CSR(*csr(np.float32, np.int64)),
        "standardized": Standardized(dense, means, scales),
        "scaled CSR": ScaledCSR(*csr(np.float32, np.int32), scales),
    }


PLAIN = tuple(name for name in storages() if name not in ("standardized", "scaled CSR"))


def model_rows(storage):
    """The rows as the model sees them, float64[n, p]."""
    means, scales = standards()
    if storage == "standardized":
        return (entries() - means) * scales
    return entries() * scales if storage == "scaled CSR" else entries()


# The definitions.


def slow_loss(code, z, y):
    """ℓ at the scores z, float64[K]."""
    if code == MULTINOMIAL:
        return np.log1p(np.exp(np.delete(z - z[int(y)], int(y))).sum())
    if code == LOGISTIC:
        return np.logaddexp(0.0, -y * z[0])
    if code == SQUARED_HINGE:
        return max(0.0, 1 - y * z[0]) ** 2 / 2
    r = z[0] - y
    if code == HUBER and abs(r) > DELTA:
        return DELTA * abs(r) - DELTA**2 / 2
    return r**2 / 2


def slow_slopes(code, z, y):
    """ℓ′ at the scores z, float64[K]."""
    if code == MULTINOMIAL:
        e = np.exp(z - z.max())
        return e / e.sum() - np.eye(z.size)[int(y)]
    if code == LOGISTIC:
        return -y / (1 + np.exp(y * z))
    if code == SQUARED_HINGE:
        return -y * np.maximum(0.0, 1 - y * z)
    return np.clip(z - y, -DELTA, DELTA) if code == HUBER else z - y


def slow_search(f, z, slope, square, L):
    """The first of L, 2L, 4L, … that passes the test of the docstring, up to rounding."""
    steepness = slope @ slope
    if steepness * square <= TOO_FLAT * L * f(z):
        return L
    while f(z - slope * square / L) > f(z) * (1 + ROUNDING) - steepness * square / (2 * L):
        L *= 2
    return L


def slow_draw(u, L):
    """A sample by the uniform number u, and npᵢ, pᵢ = ½(1/n + Lᵢ/ΣL)."""
    if u < 0.5:
        i = int(2 * u * L.size)
    else:
        i = int(np.searchsorted(np.cumsum(L), (2 * u - 1) * L.sum(), side="right"))
    return i, L.size * 0.5 * (1 / L.size + L[i] / L.sum())


def soft(W, threshold):
    return np.sign(W) * np.maximum(np.abs(W) - threshold, 0.0)


def slow_pass(X, data, order, odds, rule, memory):
    """The memory after the visits, and the visits. Nothing is changed."""
    n, outputs = data.y.size, data.outputs
    W, b = memory.w.reshape(-1, outputs).copy(), memory.b.copy()
    S = memory.slopes.reshape(n, outputs).copy()
    Ls = memory.tree[memory.tree.size // 2 :][:n].copy()
    order, odds = order.copy(), odds.copy() if Ls.size else odds[order]  # of each visit
    m, L, largest = memory.numbers
    least = rule.least * data.a * data.squares
    # What g holds besides the slopes: the pull of Catalyst.
    pull = memory.g.reshape(-1, outputs) - X.T @ np.nan_to_num(S)
    pull_b = memory.g_b - np.nan_to_num(S).sum(axis=0)

    def sums():
        return X.T @ np.nan_to_num(S) + pull, np.nan_to_num(S).sum(axis=0) + pull_b

    def remember(visits, fresh):
        """The slopes of a batch, and m, the sum of npᵢ over the samples seen, n at most."""
        firsts = {order[r]: odds[r] for r in reversed(visits) if np.isnan(S[order[r], 0])}
        for i in fresh:
            S[i] = fresh[i]
        return min(m + sum(firsts.values()), n)

    def draw(visits):
        for visit in visits:
            order[visit], odds[visit] = slow_draw(odds[visit], Ls)

    if Ls.size:
        draw(range(min(AHEAD, order.size)))
    for t in range(0, order.size, rule.batch):
        visits = range(t, min(t + rule.batch, order.size))
        fresh = {}
        for r in visits:
            if Ls.size:
                draw(range(r + AHEAD, min(r + AHEAD + 1, order.size)))
            i = order[r]
            z = X[i] @ W + b
            fresh[i] = data.a[i] * slow_slopes(data.code, z, data.y[i])
            if rule.step == 0:

                def f(z, i=i):
                    return data.a[i] * slow_loss(data.code, z, data.y[i])

                if Ls.size:
                    begin = max(Ls[i] / 2, least[i])
                    Ls[i] = slow_search(f, z, fresh[i], data.squares[i], begin)
                    largest = max(largest, Ls[i])
                else:
                    L = slow_search(f, z, fresh[i], data.squares[i], L)
        eta = rule.step
        if eta == 0:
            # The largest Lᵢ/(npᵢ) is that of the largest Lᵢ.
            now = largest / (0.5 + 0.5 * n * largest / Ls.sum()) if Ls.size else L
            eta = min(rule.largest, rule.factor / (now + rule.l2))
            largest, L = (largest * 2 ** (-1 / n), L) if Ls.size else (largest, L * 2 ** (-1 / n))
        D, d_b = np.zeros_like(W), np.zeros_like(b)
        for r in visits:
            i = order[r]
            change = (fresh[i] - np.nan_to_num(S[i])) / odds[r] / len(visits)
            D, d_b = D + np.outer(X[i], change), d_b + change
        if rule.kind == SAG:
            D, d_b = np.zeros_like(W), np.zeros_like(b)
            m = remember(visits, fresh)
        g, g_b = sums()
        D, d_b = D + g / max(m, 1), d_b + g_b / max(m, 1)
        W = soft(W - eta * (D + rule.l2 * W), eta * rule.l1)
        if data.has_intercept:
            b = b - eta * (d_b + rule.intercept_l2 * b)
        if rule.kind == SAGA:
            m = remember(visits, fresh)
    g, g_b = sums()
    numbers = np.array([m, L, largest])
    tree = sum_tree(Ls) if Ls.size else Ls
    after = Memory(W.ravel(), b, g.ravel(), g_b, S.ravel(), tree, numbers)
    return after, order, odds


# What a pass is given.


def targets(code):
    rng = np.random.default_rng(2)
    if code == MULTINOMIAL:
        return rng.integers(K, size=N).astype(np.float64)
    y = rng.standard_normal(N)
    return np.sign(y) if code in (LOGISTIC, SQUARED_HINGE) else y


def samples(storage, code, has_intercept=True):
    """The samples, of which two have weight zero."""
    c = np.random.default_rng(3).random(N) * 2 / N
    c[[2, 7]] = 0.0
    squares = (model_rows(storage) ** 2).sum(axis=1) + has_intercept
    outputs = K if code == MULTINOMIAL else 1
    rows = storages()[storage]
    return FiniteSum(rows, targets(code), c, squares, code, DELTA, outputs, has_intercept)


def begun(X, data, step="fixed", start="full"):
    """A memory at some point; if it is full, with the slopes at another and a pull besides."""
    rng = np.random.default_rng(4)
    outputs = data.outputs
    w, b = 0.3 * rng.standard_normal(P * outputs), rng.standard_normal(outputs)
    w[::4] = 0.0
    S = np.full((N, outputs), {"empty": np.nan, "zero": 0.0, "full": 1.0}[start])
    g, g_b = np.zeros(P * outputs), np.zeros(outputs)
    if start == "full":
        Z = X @ rng.standard_normal((P, outputs))
        S = np.array(
            [a * slow_slopes(data.code, z, y) for a, z, y in zip(data.a, Z, data.y, strict=True)]
        )
        g = (X.T @ S).ravel() + 3 * rng.standard_normal(g.size)
        g_b = S.sum(axis=0) + rng.standard_normal(outputs)
    Ls = data.a * curvature_bound(data.code) * data.squares
    tree = sum_tree(Ls) if step == "tree" else np.empty(0)
    numbers = np.array([0.0 if start == "empty" else N, 0.2 * Ls.mean(), Ls.max()])
    return Memory(w, b, g, g_b, S.ravel(), tree, numbers)


def visits(step, count=T):
    """Samples, one of them twice in a row, and the odds of all. For a tree, numbers."""
    rng = np.random.default_rng(5)
    order, odds = rng.integers(N, size=count), 0.5 + rng.random(N)
    if step == "tree":
        return np.full(count, -1), rng.random(count)
    order[5] = order[6] = 8
    return order, odds


def rule_of(kind, step, penalty, batch=1, start="full"):
    return Rule(
        kind,
        batch,
        step=0.1 if step == "fixed" else 0.0,
        factor=0.4,
        largest=0.5,
        least=0.1,
        l1=PENALTIES[penalty][0],
        l2=PENALTIES[penalty][1],
        intercept_l2=0.3 if start == "full" else 0.0,
    )


def copied(memory):
    return Memory(*(array.copy() for array in memory))


def run(data, order, odds, rule, memory, block=7):
    """The same as `slow_pass`, by the kernel."""
    memory, order, odds = copied(memory), order.copy(), odds.copy()
    if is_sparse(data.X):
        cells = cells_of(memory.w, memory.g, rule.l1)
        sparse_pass(data, order, odds, rule, memory, cells, block)
    else:
        dense_pass(data, order, odds, rule, memory)
    return memory, order, odds


def check(found, expected):
    # Both are float64 from the same numbers, and differ in the order of sums, the products that
    # are fused, and a sum that is updated where the definition adds up anew: some hundred units of
    # 10⁻¹⁶ of the largest terms. A wrong step differs by 10⁻³ and more.
    for name, array, other in zip(Memory._fields, found[0], expected[0], strict=True):
        np.testing.assert_allclose(array, other, rtol=1e-10, atol=1e-12, err_msg=name)
    np.testing.assert_array_equal(found[1], expected[1], err_msg="order")
    if found[0].tree.size:
        np.testing.assert_allclose(found[2], expected[2], rtol=1e-12, err_msg="odds")


# One step by hand.


@pytest.mark.parametrize("storage", ["C float64", "CSR float64 int32"])
def test_one_step_by_hand(storage):
    X = np.array([[1.0, 0.0], [2.0, -1.0]])
    sparse = scipy.sparse.csr_array(X)
    rows = CSR(*unwritable(sparse.data, sparse.indices, sparse.indptr))
    if storage == "C float64":
        (rows,) = unwritable(X)
    y, c, squares = np.array([1.0, 5.0]), np.array([0.25, 0.75]), np.array([2.0, 6.0])
    data = FiniteSum(rows, y, c, squares, SQUARED, 1.0, 1, True)
    # The score of sample 1 is 2·2 − 1·1 + 1 = 4: its slope is 1.5·(4 − 5) = −1.5, remembered ½,
    # so δ = −2; the sums are 1·(1, 0) + ½·(2, −1) = (2, −½) and 1½, and of the intercept 1 + ½.
    memory = Memory(
        np.array([2.0, 1.0]), np.array([1.0]), np.array([2.0, -0.5]), np.array([1.5]),
        np.array([1.0, 0.5]), np.empty(0), np.array([2.0, 0.0, 0.0]),
    )  # fmt: skip
    order, odds = np.array([1]), np.array([0.0, 2.0])

    def after(kind):
        rule = Rule(kind, 1, 0.5, 0.0, 0.0, 0.0, 0.25, 0.5, 0.0)
        return run(data, order, odds, rule, memory)[0]

    # g = (2, −½) − 2(2, −1) = (−2, 1.5), d = g/2; w = ¾(2, 1) − ½d, then an eighth less.
    found = after(SAG)
    assert found.g.tolist() == [-2.0, 1.5]
    assert found.w.tolist() == [1.5 + 0.5 - 0.125, 0.75 - 0.375 - 0.125]
    assert found.b.tolist() == [1 - 0.5 * (1.5 - 2) / 2]
    assert found.slopes.tolist() == [1.0, -1.5]
    # d = −2(2, −1)/2 + (2, −½)/2 = (−1, ¾).
    for kind in (SAGA, SVRG):
        found = after(kind)
        assert found.w.tolist() == [1.5 + 0.5 - 0.125, 0.75 - 0.375 - 0.125]
        assert found.b.tolist() == [1 - 0.5 * (-1 + 0.75)]
        assert found.g.tolist() == ([-2.0, 1.5] if kind == SAGA else [2.0, -0.5])
        assert found.slopes.tolist() == [1.0, -1.5 if kind == SAGA else 0.5]


# Equality with the definition.


# All kinds of step, penalties, losses and memories with each other, and each of the four with all
# of intercept, batch and block, which take turns: 16 against 15 losses and memories.
TURNS = itertools.cycle(itertools.product((True, False), (1, 4), BLOCKS))
CASES = [
    (*case, *turn)
    for case, turn in zip(
        itertools.product(KINDS.values(), STEPS, PENALTIES, SUMMED, STARTS),
        TURNS,
        strict=False,
    )
]


@pytest.mark.parametrize("penalty", PENALTIES)
@every_step
@every_kind
def test_every_storage_takes_the_steps_of_the_definition(kind, step, penalty):
    X, order_and_odds = model_rows("C float64"), visits(step)
    cases = [case[3:] for case in CASES if case[:3] == (kind, step, penalty)]
    assert len(cases) == 15
    for code, start, has_intercept, batch, block in cases:
        data = samples("C float64", code, has_intercept)
        memory = begun(X, data, step, start)
        rule = rule_of(kind, step, penalty, batch, start)
        expected = slow_pass(X, data, *order_and_odds, rule, memory)
        for storage in PLAIN:
            data = samples(storage, code, has_intercept)
            check(run(data, *order_and_odds, rule, memory, block), expected)


@pytest.mark.parametrize("storage", ["standardized", "scaled CSR"])
@every_kind
def test_rows_are_standardized_on_the_way(kind, storage):
    X = model_rows(storage)
    for code, penalty, step in itertools.product((HUBER, MULTINOMIAL), ("l1", "both"), STEPS):
        data = samples(storage, code)
        memory, rule = begun(X, data, step), rule_of(kind, step, penalty, batch=2)
        expected = slow_pass(X, data, *visits(step), rule, memory)
        check(run(data, *visits(step), rule, memory), expected)


@pytest.mark.parametrize("block", BLOCKS)
@every_step
@every_kind
def test_the_lag_may_last_any_number_of_steps(kind, step, block):
    X = model_rows("CSR float64 int32")
    for code, penalty, batch in itertools.product((SQUARED, MULTINOMIAL), ("l1", "l2"), (1, 3)):
        data = samples("CSR float64 int32", code)
        # An empty memory, which fills as it goes, and sums that move what no row touches.
        memory = begun(X, data, step, "empty" if kind != SVRG else "full")
        memory.g[:] = 2 * np.random.default_rng(6).standard_normal(memory.g.size)
        rule = rule_of(kind, step, penalty, batch)
        expected = slow_pass(X, data, *visits(step), rule, memory)
        check(run(data, *visits(step), rule, memory, block), expected)


@every_kind
def test_a_block_ends_before_its_scale_underflows(kind):
    # R falls by 1000 a step: 10⁻¹⁰⁰ is reached after 33, and float64 ends after 107.
    X = model_rows("CSR float64 int32")
    for l1 in (0.0, 0.3):
        data = samples("CSR float64 int32", LOGISTIC)
        memory = begun(X, data)
        rule = rule_of(kind, "fixed", "none")._replace(l1=l1, l2=9.99)
        expected = slow_pass(X, data, *visits("fixed", 150), rule, memory)
        assert np.abs(expected[0].w).max() > 0.01
        check(run(data, *visits("fixed", 150), rule, memory, 200), expected)


@every_kind
def test_a_waiting_coefficient_passes_through_zero_and_comes_back_to_it(kind):
    # Column 4 is empty: its coefficient waits all the time, with whatever sum it was given. As the
    # memory fills up, g/m falls below l1.
    X, order = model_rows("CSR float64 int32"), np.arange(60) % N
    data, odds = samples("CSR float64 int32", SQUARED), np.ones(N)
    memory = begun(X, data, start="empty")
    rule = rule_of(kind, "fixed", "l1", start="empty")
    memory.w[4], memory.g[4] = 0.05, 2.0
    path = [slow_pass(X, data, order[:t], odds, rule, memory)[0].w[4] for t in range(order.size)]
    signs = [sign for sign, _ in itertools.groupby(np.sign(path))]
    assert signs == ([1, -1, 0] if kind != SVRG else [1, -1])  # SVRG's m stays what it was
    for count in (1, 3, 11, 20, 60):
        expected = slow_pass(X, data, order[:count], odds, rule, memory)
        check(run(data, order[:count], odds, rule, memory, 64), expected)


def test_a_search_doubles_and_falls():
    # That the searched steps above do both, rather than stay where they began.
    X, data = model_rows("C float64"), samples("C float64", SQUARED)
    memory = begun(X, data, "searched")
    rule = rule_of(SAGA, "searched", "none")
    Ls = [memory.numbers[1]]
    for t in range(1, T):
        order, odds = visits("searched")
        Ls.append(run(data, order[:t], odds, rule, memory)[0].numbers[1])
    rises = np.diff(np.log2(Ls))
    assert np.max(rises) > 0.5
    assert np.min(rises) == pytest.approx(-1 / N)


@pytest.mark.parametrize("code", [SQUARED, SQUARED_HINGE])
def test_an_exact_estimate_stays_exact(code):
    # Of a quadratic the test holds with equality at the true L: rounding must not double it.
    X, data = model_rows("C float64"), samples("C float64", code)
    memory = begun(X, data, "tree")
    true = data.a * data.squares
    rule = rule_of(SAGA, "tree", "none")._replace(least=1 / 1024)
    found, order, _ = run(data, *visits("tree", 500), rule, memory)
    leaves = found.tree[found.tree.size // 2 :][:N]
    assert (leaves <= true * (1 + 1e-12)).all()
    assert set(range(N)) == set(order)


# Invariants.


@every_kind
def test_two_passes_are_one_of_both(kind):
    for storage in ("C float64", "CSR float64 int32"):
        data = samples(storage, LOGISTIC)
        memory = begun(model_rows(storage), data, "searched", "empty")
        order, odds = visits("searched")
        rule = rule_of(kind, "searched", "both")
        first = run(data, order[:12], odds, rule, memory)[0]
        second = run(data, order[12:], odds, rule, first)[0]
        check((second, order, odds), run(data, order, odds, rule, memory))


@pytest.mark.parametrize("storage", ["C float64", "CSR float64 int32"])
def test_svrg_leaves_the_snapshot_alone(storage):
    data = samples(storage, MULTINOMIAL)
    memory = begun(model_rows(storage), data)
    found = run(data, *visits("fixed"), rule_of(SVRG, "fixed", "both"), memory)[0]
    for name in ("g", "g_b", "slopes"):
        assert getattr(found, name).tobytes() == getattr(memory, name).tobytes()
    assert np.abs(found.w - memory.w).max() > 0.01


@pytest.mark.parametrize("storage", PLAIN)
def test_samples_and_data_are_not_written_to(storage):
    data = samples(storage, LOGISTIC)
    memory, order_and_odds = begun(model_rows(storage), data, "searched"), visits("searched")
    before = [array.copy() for array in (data.y, data.a, data.squares, *order_and_odds)]
    run_in_place = copied(memory)
    rule = rule_of(SAGA, "searched", "both", batch=2)
    if is_sparse(data.X):
        cells = cells_of(memory.w, memory.g, rule.l1)
        sparse_pass(data, *order_and_odds, rule, run_in_place, cells, 7)
    else:
        dense_pass(data, *order_and_odds, rule, run_in_place)
    after = (data.y, data.a, data.squares, *order_and_odds)
    assert all(np.array_equal(*pair) for pair in zip(before, after, strict=True))


# The optimum.


class Known(NamedTuple):
    """An elastic net whose optimum is known."""

    data: FiniteSum
    rule: Rule
    w: np.ndarray
    slopes: np.ndarray  # at w


def known(storage, kind):
    """Squared losses, with targets for which w is optimal: Xᵀs/n + l2·w + l1·sign(w) = 0."""
    rng = np.random.default_rng(7)
    X = model_rows(storage)[:, :4]
    rows = unwritable(X.copy())[0]
    if "CSR" in storage:
        sparse = scipy.sparse.csr_array(X)
        rows = CSR(*unwritable(sparse.data, sparse.indices, sparse.indptr))
    rule = rule_of(kind, "fixed", "both", start="empty")
    w, a = np.array([1.0, 0.0, -2.0, 0.5]), 0.5 + rng.random(N)
    subgradient = np.sign(w) + np.array([0.0, 0.4, 0.0, 0.0])
    slopes = np.linalg.lstsq(X.T, -N * (rule.l2 * w + rule.l1 * subgradient))[0]
    y = X @ w - slopes / a
    data = FiniteSum(rows, y, a / N, (X**2).sum(axis=1), SQUARED, DELTA, 1, False)
    step = 1 / (3 * np.max(a * data.squares))
    return Known(data, rule._replace(step=float(step)), w, slopes)


def memory_at(w, slopes, X):
    numbers = np.array([float(N), 0.0, 0.0])
    g = X.T @ slopes
    return Memory(w, np.zeros(1), g, np.zeros(1), slopes, np.empty(0), numbers)


@pytest.mark.parametrize("storage", ["C float64", "CSR float64 int32"])
@every_kind
def test_the_optimum_is_a_fixed_point(kind, storage):
    data, rule, w, slopes = known(storage, kind)
    memory = memory_at(w, slopes, model_rows(storage)[:, :4])
    found = run(data, *visits("fixed"), rule, memory)[0]
    np.testing.assert_allclose(found.w, w, rtol=1e-13, atol=1e-14)
    assert found.w[1] == 0.0


@pytest.mark.parametrize("storage", ["C float64", "CSR float64 int32"])
@pytest.mark.parametrize("kind", [SAG, SAGA], ids=["sag", "saga"])
def test_the_optimum_is_reached(kind, storage):
    data, rule, w, _ = known(storage, kind)
    memory = memory_at(np.zeros(4), np.full(N, np.nan), np.zeros((N, 4)))
    memory.g[:], memory.numbers[0] = 0.0, 0.0
    order = np.random.default_rng(8).integers(N, size=400 * N)
    found = run(data, order, np.ones(N), rule, memory, 64)[0]
    np.testing.assert_allclose(found.w, w, rtol=1e-10, atol=1e-12)
    assert found.w[1] == 0.0


# Snapshots.


@pytest.mark.parametrize("storage", ["C float64", "CSR float32 int64", "standardized"])
def test_a_snapshot_is_the_slopes_their_sums_and_the_losses(storage):
    X = model_rows(storage)
    for code, (start, stop) in itertools.product(SUMMED, [(0, N), (2, 9), (4, 4)]):
        data = samples(storage, code)
        memory = begun(X, data, start="full")
        outputs, inside = data.outputs, slice(start, stop)
        Z = X @ memory.w.reshape(P, outputs) + memory.b
        terms = list(zip(data.a, Z, data.y, strict=True))
        S = np.array([a * slow_slopes(code, z, y) for a, z, y in terms])
        losses = [a * slow_loss(code, z, y) for a, z, y in terms]
        found = copied(memory)
        total = snapshot_pass(
            data, memory.w, memory.b, start, stop, found.slopes, found.g, found.g_b
        )
        assert total == pytest.approx(sum(losses[inside]), rel=1e-12)
        expected = memory.slopes.reshape(N, outputs).copy()
        expected[inside] = S[inside]
        close = {"rtol": 1e-12, "atol": 1e-14}
        np.testing.assert_allclose(found.slopes, expected.ravel(), **close)
        np.testing.assert_allclose(
            found.g, memory.g + (X[inside].T @ S[inside]).ravel(), rtol=1e-12, atol=1e-13
        )
        np.testing.assert_allclose(found.g_b, memory.g_b + S[inside].sum(axis=0), **close)
