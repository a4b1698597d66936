"""Gram matrices of a linear problem's features, centred and weighted, a block of rows at a time.

    G = Σᵢ cᵢ (xᵢ − m)(xᵢ − m)ᵀ           p × p, for p ≤ n
    K = [(xᵢ − m)ᵀ(xⱼ − m)]               n × n, for n < p

in the features that the model sees (scaled, if it standardizes); m is their weighted mean with an
intercept and 0 without. G and √cᵢKᵢⱼ√cⱼ share their non-zero eigenvalues. Centring first keeps
the digits that G − mmᵀ would lose when means are large. Of a sparse X only the features that every
row stores can be centred so; the others have zeros, so that their means are no larger than what
they vary by, but for a few digits.

For K classes with probabilities pᵢ the weights are matrices, in the variables' order (features
first, classes within), with x̃ᵢ the features that the model sees and a 1 for the intercept:

    Σᵢ cᵢ x̃ᵢx̃ᵢᵀ ⊗ (diag(pᵢ) − pᵢpᵢᵀ)

Cost: O(np·min(n, p)) with BLAS; memory of the result and one block of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse

from thalweg.kernels.gram import pairs_pass
from thalweg.kernels.leaves import leaf_edges, tree_sum, with_blas
from thalweg.kernels.rows import CSR
from thalweg.objectives.matrix import Matrix
from thalweg.objectives.rows import BLOCK, PRODUCTS, is_full

if TYPE_CHECKING:
    from thalweg.objectives.features import Features
    from thalweg.objectives.linear import LinearProblem
    from thalweg.objectives.linear_function import LinearFunction

MANY = 0.2  # of all entries: rows that are this full are multiplied sooner as dense ones
FEWEST = 1_000  # rows of a block of sparse ones
ROWS = 1_024  # in a leaf at least: fewer would be multiplied no faster than their sums are added
MOST_WIDE = 16  # leaves of many columns
BENT = 0.7  # of the rows: where fewer have weight, the others are left out


class Moments(NamedTuple):
    """Weighted sums over the samples, of features shifted by m."""

    second: np.ndarray  # Σ hᵢ(xᵢ − m)(xᵢ − m)ᵀ, float64[p, p]
    first: np.ndarray  # Σ hᵢ(xᵢ − m), float64[p]
    total: float  # Σ hᵢ
    cross: np.ndarray  # Σ hᵢrᵢ(xᵢ − m), float64[p]


def weighted_moments(
    matrix: Matrix,
    h: np.ndarray,
    shift: np.ndarray,
    threads: int | None = None,
    r: np.ndarray | None = None,
    centred: bool = True,
) -> Moments:
    """The moments of the rows with weights h ≥ 0, in the units of X; r = 0 where left out.

    Where nothing is `centred`, the first one may be left at zero.
    """
    X, (n, p) = matrix.rows, matrix.shape
    total = float(h.sum())
    if isinstance(X, CSR):
        hr = np.empty(0) if r is None else h * r
        done = shift * is_full(matrix)
        second, first, cross = _sparse_moments(matrix, h, hr, done, threads)
        rest = shift - done
        outer = np.outer(rest, first)
        second += total * np.outer(rest, rest) - outer - outer.T
        return Moments(second, first - total * rest, total, cross - float(hr.sum()) * rest)
    rows = max(1, BLOCK // p)
    is_even = bool(h.min() == h.max())
    is_shifted = bool(shift.any())
    has_gaps = np.count_nonzero(h) < BENT * n
    # A column of √h, and one of √h·r: their products with the others are the other moments.
    width = p + 2 if centred or r is not None else p
    in_place = is_even and X.dtype == np.float64 and not is_shifted and width == p

    def part(start: int, stop: int) -> np.ndarray:
        products = np.empty(0)
        room = np.empty((0 if in_place else min(n, rows), width))
        for top in range(start, stop, rows):
            here = slice(top, min(top + rows, stop))
            if in_place:
                products = _added(products, X[here].T @ X[here])
                continue
            entries, bends, targets = X[here], h[here], None if r is None else r[here]
            if has_gaps:  # rows without curvature, of losses with kinks: most, in the end
                bent = np.flatnonzero(bends)
                entries, bends = entries[bent], bends[bent]
                targets = None if targets is None else targets[bent]
            block = room[: len(entries)]
            block[:, :p] = entries
            if is_shifted:  # after, not while entries change their type: that is slow
                block[:, :p] -= shift
            if width > p:
                block[:, p] = 1.0
                block[:, -1] = 0.0 if targets is None else targets
            if not is_even:  # or all products are multiplied in the end
                block *= np.sqrt(bends)[:, None]
            products = _added(products, block.T @ block)
        return products

    products = with_blas(tree_sum, part, _gram_edges(n, matrix.entries, width), threads)
    if is_even:
        products *= float(h[0])
    if width == p:
        return Moments(products, np.zeros(p), total, np.zeros(p))
    return Moments(products[:p, :p].copy(), products[p, :p], total, products[-1, :p])


def _added(products: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Their sum, in place but for the first: zeros would be written and read for nothing."""
    if not products.size:
        return more
    products += more
    return products


def _gram_edges(rows: int, entries: int, size: int) -> tuple[int, ...]:
    """Leaves for a sum of size × size numbers, a multiplication of which takes little time.

    Sums that leave the caches take longer to add: of those there are no more than `MOST_WIDE`, or
    each has three times as many rows as columns.
    """
    fewest = max(ROWS, min(rows // MOST_WIDE, 3 * size))
    return leaf_edges(rows, entries * max(1, size // PRODUCTS), size * size, fewest)


def _sparse_moments(
    matrix: Matrix, h: np.ndarray, hr: np.ndarray, shift: np.ndarray, threads: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Σ hᵢxᵢxᵢᵀ, Σ hᵢxᵢ and Σ (hr)ᵢxᵢ of sparse rows, entries shifted.

    In blocks of rows: a sum of hundreds of thousands of terms, one after the other, would lose
    three digits more.
    """
    X, (n, p) = matrix.rows, matrix.shape
    rows = max(FEWEST, p * p // FEWEST)  # adding the blocks together is to be a small part of it

    def part(start: int, stop: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        sums = np.zeros((p, p)), np.zeros(p), np.zeros(p)
        for top in range(start, stop, rows):
            here = np.zeros((p, p)), np.zeros(p), np.zeros(p)
            pairs_pass(X, h, hr, shift, top, min(top + rows, stop), *here)
            for total, block in zip(sums, here, strict=True):
                total += block
        return sums

    half, first, cross = tree_sum(part, leaf_edges(n, matrix.entries, p * p), threads)
    return half + half.T - np.diag(np.diag(half)), first, cross


def class_gram(problem: LinearFunction, probabilities: np.ndarray) -> np.ndarray:
    """Σ cᵢx̃ᵢx̃ᵢᵀ ⊗ (diag(pᵢ) − pᵢpᵢᵀ), float64[dim, dim], from the pᵢ, float64[n, K]."""
    dim, K = problem.dim, problem.outputs
    X = problem.matrix.rows
    X = _scipy(X, problem.matrix.shape) if isinstance(X, CSR) else X
    rows = max(1, BLOCK // dim)

    def part(start: int, stop: int) -> np.ndarray:
        H = np.zeros((dim // K, K, dim // K, K))
        for top in range(start, stop, rows):
            here = slice(top, min(top + rows, stop))
            block, c, p = (
                _seen(problem.features, X[here]),
                problem.weights[here],
                probabilities[here],
            )
            for k in range(K):
                weighted = block * np.sqrt(c * p[:, k])[:, None]
                H[:, k, :, k] += weighted.T @ weighted
            outer = block[:, :, None] * (np.sqrt(c)[:, None] * p)[:, None, :]
            outer = outer.reshape(len(block), dim)
            H -= (outer.T @ outer).reshape(H.shape)
        return H

    edges = _gram_edges(problem.n, problem.n * dim, dim)
    return with_blas(tree_sum, part, edges, problem.threads).reshape(dim, dim)


def _seen(features: Features, rows: Any) -> np.ndarray:
    """The x̃ᵢ of some rows of X, float64[rows, p] or [rows, p + 1]."""
    block = (rows.toarray() if scipy.sparse.issparse(rows) else rows).astype(np.float64)
    if features.origin is not None:
        block -= features.origin
    if features.scales is not None:
        block *= features.scales
    return np.column_stack([block, np.ones(len(block))]) if features.fit_intercept else block


def feature_gram(problem: LinearProblem) -> np.ndarray:
    """G, float64[p, p]; from the sums of the squared loss where those are at hand."""
    if problem.is_summed:
        return problem.least_squares.reduced()[0]
    G, first, total, _ = weighted_moments(
        problem.matrix, problem.weights, weighted_means(problem), problem.threads
    )
    if problem.fit_intercept:
        G -= np.outer(first, first / total)  # the means are rounded, and may be far from the origin
    d = problem.features.units
    return G * np.outer(d, d)


def sample_rows(problem: LinearProblem, start: int = 0, stop: int | None = None) -> np.ndarray:
    """√cᵢ(xᵢ − m), the rows whose products are K, or some of them, float64[n, p]."""
    here = slice(start, stop)
    X = problem.matrix.rows
    dense = _scipy(X, problem.matrix.shape)[here].toarray() if isinstance(X, CSR) else X[here]
    Z = dense.astype(np.float64) - weighted_means(problem)
    if problem.fit_intercept:
        Z -= problem.rows.mean_about(problem.rows.means)
    Z *= np.sqrt(problem.weights[here])[:, None]
    Z *= problem.features.units
    return Z


def row_products(features: Features) -> np.ndarray:
    """x̂ᵢᵀx̂ⱼ of all pairs of samples, float64[n, n], a block of columns at a time."""
    rows = features.rows
    X, (n, p) = rows.matrix.rows, rows.matrix.shape
    a, d = features.place, features.units
    if isinstance(X, CSR) and rows.shift is None and rows.matrix.entries < MANY * n * p:
        # Means that do not dwarf what they vary by: (x − a)ᵀ(x − a) loses nothing to speak of.
        S = _scipy(X, (n, p))
        if features.scales is not None:
            S.data *= d[S.indices]
        with_mean = S @ (d * a)
        K = (S @ S.T).toarray()
        K += float(d * a @ (d * a)) - with_mean[:, None] - with_mean
        return K
    dense = _scipy(X, (n, p)).toarray() if isinstance(X, CSR) else X
    K = np.zeros((n, n))
    width = max(1, BLOCK // n)
    for left in range(0, p, width):
        here = slice(left, left + width)
        block = (dense[:, here] - a[here]) * d[here]
        K += block @ block.T
    return K


def weighted_means(problem: LinearProblem) -> np.ndarray:
    """About m in the units of X, float64[p]; zero without an intercept."""
    return problem.rows.means if problem.fit_intercept else np.zeros(problem.p)


def _scipy(X: CSR, shape: tuple[int, int]) -> scipy.sparse.csr_array:
    return scipy.sparse.csr_array((X.data.astype(np.float64), X.indices, X.indptr), shape=shape)


def rough_gram(problem: LinearProblem, rows: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Σ hᵢx̃ᵢx̃ᵢᵀ over some rows, int64, with weights h ≥ 0, to a few digits, float64[p, p].

    The products are in single precision, which takes half the time, of columns of length one, so
    that nothing leaves its range. With an intercept the result has one row and column more.
    """

    def part(start: int, stop: int) -> np.ndarray:
        taken = problem.matrix.take(rows[start:stop])
        X = _scipy(taken.rows, taken.shape) if isinstance(taken.rows, CSR) else taken.rows
        block = _seen(problem.features, X)
        block *= np.sqrt(h[start:stop])[:, None]
        lengths = np.sqrt(np.einsum("ij,ij->j", block, block))
        units = np.empty(block.shape, dtype=np.float32)
        np.divide(block, np.where(lengths > 0.0, lengths, 1.0), out=units, casting="same_kind")
        return np.outer(lengths, lengths) * (units.T @ units)

    edges = _gram_edges(len(rows), len(rows) * problem.p, problem.p)
    return with_blas(tree_sum, part, edges, problem.threads)
