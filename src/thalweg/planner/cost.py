"""What a pass of each kernel costs on these data, timed and not counted.

A slice of the rows of the real matrix goes through the real kernel, and the time is scaled to all
rows: threads, row lengths and dtype are in it, as no count of multiplications has them. It is the
smaller of two times, since a clock only errs upwards. What does not grow with the rows, a
factorisation, is timed at its size.

A slice stays in cache, which the whole may not: for methods that visit rows in random order, rows
from all over the matrix are gathered, and what the first look at them takes beyond the second is
added.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.linalg

from thalweg.core import clock
from thalweg.kernels.elementwise import blas_threads
from thalweg.kernels.rows import CSR
from thalweg.methods.dual_step import has_fewer_samples
from thalweg.methods.method import Method
from thalweg.methods.preconditioner import rows_of_a_sample
from thalweg.methods.problem import Problem
from thalweg.methods.ridge_system import is_dual
from thalweg.methods.saga import SAGA
from thalweg.methods.sdca import SDCA
from thalweg.objectives.gram import rough_gram
from thalweg.objectives.linear import LinearProblem

ENTRIES = 60_000  # of X in a slice: above what starting a kernel takes
# And in that for a gradient, the cheapest, so that waking a thread does not count: sparse, dense.
MANY_ENTRIES, MANY_DENSE = 400_000, 1_000_000
FEW = 64  # rows, at most, that a kernel is started with first, so that this is not timed
SHARE = 8  # and at most one in so many of the slice's
GATHERED = 500  # rows gathered to see what a cache miss costs
LONG = 2e-3  # seconds beside which the errors of a clock are small
LINE = 8  # numbers in a cache line
GRAM_SHARE = 4  # one of so many rows of a Gram matrix, which is timed on enough of them for BLAS
WIDE = 200, 1_000  # rows and columns of the product that is timed for the system of samples
SHARED = 7.0  # steps of newton that use one K, about
LARGEST = 400  # variables of a factorisation that is timed; a larger one takes dim³ as long


def _itself(part: LinearProblem) -> LinearProblem:
    return part


class Cost:
    """Seconds by kernel, each measured when first asked for."""

    def __init__(self, problem: LinearProblem) -> None:
        self.problem = problem.smooth or problem

    def least(self, kind: str) -> float:
        """Seconds that a kernel takes at least, by what was measured already."""
        # Every pass is a gradient at least, and the slopes of a sample are visited like its dual.
        return vars(self).get("dual", self.gradient) if kind == "visits" else self.gradient

    @cached_property
    def gradient(self) -> float:
        """Value and gradient."""
        many = MANY_ENTRIES if isinstance(self.problem.matrix.rows, CSR) else MANY_DENSE
        entries = max(ENTRIES, many // self.problem.outputs)  # each is worth K
        return self._scaled(lambda part: part.value_gradient_scores(part.start), entries=entries)

    @cached_property
    def hessian(self) -> float:
        """The whole Hessian, and its factors; or the system of samples, a share of K in it."""
        if has_fewer_samples(self.problem):
            return self.row_products / SHARED + _factorised(self.problem.n)
        gram = self._scaled(lambda part: part.hessian_at(np.zeros(part.score_shape)).matrix())
        return gram + self.factorisation

    @cached_property
    def factorisation(self) -> float:
        """Cholesky factors of a matrix of all variables."""
        return _factorised(self.problem.dim)

    @cached_property
    def ridge(self) -> float:
        """The system of ridge regression in its smaller form, and its factors."""
        if not is_dual(self.problem):
            return self.hessian
        return self.row_products + _factorised(self.problem.n)

    @cached_property
    def row_products(self) -> float:
        """x̂ᵢᵀx̂ⱼ of all pairs of samples."""
        data = self.problem
        wide = np.ones((min(data.n, WIDE[0]), min(data.p, WIDE[1])))
        seconds = min(_seconds(lambda: wide @ wide.T) for _ in range(2))
        return seconds * (data.n / len(wide)) ** 2 * (data.p / wide.shape[1])

    @cached_property
    def blocks(self) -> float:
        """A preconditioner of newton-cg: a Gram matrix of some rows and its factors, a class."""
        data, rows = self.problem, rows_of_a_sample(self.problem)
        part = np.arange(0, data.n, data.n // rows * GRAM_SHARE)
        gram = _seconds(lambda: rough_gram(data, part, np.ones(part.size))) * rows / part.size
        matrix = np.eye(data.p + data.fit_intercept, dtype=np.float32)
        with blas_threads(1):  # as there, one class in each thread
            factors = _seconds(lambda: scipy.linalg.cholesky(matrix))
        return data.outputs * (gram + factors)

    @cached_property
    def dual(self) -> float:
        """All samples visited by dual coordinate ascent, and the value after it."""
        return self._advanced(SDCA()) + self.misses

    @cached_property
    def visits(self) -> float:
        """All samples visited by a method that remembers slopes, and the value after it."""
        return self._advanced(SAGA(start="zero")) + self.misses

    @cached_property
    def misses(self) -> float:
        """What rows in random order take, once each, beyond rows that are in cache."""
        matrix, n = self.problem.matrix, self.problem.n
        places = np.random.default_rng(0).integers(0, n, min(n, GATHERED))
        X = matrix.rows
        if isinstance(X, CSR):
            starts, stops = X.indptr[places], X.indptr[places + 1]
            rows = [np.arange(a, b, LINE) for a, b in zip(starts, stops, strict=True)]
            at, values = np.concatenate(rows), X.data
        else:
            lines = np.arange(0, self.problem.p, LINE)
            stride = X.strides[0] // X.itemsize
            at = (places[:, None] * stride + lines * (X.strides[1] // X.itemsize)).ravel()
            values = X.ravel(order="K")
        first, second = (_seconds(lambda: values.take(at)) for _ in range(2))
        return max(0.0, first - second) * n / len(places)

    def _advanced(self, method: Method) -> float:
        """One iteration of a method that visits samples."""

        def states(part: LinearProblem) -> tuple[Problem, Any]:
            problem = Problem(part, part.dim, part.start.dtype)
            return problem, method.init(problem, part.start, np.random.default_rng(0))

        return self._scaled(lambda given: method.advance(*given), prepare=states)

    def _scaled(
        self,
        job: Callable[[Any], object],
        prepare: Callable[..., Any] = _itself,
        entries: int = 0,
    ) -> float:
        """Seconds for all rows: those of a slice beyond those of a few rows, which are set-up."""
        n = self.problem.n
        # Twice as many entries as features: or what there is to do for each of those would hide it.
        wanted = max(entries or ENTRIES, 2 * self.problem.p) / max(1, self.problem.matrix.entries)
        rows = min(n, max(2, int(np.ceil(wanted * n))))
        few = max(1, min(FEW, rows // SHARE))
        begin = (n - rows) // 2
        small, part = (
            prepare(self.problem.part(*ends)) for ends in ((0, few), (begin, begin + rows))
        )
        fixed, whole = (
            _least_seconds(partial(job, given), is_first)
            for given, is_first in ((small, True), (part, False))
        )
        if rows == few:
            return whole * n / rows
        return fixed + max(0.0, whole - fixed) / (rows - few) * (n - few)


def _factorised(dim: int) -> float:
    """Seconds for the Cholesky factors of a matrix of this size."""
    size = min(dim, LARGEST)
    matrix = np.eye(size)
    with blas_threads(1):
        seconds = min(_seconds(lambda: scipy.linalg.cholesky(matrix)) for _ in range(2))
    return seconds * (dim / size) ** 3


def _least_seconds(job: Callable[[], object], is_first: bool) -> float:
    """The smaller of two times; one is enough of what is long, if its kernels have run before."""
    first = _seconds(job)
    return min(first, _seconds(job)) if is_first or first < LONG else first


def _seconds(job: Callable[[], object]) -> float:
    start = clock.now()
    job()
    return clock.now() - start
