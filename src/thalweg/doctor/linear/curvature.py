"""The steepest and the flattest direction of a linear problem, penalty and intercept included.

    L   the largest curvature anywhere: it limits the step of gradient methods, η ≤ 1/L
    μ   the smallest curvature at the solution that is not zero: it is what is left to be done last

so that κ = L/μ is what the iterations of gradient descent with the step 1/L grow with, near the
solution. Without a solution μ is that of the largest curvatures, γΣcᵢx̃ᵢx̃ᵢᵀ + l2·I, which flatters.
Directions without any curvature are left out: nothing moves along them (for least squares of any
rank, Karimi, Nutini & Schmidt, ECML 2016); they are counted as `flat`. With l1 only the features in
use count, as the others stay at zero. For K classes the directions that add one number to all
scores are left out too: from zero no step has a part in them.

Cost: up to `DENSE` variables all eigenvalues, O(n·dim² + dim³), once; beyond that Lanczos with 60
passes, whose μ is an upper bound, as `is_exact` tells: κ is then at least what is said.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.curvature.extent import spectrum_extent
from thalweg.curvature.product import Matvec
from thalweg.kernels.rows import CSR
from thalweg.objectives.hessian import LinearHessian
from thalweg.objectives.linear import LANCZOS_STEPS, MULTINOMIAL, LinearProblem

DENSE = 1_000  # variables whose matrix is made
MOST_WORK = 4e9  # multiplications for it: about a second
ROUNDING = 1e-13  # of the largest: an eigenvalue below this is zero


class Curvature(NamedTuple):
    """Both ends of the curvature."""

    largest: float  # L
    smallest: float  # μ; at most this where not `is_exact`
    flat: int  # directions without curvature; 0 where not `is_exact`
    is_exact: bool
    at_solution: bool

    @property
    def kappa(self) -> float:
        """κ = L/μ; at least this where not `is_exact`."""
        return self.largest / self.smallest


def ends(H: np.ndarray) -> tuple[float, float, int]:
    """The largest eigenvalue, the smallest above rounding, and how many are below it."""
    values = np.linalg.eigvalsh(H)
    least = ROUNDING * max(float(values[-1]), 0.0)
    seen = values[values > least]
    if not seen.size:
        return 0.0, 0.0, len(values)
    return float(seen[-1]), float(seen[0]), len(values) - len(seen)


def affordable(problem: LinearProblem, dim: int) -> bool:
    """Whether a matrix of `dim` variables is worth making."""
    X = problem.matrix.rows
    work = problem.n * float(dim) ** 2
    if isinstance(X, CSR) and problem.loss != MULTINOMIAL:
        work = float(np.sum(np.diff(X.indptr).astype(np.float64) ** 2))  # pairs that rows store
    return dim <= DENSE and work <= MOST_WORK


def curvature(problem: LinearProblem, w: np.ndarray | None, gram: np.ndarray | None) -> Curvature:
    """Both ends at `w`; without one, of γ`gram` + l2·I, `gram` being Σ cᵢx̃ᵢx̃ᵢᵀ if it is known."""
    L = problem.smoothness
    if w is None:
        if gram is None:
            smallest = problem.curvature_bound * problem.gram_extent.smallest
            smallest += problem.strong_convexity
            return Curvature(L, max(smallest, ROUNDING * L), 0, False, False)
        largest, smallest, flat = ends(bound(problem, gram))
        return Curvature(largest, smallest, flat, True, False)
    hessian = problem.hessian_at(problem.scores(w))
    used = in_use(problem, w)
    if affordable(problem, problem.dim):
        _, smallest, flat = ends(_lifted(problem, hessian.matrix(), L)[np.ix_(used, used)])
        return Curvature(L, smallest or L, flat, True, True)
    extent = spectrum_extent(
        _product(problem, hessian, used, L),
        used.size,
        rng=np.random.default_rng(0),
        max_steps=LANCZOS_STEPS,
    )
    return Curvature(L, max(extent.smallest, ROUNDING * L), 0, False, True)


def bound(problem: LinearProblem, gram: np.ndarray) -> np.ndarray:
    """γ`gram` + l2·I, no l2 for the intercept: no Hessian of one score is above it."""
    penalties = np.full(len(gram), problem.l2)
    penalties[problem.p :] = 0.0
    return problem.curvature_bound * gram + np.diag(penalties)


def in_use(problem: LinearProblem, w: np.ndarray) -> np.ndarray:
    """The variables that l1 has not set to zero, and the intercepts."""
    if not problem.l1:
        return np.arange(problem.dim)
    is_used = np.asarray(w) != 0.0
    is_used[problem.p * problem.outputs :] = True
    return np.flatnonzero(is_used)


def _lifted(problem: LinearProblem, H: np.ndarray, L: float) -> np.ndarray:
    """H with curvature L along the directions that add one number to all classes."""
    if problem.loss != MULTINOMIAL:
        return H
    K = problem.outputs
    return H + L * np.kron(np.eye(len(H) // K), np.full((K, K), 1.0 / K))


def _product(problem: LinearProblem, hessian: LinearHessian, used: np.ndarray, L: float) -> Matvec:
    """v ↦ the same times v, among the variables in use."""
    K = problem.outputs

    def product(v: np.ndarray) -> np.ndarray:
        whole = np.zeros(problem.dim)
        whole[used] = v
        out = hessian.vector(whole)
        if problem.loss == MULTINOMIAL:
            out += L * np.repeat(whole.reshape(-1, K).mean(axis=1), K)
        return out[used]

    return product
