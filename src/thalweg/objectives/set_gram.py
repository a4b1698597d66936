"""The Hessian of K classes in some of its variables: few of many coefficients, and intercepts.

    H = Σᵢ cᵢ x̃ᵢx̃ᵢᵀ ⊗ (diag(pᵢ) + ½νI − pᵢpᵢᵀ) + l2·I       the rows and columns of a set S

As diag(p) − ppᵀ ≤ ½I for any probabilities p, the quadratic with ν = 1 lies above F.

With S by classes, the variables of a class are one block, and H is two kinds of products:

    H_SS = diag over k of Aₖᵀ(pₖ + ½ν)Aₖ − BᵀB        bᵢₛ = √cᵢ x̃ᵢⱼpᵢₖ,  s = (j, k)

where Aₖ has the features √cx̃ that class k has in S. A sparse X is narrowed to the features of S.

Cost: O(n|S|²) with BLAS; memory of the result and one block of rows. Any number of threads gives
the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse

from thalweg.kernels.leaves import leaf_edges, tree_sum, with_blas
from thalweg.objectives.columns import entries_in_rows, narrowed
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.rows import BLOCK, PRODUCTS

# Rows of a leaf and of a block: of fewer, products are no faster than their sums are added.
FEWEST, FEWEST_AT_ONCE = 128, 256


def set_gram(
    data: LinearProblem, probabilities: np.ndarray, chosen: np.ndarray, floor: float = 0.0
) -> np.ndarray:
    """H_SS, float64[m, m], from the pᵢ, float64[n, K]; S is `chosen`, int64[m], by classes."""
    K, size, c = data.outputs, chosen.size, data.weights
    features, places = np.unique(chosen // K, return_inverse=True)
    classes = chosen % K
    blocks = list(pairwise(np.searchsorted(classes, np.arange(K + 1))))
    seen_rows = _seen(data, features)
    rows = max(FEWEST_AT_ONCE, BLOCK // max(size, 1))

    def part(start: int, stop: int) -> np.ndarray:
        H = np.zeros((size, size))
        for top in range(start, stop, rows):
            here = slice(top, min(top + rows, stop))
            seen = seen_rows(here) * np.sqrt(c[here])[:, None]
            p = probabilities[here]
            for k, (first, last) in enumerate(blocks):
                A = seen[:, places[first:last]] * np.sqrt(p[:, k] + 0.5 * floor)[:, None]
                H[first:last, first:last] += A.T @ A
            B = seen[:, places] * p[:, classes]
            H -= B.T @ B
        return H

    edges = leaf_edges(data.n, data.n * size * max(1, size // PRODUCTS), size * size, FEWEST)
    H = with_blas(tree_sum, part, edges, data.threads)
    is_held = np.flatnonzero(chosen < data.p * K)
    H[is_held, is_held] += data.l2
    return H


def _seen(data: LinearProblem, features: np.ndarray) -> Callable[[slice], np.ndarray]:
    """What gives the x̃ᵢ of some rows in these features, float64; the one after the last is 1."""
    columns = features[features < data.p]
    place, units = data.features.place[columns], data.features.units[columns]
    X: Any = data.matrix.rows
    if data.matrix.is_sparse:
        few = narrowed(data, columns, entries_in_rows(data, columns))
        X = scipy.sparse.csr_array(tuple(few.rows), shape=few.shape)

    def seen(here: slice) -> np.ndarray:
        block = X[here].toarray() if data.matrix.is_sparse else X[here][:, columns]
        block = (block - place) * units
        if features.size == columns.size:
            return block
        return np.column_stack([block, np.ones(len(block))])

    return seen
