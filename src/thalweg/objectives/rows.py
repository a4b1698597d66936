"""The rows of X with their weights: what kernels are given, and sums over them, leaf by leaf.

    m = Σ cᵢxᵢ        σ² = Σ cᵢ(xᵢ − m)²        both measured once, when the data are checked

Kernels see x − s. Where some |mⱼ| is more than 100 σⱼ (years, timestamps, prices in cents), s = m,
taken off while an entry is read: what is common to all rows of such a column would cost the scores
two digits or more. Elsewhere s = 0, and nothing is taken off. A sparse column can be shifted only
if every row stores it; any other has zeros among its entries, and a mean that does not dwarf σ.

Cost: one pass over X for m and σ, one more where there is such a column. X is never changed, nor
copied, but for the entries (not their places) of a sparse one that has such a column.
"""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any

import numpy as np

from thalweg.kernels import classes
from thalweg.kernels import linear as passes
from thalweg.kernels.duality import dual_sum_pass
from thalweg.kernels.leaves import Work, each_leaf, leaf_edges, tree_sum, with_blas
from thalweg.kernels.margins import column_moments_pass
from thalweg.kernels.rows import CSR, Centred
from thalweg.objectives.matrix import Matrix, check_finite

OFFSET = 1e-4  # (σ/|m|)² below which a column is shifted
CONSTANT = 1e-28  # of Σcx²: a variance below it is that of a constant
ROUNDED = 1e-10  # of Σc(x − s)²: one below it is 0, where entries have s in common
BLOCK = 200_000  # entries of a block of rows: it stays in cache between the steps made with it
PRODUCTS = 25  # multiplications of a matrix product that take as long as looking at a number


class Rows:
    """n rows of p entries, and a weight each."""

    def __init__(
        self,
        matrix: Matrix,
        weights: np.ndarray,
        threads: int | None = None,
        moments: tuple[np.ndarray, np.ndarray] | None = None,
        about_zero: bool = False,
    ) -> None:
        """`moments`, m and σ², are measured unless they are known.

        Where features are taken `about_zero`, and none is shifted, their squares are all that is
        kept.
        """
        self.matrix = matrix
        self.weights = weights  # c, float64[n], sum 1
        self.threads = threads
        self.n, self.p = matrix.shape
        self.is_whole = True
        self.seen: Any = matrix.rows  # x − s, as kernels take it
        self.shift: np.ndarray | None = None  # s, float64[p]; None for 0
        with np.errstate(invalid="ignore", over="ignore"):  # of a NaN that is about to be found
            means, variances, squares = self._measure(moments)
        self._squares: np.ndarray | None = None  # Σcx², float64[p], in place of the others
        self._means: np.ndarray | None = means
        self._variances: np.ndarray | None = variances
        if about_zero and self.shift is None:
            self._means, self._variances, self._squares = None, None, squares

    def _measure(
        self, moments: tuple[np.ndarray, np.ndarray] | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Check the entries and shift what is far from zero: m, σ² (0 of a constant) and Σcx²."""
        if moments is None:
            means, squares = self._moments()
            variances = squares - means**2
        else:
            means, variances = moments
            squares = variances + means**2
        if not np.all(np.isfinite(squares)):
            check_finite(self.matrix)
        tilt = None
        is_offset = (variances < OFFSET * squares) & np.isfinite(squares)
        if self.matrix.is_sparse and is_offset.any():
            is_offset &= is_full(self.matrix)
        if is_offset.any():
            # A difference of squares: again, about a mean that is nearly right.
            self._see_shifted(np.where(is_offset, means, 0.0) if self.matrix.is_sparse else means)
            off, about = self._moments()
            off[~is_offset] = 0.0
            # x − m is exact here: what a column varies by is seen to the last ulp of its entries.
            spread = about - off**2
            spread[spread <= ROUNDED * about] = 0.0
            is_known = (spread > 0.0) & (variances > 0.0) & (moments is not None)
            variances = np.where(is_offset & ~is_known, spread, variances)
            means, before = means + off, means
            tilt = (before - means) + off
            if not np.array_equal(means, before):
                self._see_shifted(
                    np.where(is_offset, means, 0.0) if self.matrix.is_sparse else means
                )
        self._tilt = tilt  # float64[p]; None for 0
        is_constant = ~is_offset & (variances <= CONSTANT * squares)
        variances = np.where(is_constant, 0.0, variances)
        variances[~np.isfinite(squares)] = np.inf
        return means, variances, squares

    @property
    def means(self) -> np.ndarray:
        """m, float64[p]."""
        return self._moments()[0] if self._means is None else self._means

    @property
    def variances(self) -> np.ndarray:
        """σ², float64[p], 0 where a column is constant."""
        if self._variances is not None:
            return self._variances
        first, second = self._moments()
        variances = second - first**2
        return np.where(variances > CONSTANT * second, variances, 0.0)

    def part(self, matrix: Matrix, weights: np.ndarray) -> Rows:
        """Some of the rows, with these weights, measured when that is asked for.

        `means` stays that of all rows, about which they are seen.
        """
        part = copy.copy(self)
        for cached in ("_own_moments", "too_large"):
            vars(part).pop(cached, None)
        part.matrix, part.weights, part.n = matrix, weights, matrix.shape[0]
        part.is_whole, part.seen = False, matrix.rows
        if self.shift is not None:
            part._see_shifted(self.shift)
        return part

    @property
    def tilt(self) -> np.ndarray:
        """Σ cᵢ(xᵢ − m), what the rounding of m has left, float64[p]."""
        return np.zeros(self.p) if self._tilt is None else self._tilt

    @property
    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Σ cᵢ(xᵢ − s) and Σ cᵢ(xᵢ − s)² of these rows, float64[p] each."""
        if not self.is_whole:
            return self._own_moments
        if self._squares is not None:
            return self.means, self._squares
        first = self.means
        if self.shift is not None:
            first = (self.means - self.shift) + self.tilt
        with np.errstate(over="ignore"):
            return first, self.variances + first**2

    @cached_property
    def _own_moments(self) -> tuple[np.ndarray, np.ndarray]:
        return self._moments()

    def mean_about(self, origin: np.ndarray | None) -> np.ndarray:
        """Σ cᵢ(xᵢ − a), float64[p]; a = 0 for None."""
        first, _ = self.moments
        if self.shift is not None:
            first = first + (self.shift if origin is None else self.shift - origin)
        elif origin is not None:
            first = first - origin
        return first

    def squares_about(self, origin: np.ndarray | None) -> np.ndarray:
        """Σ cᵢ(xᵢⱼ − aⱼ)², float64[p]; a = 0 for None."""
        if self.is_whole and origin is not None and origin is self._means:
            return self.variances
        if self.is_whole and origin is None and self._squares is not None:
            return self._squares
        first, second = self.moments
        t = np.zeros(self.p) if self.shift is None else self.shift
        t = t if origin is None else t - origin
        with np.errstate(over="ignore", invalid="ignore"):
            return np.maximum(second + t * (2.0 * first + t), 0.0)

    @property
    def seen_squares(self) -> np.ndarray:
        """Σ cᵢ(xᵢⱼ − sⱼ)², of the entries that kernels multiply, float64[p]."""
        if self.is_whole and self._squares is not None:
            return self._squares
        return self.moments[1]

    @cached_property
    def too_large(self) -> np.ndarray:
        """The columns whose squares are beyond the range of a double, int64."""
        return np.flatnonzero(~np.isfinite(self.seen_squares))

    @property
    def lengths(self) -> np.ndarray:
        """Their roots, fresh."""
        return np.sqrt(self.seen_squares)

    def sums(self, work: Work, size: int = 1, outputs: int = 1) -> Any:
        """Σ of `work(start, stop)` over all rows; `size` numbers each, K `outputs` an entry."""
        edges = leaf_edges(self.n, self.matrix.entries * outputs, size)
        if outputs > 1:
            return with_blas(tree_sum, work, edges, self.threads)
        return tree_sum(work, edges, self.threads)

    def each(self, work: Work) -> None:
        """`work(start, stop)` over all rows, for what it writes."""
        each_leaf(work, leaf_edges(self.n, self.matrix.entries), self.threads)

    def light(self, work: Work, entries: int, *, add: bool) -> Any:
        """Work on vectors of n numbers that takes as long as so many entries of X."""
        edges = leaf_edges(self.n, entries)
        return (tree_sum if add else each_leaf)(work, edges, self.threads)

    def product(self, W: np.ndarray, b: Any) -> np.ndarray:
        """(x − s)ᵀW + b of every row, float64[n] or [n, K]."""
        X = self.seen
        Z = np.empty((self.n, *W.shape[1:]))
        if W.ndim == 1:
            self.each(lambda start, stop: passes.margins_pass(X, W, b, start, stop, Z))
            return Z
        edges = leaf_edges(self.n, self._product_work(W.shape[1]))
        with_blas(
            each_leaf,
            lambda start, stop: classes.scores_pass(X, W, b, start, stop, Z),
            edges,
            self.threads,
        )
        return Z

    def transpose(self, theta: np.ndarray) -> tuple[np.ndarray, Any]:
        """Σ cᵢ(xᵢ − s)θᵢᵀ, float64[p] or [p, K], and Σ cᵢθᵢ."""
        X, c, shape = self.seen, self.weights, (self.p, *theta.shape[1:])

        def leaf(start: int, stop: int) -> tuple[np.ndarray, Any]:
            G = np.zeros(shape)
            if theta.ndim == 1:
                return G, dual_sum_pass(X, c, theta, start, stop, G)
            total = np.zeros(shape[1])
            classes.dual_sum_pass(X, c, theta, start, stop, G, total)
            return G, total

        if theta.ndim == 1:
            return self.sums(leaf, self.p)
        edges = leaf_edges(self.n, self._product_work(shape[1]), self.p * shape[1])
        return with_blas(tree_sum, leaf, edges, self.threads)

    def _product_work(self, columns: int) -> int:
        """Numbers to look at that a product of X with so many columns takes as long as.

        BLAS multiplies dense rows, a loop sparse ones.
        """
        return self.matrix.entries * (
            columns if self.matrix.is_sparse else max(1, columns // PRODUCTS)
        )

    def gram_vector(self, h: np.ndarray, v: np.ndarray, v_b: Any) -> tuple[np.ndarray, float]:
        """Σ hᵢ(x̃ᵢᵀv + v_b)(xᵢ − s), float64[p], and the sum without its last factor."""
        X = self.seen

        def leaf(start: int, stop: int) -> tuple[np.ndarray, float]:
            out = np.zeros(self.p)
            return out, passes.gram_vector_pass(X, h, v, v_b, start, stop, out)

        return self.sums(leaf, self.p)

    def _moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Σ cᵢxᵢ and Σ cᵢxᵢ², float64[p] each, of X as kernels see it now."""
        X, c = self.seen, self.weights

        def leaf(start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
            first, second = np.zeros(self.p), np.zeros(self.p)
            column_moments_pass(X, c, start, stop, first, second)
            return first, second

        return self.sums(leaf, 2 * self.p)

    def _see_shifted(self, shift: np.ndarray) -> None:
        X = self.matrix.rows
        self.shift = shift
        if isinstance(X, CSR):
            # Made once: to look a column's shift up at every entry takes as long again as a pass.
            moved, data = np.flatnonzero((shift != 0.0)[X.indices]), X.data.astype(np.float64)
            data[moved] -= shift[X.indices[moved]]
            self.seen = CSR(data, X.indices, X.indptr)
        else:
            self.seen = Centred(X, shift)


def is_full(matrix: Matrix) -> np.ndarray:
    """The features that every row of a sparse matrix stores, bool[p]."""
    X, (n, p) = matrix.rows, matrix.shape
    assert isinstance(X, CSR)
    first = X.indices[X.indptr[0] : X.indptr[1]]
    if not len(first) or matrix.entries < n:
        return np.zeros(p, dtype=bool)
    stored = X.indices[X.indptr[0] : X.indptr[n]]
    return np.bincount(stored, minlength=p) == n
