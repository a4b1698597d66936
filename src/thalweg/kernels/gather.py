"""Gathering features of X, as rows or left in theirs: what `objectives.columns` does in row blocks.

Rows of X are visited once in order, for all wanted features together: a pass over a dense X by
features would fetch a whole cache line for every entry.
"""

import numpy as np

from thalweg.kernels.compile import kernel


@kernel
def gather_dense(X, features, shifts, scales, roots, start, stop, out):
    """Write √cᵢ(xᵢⱼ − sⱼ)dⱼ into `out`, float64[k, n], in place, for the rows i of X."""
    for i in range(start, stop):
        for k in range(features.size):
            out[k, i] = roots[i] * (X[i, features[k]] - shifts[k]) * scales[k]


@kernel
def count_entries(X, slots, start, stop, counts):
    """Add to `counts`, in place, how many entries each feature has in these rows of a CSR `X`.

    `slots` maps the features of X to positions in `counts`, −1 where they are not wanted.
    """
    for e in range(X.indptr[start], X.indptr[stop]):
        slot = slots[X.indices[e]]
        if slot >= 0:
            counts[slot] += 1


@kernel
def gather_sparse(X, slots, scales, roots, start, stop, place, data, indices):
    """Write √cᵢxᵢⱼdⱼ and the rows i into `data` and `indices`, in place.

    `place`, int64[k], is where the next entry of a feature goes; it changes in place too.
    """
    for i in range(start, stop):
        for e in range(X.indptr[i], X.indptr[i + 1]):
            slot = slots[X.indices[e]]
            if slot >= 0:
                data[place[slot]] = roots[i] * X.data[e] * scales[slot]
                indices[place[slot]] = i
                place[slot] += 1


@kernel
def count_in_rows(X, slots, start, stop, counts):
    """Write into `counts`, in place, how many wanted entries each of these rows has."""
    for i in range(start, stop):
        count = 0
        for e in range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])):
            count += slots[np.uint64(X.indices[e])] >= 0
        counts[i] = count


@kernel
def take_in_rows(X, slots, start, stop, indptr, data, indices):
    """Write the wanted entries of these rows, and their slots, into `data` and `indices`, in place.

    Row i has its place from `indptr[i]` on.
    """
    for i in range(start, stop):
        place = np.uint64(indptr[i])
        for e in range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])):
            slot = slots[np.uint64(X.indices[e])]
            if slot >= 0:
                data[place] = X.data[e]
                indices[place] = slot
                place += np.uint64(1)
