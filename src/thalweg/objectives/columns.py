"""A few features of a linear problem, gathered from X as the rows of a small matrix.

    aⱼ = (xⱼ − sⱼ)·dⱼ                  with scales d, 1 unless the problem standardizes
    Xw + b = Σⱼ wⱼ(aⱼ + oⱼ) + b        over the gathered features, all other wⱼ being zero

With an intercept, a dense feature is taken about its mean, s = m, which keeps the digits of one
whose mean is large; a sparse one stays sparse, s = 0. The offset oⱼ is what the model's own feature
(centred if it standardizes) has beyond aⱼ: one number a feature, for the intercept to carry.

Cost: a look at the wanted entries of a dense X, two passes over a sparse one. The result is float64
for any X: an array [k, n], or a CSR of that shape with 32-bit indices. Any number of threads gives
the same bits.
"""

from __future__ import annotations

import numpy as np

from thalweg.kernels.columns import count_entries, gather_dense, gather_sparse
from thalweg.kernels.rows import CSR
from thalweg.objectives.linear import LinearProblem

CONSTANT = 1e-26  # of Σcx²: a centred feature below this is the rounding of a constant one


def gather(data: LinearProblem, features: np.ndarray, means: np.ndarray) -> np.ndarray | CSR:
    """The features int64[k] as rows; `means`, in the units of X, are zero without an intercept."""
    X, n, k = data.matrix.rows, data.n, features.size
    scales = np.ones(k) if data.scales is None else data.scales[features]
    if not isinstance(X, CSR):
        out = np.empty((k, n))
        shifts = means[features]
        data._blocks(
            lambda start, stop: gather_dense(X, features, shifts, scales, start, stop, out)
        )
        squares = np.array([data.weights @ (a * a) for a in out])
        out[squares <= CONSTANT * scales**2 * data.column_squares[features]] = 0.0
        return out
    slots = np.full(data.p, -1)
    slots[features] = np.arange(k)

    def count(start: int, stop: int) -> tuple[int, int, np.ndarray]:
        counts = np.zeros(k, dtype=np.int64)
        count_entries(X, slots, start, stop, counts)
        return start, stop, counts

    blocks = data._blocks(count)
    indptr = np.zeros(k + 1, dtype=np.int64)
    np.cumsum(sum(counts for _, _, counts in blocks), out=indptr[1:])
    values, indices = np.empty(indptr[-1]), np.empty(indptr[-1], dtype=np.int32)
    places, place = {}, indptr[:-1].copy()
    for start, _, counts in blocks:
        places[start] = place.copy()
        place += counts
    data._blocks(
        lambda start, stop: gather_sparse(
            X, slots, scales, start, stop, places[start], values, indices
        )
    )
    return CSR(values, indices, indptr)


def append(A: np.ndarray | CSR, B: np.ndarray | CSR) -> np.ndarray | CSR:
    """The rows of `A`, then those of `B`."""
    if isinstance(A, CSR) and isinstance(B, CSR):
        return CSR(
            np.concatenate([A.data, B.data]),
            np.concatenate([A.indices, B.indices]),
            np.concatenate([A.indptr, A.indptr[-1] + B.indptr[1:]]),
        )
    return np.concatenate([A, B])


def offsets(data: LinearProblem, features: np.ndarray, means: np.ndarray) -> np.ndarray:
    """o of the features, float64[k]; zero without an intercept."""
    taken = np.zeros(features.size) if data.matrix.is_sparse else means[features]
    if data.means is None or data.scales is None:
        return taken
    return data.scales[features] * (taken - data.means[features])
