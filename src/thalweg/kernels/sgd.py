"""Stochastic gradient descent over a pass of samples, dense and sparse, with the sum of iterates.

    w ← P(S(w − η(g + l2·w), η·l1))        g = (1/m) Σᵢ qᵢ ℓ′ᵢ xᵢ  over the m samples of a batch
    b ← P(b − η(1/m) Σᵢ qᵢ ℓ′ᵢ)

S is the soft threshold, P the projection of (w, b) on a ball, qᵢ what makes up for weights and for
the odds of a draw. Before each step the iterate is added to the sum that its average is made of.

**Sparse**: a step costs O(nnz of its rows). Shrinking by l2, the projection, the threshold and the
sum act on every coordinate, and wait until a row has an entry there. Keep u with w = R·u:

    R ← R(1 − ηl2)       u ← S(u − ηg/R, l1·η/R)       R ← R·min(1, B/‖(w, b)‖)

so that shrinking and projecting are one number. Let Q be the sum of R over the iterates counted so
far (`counted`). Had an entry of u always been what it is now, it would have added Q·u; each change
by δ makes that too much by Q·δ. Hence, from `total` = the sum so far and Q = 0 on,

    sum = Q·u + total        where every change δ of an entry of u also takes Q·δ from `total`

Without l1 nothing else is to do. With it, an entry that no row touches between the steps s and k
moves towards 0 by l1·η/R at every step, and stays there once it has arrived. With

    Eₖ = Σ η/R        Dₖ = Σ Q·η/R        over the steps before k

that is u ← u − σ·l1(Eₖ − Eₛ) and total ← total + σ·l1(Dₖ − Dₛ), σ = sign u: two lookups. If 0 lies
in between, a binary search in E finds the step that arrives there.

E, D and Q are kept for a block of steps, after which all entries are brought up to date
(`_settle`), as they are when R has become small. Where a radius and l1 meet, the norm needs every
entry at every step: a block is then one step, and costs O(p).

Cost: dense O(p) a sample; sparse O(nnz), times log(k − s) for entries that l1 takes to 0.
Bottou, Stochastic Gradient Tricks (2012), for R·u; Xu, arXiv:1107.2490, for the sum.
"""

import math

import numpy as np

from thalweg.kernels.compile import kernel
from thalweg.kernels.elementwise import soft_threshold_pass
from thalweg.kernels.losses import loss_slope, slopes_at
from thalweg.kernels.prefetch import AHEAD, prefetch_sample
from thalweg.kernels.rows import (
    FAST_SUM,
    row_add_outer,
    row_axpy,
    row_dot,
    row_scores,
    row_square,
)

SMALL = 1e-4  # an R below this is made 1 again, while u and Q still have their digits


# One output has branches of its own, and little is split off into functions: a step at 50 features
# takes twice as long with a matrix of one column, or with calls that are handed arrays.


@kernel(fastmath=FAST_SUM)
def dense_pass(data, pull, order, steps, batch, l1, l2, radius, v, total):
    """Take the steps η = `steps` along `order`, `batch` samples each; change `v`, `total` in place.

    `data` is a `FiniteSum`, `pull` is q, float64[n]; `v` are coefficients, then intercepts, and
    `total` the sum of all v so far, both float64[dim].
    """
    X, y, code, delta, K = data.X, data.y, data.code, data.delta, data.outputs
    count = v.size - K * data.has_intercept
    w, b = v[:count], _intercepts(v, count, K)
    W = w.reshape(count // K, K)
    changes, scores = np.empty((batch, K)), np.empty(K)
    for t in range(steps.size):
        eta, first = steps[t], t * batch
        size = min(batch, order.size - first)
        for m in range(size):
            prefetch_sample(X, y, pull, order, first + m + AHEAD)
            i = order[first + m]
            weight = -eta * pull[i] / size
            if K == 1:
                score = row_dot(X, i, w) + b[0]
                changes[m, 0] = weight * loss_slope(code, score, y[i], delta)
            else:
                row_scores(X, i, W, b, scores)
                slopes_at(code, scores, y[i], delta, changes[m])
                _scale(weight, changes[m])
        for j in range(v.size):
            total[j] += v[j]
        for j in range(count):
            w[j] *= 1.0 - eta * l2
        for m in range(size):
            if K == 1:
                row_axpy(X, order[first + m], changes[m, 0], w)
            else:
                row_add_outer(X, order[first + m], changes[m], W)
            if data.has_intercept:
                for c in range(K):
                    b[c] += changes[m, c]
        if l1 > 0.0:
            soft_threshold_pass(w, eta * l1)
        if radius < math.inf:
            norm = math.sqrt(_square(v))
            if norm > radius:
                _scale(radius / norm, v)


@kernel(fastmath=FAST_SUM)
def sparse_pass(data, pull, order, steps, batch, block, l1, l2, radius, v, total):
    """The same for sparse rows; where l1 > 0, all entries catch up after every `block` steps."""
    X, y, code, delta, K = data.X, data.y, data.code, data.delta, data.outputs
    count = v.size - K * data.has_intercept
    u, b = v[:count], _intercepts(v, count, K)
    total_u, total_b = total[:count], _intercepts(total, count, K)
    U, total_U = u.reshape(count // K, K), total_u.reshape(count // K, K)
    changes, scores, zeros = np.empty((batch, K)), np.empty(K), np.zeros(K)
    seen = np.zeros(count // K if l1 > 0.0 else 0, dtype=np.int64)  # step to which U[j] is due
    E, D, Q = np.zeros(block + 1), np.zeros(block + 1), np.zeros(block + 1)
    k, R, counted = 0, 1.0, 0.0  # steps of this block, and Q after the last of them
    square = _square(u)  # ‖u‖²
    for t in range(steps.size):
        eta, first = steps[t], t * batch
        size = min(batch, order.size - first)
        for m in range(size):
            prefetch_sample(X, y, pull, order, first + m + AHEAD)
            i = order[first + m]
            if l1 > 0.0:
                touched = X.indices[X.indptr[i] : X.indptr[i + 1]]
                _catch_up(touched, k, l1, seen, E, D, Q, U, total_U)
            weight = -eta * pull[i] / size
            if K == 1:
                score = R * row_dot(X, i, u) + b[0]
                changes[m, 0] = weight * loss_slope(code, score, y[i], delta)
            else:
                row_scores(X, i, U, zeros, scores)
                for c in range(K):
                    scores[c] = R * scores[c] + b[c]
                slopes_at(code, scores, y[i], delta, changes[m])
                _scale(weight, changes[m])
        for c in range(K):
            total_b[c] += b[c]
        counted += R
        R *= 1.0 - eta * l2
        for m in range(size):
            i = order[first + m]
            if data.has_intercept:
                for c in range(K):
                    b[c] += changes[m, c]
            if radius < math.inf:
                square += _growth(X, i, changes[m], R, u, U, zeros, scores)
            if K == 1:
                row_axpy(X, i, changes[m, 0] / R, u)
                row_axpy(X, i, -counted * changes[m, 0] / R, total_u)
            else:
                _scale(1.0 / R, changes[m])
                row_add_outer(X, i, changes[m], U)
                _scale(-counted, changes[m])
                row_add_outer(X, i, changes[m], total_U)
        if l1 > 0.0:
            E[k + 1] = E[k] + eta / R
            D[k + 1] = D[k] + counted * eta / R
            Q[k + 1] = counted
            k += 1
        if k == block or R < SMALL:
            square = _settle(k, R, counted, l1, seen, E, D, Q, U, total_U)
            k, R, counted = 0, 1.0, 0.0
        if radius < math.inf:
            norm = math.sqrt(R * R * square + _square(b))
            if norm > radius:
                R *= radius / norm
                _scale(radius / norm, b)
    _settle(k, R, counted, l1, seen, E, D, Q, U, total_U)


@kernel
def _intercepts(v, count, K):
    """Those of `v`, or zeros where it has none."""
    return v[count:] if v.size > count else np.zeros(K)


@kernel(fastmath=FAST_SUM, inline=True)
def _catch_up(touched, k, l1, seen, E, D, Q, U, total):
    """Bring the rows `touched` of U and of `total` up to step k, in place."""
    for j in touched:
        s = seen[j]
        seen[j] = k
        for c in range(U.shape[1]):
            if U[j, c] == 0.0:
                continue
            distance = l1 * (E[k] - E[s])
            size, sign = abs(U[j, c]), math.copysign(1.0, U[j, c])
            if not size <= distance:  # rather than >, which would take a NaN to 0
                U[j, c] -= sign * distance
                total[j, c] += sign * l1 * (D[k] - D[s])
            else:
                before, arrived = s, k
                while arrived - before > 1:
                    middle = (before + arrived) // 2
                    if size <= l1 * (E[middle] - E[s]):
                        arrived = middle
                    else:
                        before = middle
                left = size - l1 * (E[before] - E[s])
                U[j, c] = 0.0
                total[j, c] += sign * (l1 * (D[before] - D[s]) + left * Q[arrived])


@kernel(fastmath=FAST_SUM)
def _settle(k, R, counted, l1, seen, E, D, Q, U, total):
    """Make `U` the coefficients and `total` their sum, in place; returns ‖U‖²."""
    if l1 > 0.0:
        _catch_up(np.arange(U.shape[0]), k, l1, seen, E, D, Q, U, total)
        seen[:] = 0
    square = 0.0
    for j in range(U.shape[0]):
        for c in range(U.shape[1]):
            total[j, c] += counted * U[j, c]
            U[j, c] *= R
            square += U[j, c] * U[j, c]
    return square


@kernel(fastmath=FAST_SUM, inline=True)
def _growth(X, i, change, R, u, U, zeros, scores):
    """‖U + xᵢ·changeᵀ/R‖² − ‖U‖²; `scores` is overwritten."""
    if scores.size == 1:
        scores[0] = row_dot(X, i, u)
    else:
        row_scores(X, i, U, zeros, scores)
    along = 0.0
    for c in range(scores.size):
        along += scores[c] * change[c]
    return 2.0 * along / R + row_square(X, i) * _square(change) / (R * R)


@kernel(fastmath=FAST_SUM, inline=True)
def _scale(factor, v):
    """Multiply `v` by `factor`, in place."""
    for j in range(v.size):
        v[j] *= factor


@kernel(fastmath=FAST_SUM, inline=True)
def _square(v):
    """‖v‖²."""
    total = 0.0
    for j in range(v.size):
        total += v[j] * v[j]
    return total
