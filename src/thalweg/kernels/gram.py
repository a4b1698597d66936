"""Weighted second moments of sparse rows: only the pairs of entries that a row stores.

    S = Σᵢ hᵢxᵢxᵢᵀ

A row with k stored entries adds k(k + 1)/2 numbers, half of its square: which half is left to the
order of its entries, and S + Sᵀ minus the diagonal puts them together. Stored entries are shifted
before they are multiplied; a feature with entries that are not stored needs a shift of 0.
"""

import numpy as np

from thalweg.kernels.compile import kernel


@kernel
def pairs_pass(X, h, hr, shift, start, stop, second, first, cross):
    """Add half of Σ hᵢxᵢxᵢᵀ to `second`, Σ hᵢxᵢ to `first` and Σ (hr)ᵢxᵢ to `cross`, in place.

    The last is left alone where `hr` is empty.
    """
    for i in range(start, stop):
        begin, end = np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])
        for e in range(begin, end):
            j = np.uint64(X.indices[e])
            x = X.data[e] - shift[j]
            weighted = h[i] * x
            first[j] += weighted
            if hr.size:
                cross[j] += hr[i] * x
            for f in range(begin, e + np.uint64(1)):
                k = np.uint64(X.indices[f])
                second[j, k] += weighted * (X.data[f] - shift[k])
