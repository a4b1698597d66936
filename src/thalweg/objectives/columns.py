"""A few features of a linear problem, gathered from X as the rows of a small matrix.

    aᵢⱼ = √cᵢ (xᵢⱼ − sⱼ)dⱼ               scales d, 1 unless the problem standardizes
    Xw + b = Σⱼ wⱼ(aⱼ/√c + oⱼ) + b        over the gathered features, all other wⱼ being zero

The root of the weights c makes ‖aⱼ‖ and aⱼᵀaₖ the products that the objective is made of. With an
intercept, a dense feature is taken about its mean, s = m, which keeps the digits of one whose
mean is large; a sparse one stays sparse, s = 0. The offset oⱼ is what the model's own feature
(centred if it standardizes) has beyond that: one number a feature, for the intercept to carry.

Cost: a look at the wanted entries of a dense X, two passes over a sparse one. The result is float64
for any X: an array [k, n], or a CSR of that shape with 32-bit indices. Any number of threads gives
the same bits.
"""

from __future__ import annotations

import numpy as np

from thalweg.kernels.gather import (
    count_entries,
    count_in_rows,
    gather_dense,
    gather_sparse,
    take_in_rows,
)
from thalweg.kernels.leaves import each_leaf, leaf_edges
from thalweg.kernels.rows import CSR
from thalweg.objectives.gram import weighted_moments
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.matrix import Matrix

CONSTANT_SQUARE = 1e-13  # of Σhx²: a centred square below this likewise, from a difference
CONSTANT = 1e-26  # of Σcx²: a centred feature below this is the rounding of a constant one


def gather(data: LinearProblem, features: np.ndarray, means: np.ndarray) -> np.ndarray | CSR:
    """The features int64[k] as rows; `means`, in the units of X, are zero without an intercept."""
    k, roots = features.size, np.sqrt(data.weights)
    scales = data.features.units[features]
    if isinstance(data.matrix.rows, CSR):
        return _sparse(data, features, scales, roots)
    X, shifts = data.matrix.rows, means[features]
    if X.flags.f_contiguous:  # a feature is in one piece
        out = roots * (X.T[features] - shifts[:, None]) * scales[:, None]
    else:
        out = np.empty((k, data.n))
        each_leaf(
            lambda start, stop: gather_dense(X, features, shifts, scales, roots, start, stop, out),
            leaf_edges(data.n, k * data.n),
            data.threads,
        )
    squares = np.einsum("ji,ji->j", out, out)
    out[squares <= CONSTANT * scales**2 * data.rows.squares_about(None)[features]] = 0.0
    return out


def _sparse(
    data: LinearProblem, features: np.ndarray, scales: np.ndarray, roots: np.ndarray
) -> CSR:
    X, k = data.matrix.rows, features.size
    slots = _slots(data, features)

    def count(start: int, stop: int) -> tuple[int, np.ndarray]:
        counts = np.zeros(k, dtype=np.int64)
        count_entries(X, slots, start, stop, counts)
        return start, counts

    edges = leaf_edges(data.n, data.matrix.entries, k)
    blocks = each_leaf(count, edges, data.threads)
    indptr = np.zeros(k + 1, dtype=np.int64)
    np.cumsum(sum(counts for _, counts in blocks), out=indptr[1:])
    values, indices = np.empty(indptr[-1]), np.empty(indptr[-1], dtype=np.int32)
    places, place = {}, indptr[:-1].copy()
    for start, counts in blocks:
        places[start] = place.copy()
        place += counts
    each_leaf(
        lambda start, stop: gather_sparse(
            X, slots, scales, roots, start, stop, places[start], values, indices
        ),
        edges,
        data.threads,
    )
    return CSR(values, indices, indptr)


def entries_in_rows(data: LinearProblem, features: np.ndarray) -> np.ndarray:
    """How many entries each row of a sparse X has in these features, int64[n]."""
    X, slots, counts = data.matrix.rows, _slots(data, features), np.empty(data.n, dtype=np.int64)
    data.rows.each(lambda start, stop: count_in_rows(X, slots, start, stop, counts))
    return counts


def narrowed(data: LinearProblem, features: np.ndarray, counts: np.ndarray) -> Matrix:
    """A sparse X with these features alone, by rows; `counts` are their `entries_in_rows`."""
    X, slots = data.matrix.rows, _slots(data, features)
    indptr = np.zeros(data.n + 1, dtype=np.int64)
    np.cumsum(counts, out=indptr[1:])
    values, indices = np.empty(indptr[-1]), np.empty(indptr[-1], dtype=np.int32)
    data.rows.each(lambda start, stop: take_in_rows(X, slots, start, stop, indptr, values, indices))
    shape = (data.n, features.size)
    return Matrix(CSR(values, indices, indptr), shape, values.dtype, values.size, ())


def centred_gram(
    data: LinearProblem, features: np.ndarray, counts: np.ndarray, h: np.ndarray
) -> np.ndarray:
    """Σ hᵢx̂ᵢx̂ᵢᵀ + l2·I over features of a sparse X, float64[k, k], x̂ as the model sees them.

    With an intercept, which is to follow at its best value, x̂ is about the mean that the weights h
    give. `counts` are their `entries_in_rows`.
    """
    S, m, total, _ = weighted_moments(
        narrowed(data, features, counts), h, np.zeros(features.size), data.threads
    )
    least = CONSTANT_SQUARE * np.diag(S) + np.finfo(np.float64).tiny
    if data.fit_intercept:
        S -= np.outer(m, m / total)
    np.fill_diagonal(S, np.maximum(np.diag(S), least))  # of a constant feature: not its rounding
    d = data.features.units[features]
    S *= np.outer(d, d)
    S[np.diag_indices_from(S)] += data.l2
    return S


def _slots(data: LinearProblem, features: np.ndarray) -> np.ndarray:
    """The place of every feature of X among these, int32[p]; −1 where it is not."""
    slots = np.full(data.p, -1, dtype=np.int32)
    slots[features] = np.arange(features.size)
    return slots


def append(A: np.ndarray | CSR, B: np.ndarray | CSR) -> np.ndarray | CSR:
    """The rows of `A`, then those of `B`."""
    if isinstance(A, CSR) and isinstance(B, CSR):
        return CSR(
            np.concatenate([A.data, B.data]),
            np.concatenate([A.indices, B.indices]),
            np.concatenate([A.indptr, A.indptr[-1] + B.indptr[1:]]),
        )
    return np.concatenate([A, B])


def weighted(A: np.ndarray | CSR, factors: np.ndarray) -> np.ndarray | CSR:
    """`A` with its entries multiplied by the `factors` of their samples, float64[n]."""
    if isinstance(A, CSR):
        return CSR(A.data * factors[A.indices], A.indices, A.indptr)
    return A * factors


def offsets(data: LinearProblem, features: np.ndarray, means: np.ndarray) -> np.ndarray:
    """o of the features, float64[k]; zero without an intercept."""
    taken = np.zeros(features.size) if data.matrix.is_sparse else means[features]
    return data.features.units[features] * (taken - data.features.place[features])
