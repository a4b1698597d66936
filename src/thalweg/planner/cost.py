"""What the parts of an iteration cost on a problem: counted, at the rates of this machine.

With n rows, p columns, K scores a row and e stored entries, in nanoseconds on the machine that
`planner.machine` compares with:

    call            25,000                              one operation on small arrays, from Python
    gradient        2 calls + 9nK + 2·dim + ρeK         ρ = 0.2 dense, 0.6 sparse; K > 1: 0.12, 0.32
    vectors         0.5·dim                             one that is read and one that changes
    hessian         3 calls + n(50 + 0.3p + 0.02p²)     dense, 20 for 50 of the squared loss; sparse
                    + 8p²                               0.35 a pair of a row's entries, 1.5 an entry
                    nK(40 + 1.6p) + 0.018n·dim²         K > 1
    factor          0.015m³ + 8m²                       m variables, or samples
    triangle        0.12np²                             of dependent columns: QR of all rows
    row products    0.03n²p                             of all pairs of samples
    sweep           6n + 0.45e                          of features; sparse 1.7, or 2.4 where n < p
    dual, visits    4 calls + the entries and rows, one after the other, by one thread

They are those that the runs of some 650 drawn problems took on two quiet cores, by regression on
such terms (`benchmarks/laws.py` prints how far off they are). Nothing is timed: a slice of the rows
through the real kernel was off by 3 to 20 times where something else ran in those milliseconds, and
took longer than a small fit. What these counts are off by, the run finds out, and corrects
(`planner.hedge`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from thalweg.methods.dual_step import has_fewer_samples
from thalweg.methods.preconditioner import rows_of_a_sample
from thalweg.methods.ridge_system import is_dual
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.machine import Rates

NS = 0.9e-9  # s, where 0.75 were measured: the best of several guesses is one that is too short
CALL = 25_000.0  # ns


class Cost:
    """Seconds by the kind of work; `Expected.passes` names the kinds."""

    def __init__(self, problem: LinearProblem, rates: Rates) -> None:
        self._n, self._p, self._K = problem.n, problem.p, problem.outputs
        self._entries, self._dim = problem.matrix.entries, problem.dim
        self._is_sparse, self._has_l1 = problem.matrix.is_sparse, problem.l1 > 0.0
        self._problem, self._is_summed = problem, problem.is_summed
        # A loss of a user's own is NumPy's work between two passes.
        self._looks = 2.0 if problem.has_own_loss else 1.0
        X = problem.matrix.rows
        # A row of a matrix that is stored by columns is gathered from all over it.
        is_by_columns = isinstance(X, np.ndarray) and not X.flags.c_contiguous
        self._scattered = 3.0 if is_by_columns else 0.0
        self._calling = NS * rates.calling
        self._reading = NS * rates.reading
        self._multiplying = NS * rates.multiplying

    def of(self, passes: Mapping[str, float]) -> float:
        """Seconds of so many of each kind."""
        return sum(count * getattr(self, kind) for kind, count in passes.items())

    @property
    def call(self) -> float:
        """An operation on small arrays."""
        return CALL * self._calling

    @property
    def vectors(self) -> float:
        """A sum of products of two vectors of all variables."""
        return self._reading * 0.5 * self._dim

    @property
    def gradient(self) -> float:
        """Value and gradient, or a product with the Hessian."""
        n, K, e = self._n, self._K, self._entries
        if K > 1:
            an_entry = 0.32 if self._is_sparse else 0.12
        else:
            an_entry = 0.6 if self._is_sparse else 0.2
        ns = 9.0 * n * K + 2.0 * self._dim + an_entry * e * K
        return self._looks * (2 * self.call + self._reading * ns)

    @property
    def hessian(self) -> float:
        """The whole Hessian; where samples are fewer than features, what a step needs of those."""
        n, p, e, dim = self._n, self._p, self._entries, self._dim
        if has_fewer_samples(self._problem):
            return 0.0
        a_row = 20.0 if self._problem.loss == "squared" else 50.0  # for its curvature
        if self._K > 1:
            ns = n * self._K * (40.0 + 1.6 * p) + 0.018 * n * dim**2
        elif self._is_sparse:
            ns = a_row * n + e * (1.5 + 0.35 * (e / n)) + 8.0 * p**2
        else:
            ns = n * (a_row + 0.3 * p + 0.02 * p**2) + 8.0 * p**2
        return 3 * self.call + self._multiplying * ns

    @property
    def factor(self) -> float:
        """Cholesky factors of a matrix of all variables, or of samples where those are fewer."""
        return self._factor(self._n if has_fewer_samples(self._problem) else self._dim)

    @property
    def short_step(self) -> float:
        """A step of Newton's on data in cache, compiled as a whole, by one thread."""
        p = self._p
        return NS * self._K * self._n * (20.0 + 1.0 * p + 0.02 * p**2)

    @property
    def ridge(self) -> float:
        """The system of ridge regression in its smaller form, and its factors."""
        if is_dual(self._problem):
            return self.row_products + self._factor(self._n)
        return self._factor(self._p) + (0.0 if self._is_summed else self.hessian)

    @property
    def triangle(self) -> float:
        """The factor R of all rows, made dense: of columns whose Gram matrix is singular."""
        return 0.0 if is_dual(self._problem) else self._multiplying * 0.12 * self._n * self._p**2

    @property
    def row_products(self) -> float:
        """x̂ᵢᵀx̂ⱼ of all pairs of samples."""
        n, e = self._n, self._entries
        ns = 0.03 * n**2 * self._p
        if self._is_sparse:
            ns = min(ns + 4.0 * n * self._p, 4.0 * n**2 + 1.5 * e * (e / n))
        return self._multiplying * ns + self._reading * 2.0 * e

    @property
    def blocks(self) -> float:
        """A preconditioner of newton-cg: a Gram matrix of some rows and its factors, a class."""
        p, rows = self._p, rows_of_a_sample(self._problem)
        work = rows * (0.02 * p**2 + 4.0 * p) + 0.01 * p**3
        return self._K * (4 * self.call + self._multiplying * work + self._reading * 10.0 * self._n)

    @property
    def dual(self) -> float:
        """All samples visited by dual coordinate ascent, and the value after it."""
        n, K, e = self._n, self._K, self._entries
        a_row, an_entry = 37.0, (2.1 if self._is_sparse else 0.55)
        if K > 1:
            a_row, an_entry = 45.0, (0.9 if self._is_sparse else 0.5)
        elif self._has_l1:
            a_row, an_entry = 1.2 * a_row, 1.2 * an_entry
        an_entry += self._scattered
        return 4 * self.call + self._reading * (a_row * n * K + an_entry * e * K)

    @property
    def visits(self) -> float:
        """All samples visited by a method that remembers slopes, and the value after it."""
        n, K, e = self._n, self._K, self._entries
        a_row, an_entry = (45.0, 3.0) if K > 1 else (90.0, 2.7)
        if self._is_sparse:
            an_entry = 25.0 if self._has_l1 else 8.0
        an_entry += self._scattered
        return 5 * self.call + self._reading * (a_row * n * K + an_entry * e * K)

    @property
    def sweep(self) -> float:
        """A pass of coordinate descent, over gathered features, by one thread."""
        n, p, e = self._n, self._p, self._entries
        an_entry = (1.7 if n >= p else 2.4) if self._is_sparse else 0.45
        return self._reading * (6.0 * n + an_entry * e)

    def _factor(self, m: int) -> float:
        return 3 * self.call + self._multiplying * (0.015 * m**3 + 8.0 * m**2)
