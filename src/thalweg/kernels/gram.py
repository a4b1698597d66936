"""Weighted second moments of sparse rows: only the pairs of entries that a row stores.

    S = Σᵢ hᵢxᵢxᵢᵀ

A row with k stored entries adds k(k + 1)/2 numbers, half of its square: which half is left to the
order of its entries, and S + Sᵀ minus the diagonal puts them together.
"""

import numpy as np

from thalweg.kernels.compile import kernel


@kernel
def pairs_pass(X, h, start, stop, second, first):
    """Add half of Σ hᵢxᵢxᵢᵀ to `second` and Σ hᵢxᵢ to `first`, in place."""
    for i in range(start, stop):
        begin, end = np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])
        for e in range(begin, end):
            j = np.uint64(X.indices[e])
            weighted = h[i] * X.data[e]
            first[j] += weighted
            for f in range(begin, e + np.uint64(1)):
                second[j, np.uint64(X.indices[f])] += weighted * X.data[f]
