"""Passes of SAG, SAGA and SVRG: steps along remembered slopes, corrected by what a sample tells.

    F(w) = (1/n) Σᵢ aᵢℓ(xᵢᵀw, yᵢ) + (l2/2)‖w‖² + l1‖w‖₁

All three remember a slope sᵢ of every sample and the sum g = Σ sᵢxᵢ. A step visits a batch B of
samples, drawn with probabilities pᵢ, and learns δᵢ = aᵢℓ′(xᵢᵀw, yᵢ) − sᵢ:

    SAG     g ← g + Σδᵢxᵢ  and sᵢ ← sᵢ + δᵢ,    d = g/m
    SAGA    d = (1/|B|) Σ δᵢxᵢ/(npᵢ) + g/m,     then g and sᵢ as SAG
    SVRG    d = (1/|B|) Σ δᵢxᵢ/(npᵢ) + g/n,     g and sᵢ stay those of a snapshot

    w ← S(w − η(d + l2·w), η·l1)                S the soft threshold

m is the sum of npᵢ over the samples seen so far: their number where all pᵢ are equal, and n in the
end. As Lᵢ/(npᵢ) is at most the L_eff that the step is made for (`methods.sampling`), so is the
smoothness of g/m. Divided by their number it would be that of the few large samples which are drawn
first, and the first steps would be out of all proportion.

The intercept moves by ηd alone (or with a ridge of its own, which Catalyst asks for). K classes
have K slopes a sample and K columns of w; the variables are flat, class by class within a feature.

The step is fixed, or η = factor/(L + l2) with an L that is searched for: at the sample visited

    f(z − f′‖x̃‖²/L) ≤ f(z) − f′²‖x̃‖²/(2L),     f = aᵢℓ(·, yᵢ),  else  L ← 2L

which costs no look at the row, since ‖x̃ᵢ‖² is known; L falls by 2^(−1/n) a step, so that it can
follow a curvature that falls. With a sum tree each sample has an Lᵢ of its own, halved before each
test; samples are drawn with probability ½(1/n + Lᵢ/ΣL), and L is max Lᵢ/(npᵢ).

`dense_pass` moves every coefficient at every step, O(p). `sparse_pass` moves those of the row, and
lets the others lag (`kernels.lag`): O(nnz of the row).
"""

import math
from typing import NamedTuple

import numpy as np

from thalweg.kernels.compile import kernel
from thalweg.kernels.lag import (
    SMALLEST,
    G,
    V,
    caught_up,
    end_block,
    soft_threshold,
)
from thalweg.kernels.losses import loss_at, slopes_at
from thalweg.kernels.prefetch import AHEAD, prefetch, prefetch_row
from thalweg.kernels.rows import FAST_SUM, row_add_outer, row_axpy, row_dot, row_scores, stored
from thalweg.kernels.sum_tree import tree_draw, tree_update

SAG, SAGA, SVRG = range(3)

DOUBLINGS = 60  # of L in one test at most
TOO_FLAT = 1e-10  # f′²‖x̃‖²/(L·f): below, the two sides of the test differ by rounding only
ROUNDING = 1e-13  # of f: of a quadratic the test holds with equality at the true L


class Rule(NamedTuple):
    """How a pass is to go."""

    kind: int  # SAG, SAGA or SVRG
    batch: int  # samples a step
    step: float  # η; 0 where it is searched for
    factor: float  # η·L, where it is searched for
    largest: float  # η at most, where it is searched for
    least: float  # Lᵢ/(aᵢ‖x̃ᵢ‖²) at least, where each is estimated
    l1: float
    l2: float
    intercept_l2: float


class Memory(NamedTuple):
    """What a pass changes in place."""

    w: np.ndarray  # coefficients, float64[p·K]
    b: np.ndarray  # intercepts, float64[K]
    g: np.ndarray  # Σ sᵢxᵢ, float64[p·K]
    g_b: np.ndarray  # Σ sᵢ, float64[K]
    slopes: np.ndarray  # s, float64[n·K]; NaN where never seen
    tree: np.ndarray  # sum tree of the Lᵢ; empty unless each is estimated
    numbers: np.ndarray  # m, L, largest Lᵢ: float64[3]


# Within the loops, helpers are given arrays and numbers, never the tuples that hold them: to pass a
# tuple of arrays counts references to each, which took six times as long as the arithmetic.


@kernel(fastmath=FAST_SUM)
def dense_pass(data, order, odds, rule, memory):
    """Visit the samples in `order`, changing `memory` in place.

    `odds` holds npᵢ, float64[n]. With a tree it holds a uniform number for each visit, float64[T],
    and `order` and `odds`, then npᵢ of each visit, are filled in place.
    """
    X, y, c, squares, code, delta, K, has_intercept = data
    kind, batch, step, factor, largest, least, l1, l2, intercept_l2 = rule
    w, b, g, g_b, slopes, tree, numbers = memory
    W, Sums = w.reshape(w.size // K, K), g.reshape(g.size // K, K)
    n, decay = y.size, 2.0 ** (-1.0 / y.size)
    z, change, fresh = np.empty(K), np.empty(K), np.empty(batch * K)
    news, news_b = np.zeros(w.size), np.zeros(K)
    News = news.reshape(w.size // K, K)
    for t in range(min(AHEAD, order.size)):
        _look_ahead(X, y, c, slopes, tree, order, odds, t)
    for t in range(0, order.size, batch):
        stop = min(t + batch, order.size)
        for r in range(t, stop):
            if r + AHEAD < order.size:
                _look_ahead(X, y, c, slopes, tree, order, odds, r + AHEAD)
            i = order[r]
            if K == 1:
                z[0] = row_dot(X, i, w) + b[0]
            else:
                row_scores(X, i, W, b, z)
            slopes_at(code, z, y[i], delta, change)
            a = n * c[i]
            for k in range(K):
                change[k] *= a
                fresh[(r - t) * K + k] = change[k]
            if step == 0.0:
                _search(code, z, change, y[i], a, delta, squares[i], i, tree, least, numbers)
        eta = (
            step if step > 0.0 else min(largest, factor / (_searched(tree, numbers, n, decay) + l2))
        )
        for r in range(t, stop):
            i = order[r]
            share = odds[r if tree.size > 0 else i]
            if kind == SAG:
                _remember(slopes, i, share, fresh, (r - t) * K, change, g_b, numbers)
                if K == 1:
                    row_axpy(X, i, change[0], g)
                else:
                    row_add_outer(X, i, change, Sums)
            else:
                _correct(slopes, i, fresh, (r - t) * K, share * (stop - t), change, news_b)
                if K == 1:
                    row_axpy(X, i, change[0], news)
                else:
                    row_add_outer(X, i, change, News)
        inverse = 1.0 / max(numbers[0], 1.0)
        rho, threshold = 1.0 - eta * l2, eta * l1
        if kind == SAG and l1 == 0.0:
            for j in range(w.size):
                w[j] = rho * w[j] - (eta * inverse) * g[j]
        else:
            for j in range(w.size):
                moved = rho * w[j] - eta * (news[j] + inverse * g[j])
                w[j] = soft_threshold(moved, threshold)
                news[j] = 0.0
        if has_intercept:
            _step_intercepts(b, g_b, news_b, eta, inverse, intercept_l2)
        if kind == SAGA:
            for r in range(t, stop):
                i = order[r]
                share = odds[r if tree.size > 0 else i]
                _remember(slopes, i, share, fresh, (r - t) * K, change, g_b, numbers)
                if K == 1:
                    row_axpy(X, i, change[0], g)
                else:
                    row_add_outer(X, i, change, Sums)


@kernel(fastmath=FAST_SUM)
def sparse_pass(data, order, odds, rule, memory, cells, block):
    """The same for sparse rows; all coefficients catch up after every `block` steps.

    `cells` are `cells_of` the coefficients, and are changed in place; w and g of `memory` are
    written from them at the end.
    """
    X, y, c, squares, code, delta, K, has_intercept = data
    kind, batch, step, factor, largest, least, l1, l2, intercept_l2 = rule
    w, b, g, g_b, slopes, tree, numbers = memory
    indices, indptr, n, decay = X.indices, X.indptr, y.size, 2.0 ** (-1.0 / y.size)
    z, change, fresh = np.empty(K), np.empty(K), np.empty(batch * K)
    news_b, outputs = np.zeros(K), np.uint64(K)  # unsigned, as are the indices: see `rows`
    A, E, R = np.zeros(block + 1), np.zeros(block + 1), 1.0
    now = np.int64(0)  # a plain 0 is a type of its own: the lag would be compiled twice
    for t in range(min(AHEAD, order.size)):
        _look_ahead(X, y, c, slopes, tree, order, odds, t)
    for t in range(0, order.size, batch):
        stop = min(t + batch, order.size)
        for r in range(t, stop):
            if r + AHEAD < order.size:
                _look_ahead(X, y, c, slopes, tree, order, odds, r + AHEAD)
            i = order[r]
            _scores(X, i, cells, A, E, now, l1, R, b, z)
            slopes_at(code, z, y[i], delta, change)
            a = n * c[i]
            for k in range(K):
                change[k] *= a
                fresh[(r - t) * K + k] = change[k]
            if step == 0.0:
                _search(code, z, change, y[i], a, delta, squares[i], i, tree, least, numbers)
        eta = (
            step if step > 0.0 else min(largest, factor / (_searched(tree, numbers, n, decay) + l2))
        )
        if kind == SAG:
            for r in range(t, stop):
                i = order[r]
                share = odds[r if tree.size > 0 else i]
                _remember(slopes, i, share, fresh, (r - t) * K, change, g_b, numbers)
                for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                    x, j = stored(X, e), np.uint64(indices[e]) * outputs
                    for k in range(outputs):
                        cells[j + k, G] += x * change[k]
        inverse = 1.0 / max(numbers[0], 1.0)
        if now == block or R * (1.0 - eta * l2) < SMALLEST:
            end_block(cells, R, A, E, now, l1)
            R, now = 1.0, 0
        now += 1
        R *= 1.0 - eta * l2
        A[now] = A[now - 1] + eta * inverse / R
        E[now] = E[now - 1] + eta / R
        if kind != SAG:
            # The news alone: what every coefficient does in this step, thresholds included, waits
            # until its cell catches up.
            for r in range(t, stop):
                i = order[r]
                share = odds[r if tree.size > 0 else i] * (stop - t)
                _correct(slopes, i, fresh, (r - t) * K, share, change, news_b)
                for k in range(K):
                    change[k] *= eta / R
                for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                    x, j = stored(X, e), np.uint64(indices[e]) * outputs
                    for k in range(outputs):
                        cells[j + k, V] -= x * change[k]
        if has_intercept:
            _step_intercepts(b, g_b, news_b, eta, inverse, intercept_l2)
        if kind == SAGA:
            for r in range(t, stop):
                i = order[r]
                share = odds[r if tree.size > 0 else i]
                _remember(slopes, i, share, fresh, (r - t) * K, change, g_b, numbers)
                for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                    x, j = stored(X, e), np.uint64(indices[e]) * outputs
                    for k in range(outputs):
                        caught_up(cells, j + k, A, E, now, l1)  # by the slope sum as it was
                        cells[j + k, G] += x * change[k]
    end_block(cells, R, A, E, now, l1)
    w[:] = cells[:, V]
    g[:] = cells[:, G]


@kernel(fastmath=FAST_SUM, inline=True)
def _scores(X, i, cells, A, E, now, l1, R, b, z):
    """z = R·Vᵀxᵢ + b in place, once the coefficients of the row have caught up."""
    outputs = np.uint64(z.size)
    for k in range(outputs):
        z[k] = 0.0
    for e in range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])):
        x, j = stored(X, e), np.uint64(X.indices[e]) * outputs
        for k in range(outputs):
            z[k] += x * caught_up(cells, j + k, A, E, now, l1)
    for k in range(outputs):
        z[k] = R * z[k] + b[k]


@kernel(inline=True)
def _look_ahead(X, y, c, slopes, tree, order, odds, t):
    """Draw the sample of visit t if a tree is to do it, in place, and ask for its row."""
    n = y.size
    if tree.size > 0:
        u, total = odds[t], tree[1]
        if u < 0.5:
            order[t] = min(int(2.0 * u * n), n - 1)
        else:
            order[t] = tree_draw(tree, (2.0 * u - 1.0) * total)
        odds[t] = 0.5 + 0.5 * n * tree[tree.size // 2 + order[t]] / total
    else:
        prefetch(odds, order[t])
    i = order[t]
    prefetch_row(X, i)
    prefetch(slopes, i * (slopes.size // n))
    prefetch(y, i)
    prefetch(c, i)


@kernel(fastmath=FAST_SUM, inline=True)
def _search(code, z, slope, y, a, delta, square, i, tree, least, numbers):
    """Raise L, or the Lᵢ of the tree, until sample i passes the test, in place; uses up `z`."""
    L = numbers[1]
    if tree.size > 0:
        L = max(0.5 * tree[tree.size // 2 + i], least * a * square)
    steepness = 0.0
    for k in range(z.size):
        steepness += slope[k] * slope[k]
    value = a * loss_at(code, z, y, delta)
    if steepness * square > TOO_FLAT * L * value:
        gone = 0.0  # how much of slope·‖x̃‖² the scores have gone down already
        for _ in range(DOUBLINGS):
            for k in range(z.size):
                z[k] -= (1.0 / L - gone) * slope[k] * square
            gone = 1.0 / L
            gain = 0.5 * steepness * square / L
            if a * loss_at(code, z, y, delta) <= value * (1.0 + ROUNDING) - gain:
                break
            L *= 2.0
    if tree.size > 0:
        tree_update(tree, i, L)
        numbers[2] = max(L, numbers[2])
    else:
        numbers[1] = L


@kernel(inline=True)
def _searched(tree, numbers, n, decay):
    """L as it stands; it falls by `decay`, in place."""
    if tree.size == 0:
        L = numbers[1]
        numbers[1] *= decay
    else:
        L = numbers[2] / (0.5 + 0.5 * numbers[2] * n / tree[1])  # max Lᵢ/(npᵢ)
        numbers[2] *= decay
    return L


@kernel(inline=True)
def _remember(slopes, i, share, fresh, at, change, g_b, numbers):
    """Write δᵢ into `change`, and the fresh slopes into the memory of sample i, in place."""
    K = change.size
    if math.isnan(slopes[i * K]):
        numbers[0] = min(numbers[0] + share, slopes.size / K)
        for k in range(K):
            slopes[i * K + k] = 0.0
    for k in range(K):
        change[k] = fresh[at + k] - slopes[i * K + k]
        slopes[i * K + k] = fresh[at + k]
        g_b[k] += change[k]


@kernel(inline=True)
def _correct(slopes, i, fresh, at, share, change, news_b):
    """Write δᵢ/share into `change` and add it to `news_b`, in place."""
    K = change.size
    for k in range(K):
        old = slopes[i * K + k]
        change[k] = (fresh[at + k] - (0.0 if math.isnan(old) else old)) / share
        news_b[k] += change[k]


@kernel(inline=True)
def _step_intercepts(b, g_b, news_b, eta, inverse, l2):
    """Move the intercepts, in place, and forget the news of them."""
    for k in range(b.size):
        b[k] -= eta * (news_b[k] + inverse * g_b[k] + l2 * b[k])
        news_b[k] = 0.0


@kernel(fastmath=FAST_SUM)
def snapshot_pass(data, w, b, start, stop, slopes, g, g_b):
    """Write aᵢℓ′ of the rows into `slopes` and add them to `g` and `g_b`, in place; Σ aᵢℓᵢ."""
    X, y, c, code, delta, K = data.X, data.y, data.c, data.code, data.delta, data.outputs
    W, Sums = w.reshape(w.size // K, K), g.reshape(g.size // K, K)
    z, total = np.empty(K), 0.0
    for i in range(start, stop):
        if K == 1:
            z[0] = row_dot(X, i, w) + b[0]
        else:
            row_scores(X, i, W, b, z)
        a = y.size * c[i]
        total += a * loss_at(code, z, y[i], delta)
        slopes_at(code, z, y[i], delta, z)
        for k in range(K):
            z[k] *= a
            slopes[i * K + k] = z[k]
            g_b[k] += z[k]
        if K == 1:
            row_axpy(X, i, z[0], g)
        else:
            row_add_outer(X, i, z, Sums)
    return total
