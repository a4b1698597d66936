"""The steepest and the flattest direction of a linear problem, penalty and intercept included.

    L   the largest curvature anywhere: it limits the step of gradient methods, η ≤ 1/L
    μ   the smallest curvature at the solution that is not zero: it is what is left to be done last

so that κ = L/μ is what the iterations of gradient descent with the step 1/L grow with, near the
solution. Without a solution μ is that of the largest curvatures, γΣcᵢx̃ᵢx̃ᵢᵀ + l2·I, which flatters.
Directions that no step takes are left out, and counted as `flat`. Along those without curvature the
gradient is zero (for least squares of any rank: Karimi, Nutini & Schmidt, ECML 2016). Along those
of the coefficients in which the scores do not change, Xd = 0, only the penalty has curvature, and
from zero it has nothing to pull at: repeated columns, and one number more for all of K classes.
With l1 only the features in use count, as the others stay at zero.

Cost: up to `DENSE` variables all eigenvalues, O(n·dim² + dim³), once; beyond that Lanczos with 60
passes, whose μ is an upper bound, as `is_exact` tells: κ is then at least what is said.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.curvature.extent import spectrum_extent
from thalweg.curvature.product import Matvec
from thalweg.kernels.rows import CSR
from thalweg.objectives.features import LANCZOS_STEPS
from thalweg.objectives.hessian import LinearHessian
from thalweg.objectives.linear import MULTINOMIAL, LinearProblem

DENSE = 1_000  # variables whose matrix is made
MOST_WORK = 4e9  # multiplications for it: about a second
ROUNDING = 1e-13  # of the largest: an eigenvalue below this is zero


class Curvature(NamedTuple):
    """Both ends of the curvature."""

    largest: float  # L
    smallest: float  # μ; at most this where not `is_exact`
    flat: int  # directions that no step takes; 0 where not `is_exact`
    is_exact: bool
    at_solution: bool
    rows: int = 0  # that μ was measured on, where it was not all

    @property
    def kappa(self) -> float:
        """κ = L/μ; at least this where not `is_exact`."""
        return self.largest / self.smallest


def ends(H: np.ndarray, coefficients: int, l2: float) -> tuple[float, float, int]:
    """The largest and the smallest curvature that steps meet, and how many directions they do not.

    `H` is a Hessian, its first variables the `coefficients`, on which `l2` is part of it.
    """
    if not H.size or not np.all(np.isfinite(H)):  # nothing is in use, or squares overflow
        return 0.0, 0.0, 0
    data = H[:coefficients, :coefficients] - l2 * np.eye(coefficients)
    values, vectors = np.linalg.eigh(data)
    top = max(float(values[-1]), 0.0) if coefficients else 0.0
    unseen = vectors[:, values <= ROUNDING * top]
    H = H.copy()
    H[:coefficients, :coefficients] += (top - l2) * unseen @ unseen.T  # now in the midst
    values = np.linalg.eigvalsh(H)
    seen = values[values > ROUNDING * max(float(values[-1]), 0.0)]
    left_out = min(unseen.shape[1] + len(values) - len(seen), len(values))
    return (float(seen[-1]), float(seen[0]), left_out) if seen.size else (0.0, 0.0, left_out)


def affordable(problem: LinearProblem, dim: int) -> bool:
    """Whether a matrix of `dim` variables is worth making."""
    X = problem.matrix.rows
    work = problem.n * float(dim) ** 2
    if isinstance(X, CSR) and problem.loss != MULTINOMIAL:
        work = float(np.sum(np.diff(X.indptr).astype(np.float64) ** 2))  # pairs that rows store
    return dim <= DENSE and work <= MOST_WORK


def curvature(
    problem: LinearProblem,
    w: np.ndarray | None,
    gram: np.ndarray | None,
    part: LinearProblem | None = None,
) -> Curvature:
    """Both ends at `w`; without one, of γ`gram` + l2·I, `gram` being Σ cᵢx̃ᵢx̃ᵢᵀ if it is known.

    At `w` the smallest is measured on the rows of `part`, if it is given.
    """
    L = problem.usual_smoothness
    if w is None:
        if gram is None:
            smallest = problem.curvature_bound * problem.gram_extent.smallest
            smallest += problem.strong_convexity
            return Curvature(L, max(smallest, ROUNDING * L), 0, False, False)
        largest, smallest, flat = ends(bound(problem, gram), problem.p, problem.l2)
        return Curvature(largest, smallest, flat, True, False)
    if part is not None and part.n < problem.n:
        return curvature(part, w, None)._replace(largest=L, is_exact=False, rows=part.n)
    hessian = problem.hessian_at(problem.scores(w))
    used = in_use(problem, w)
    if affordable(problem, problem.dim):
        count = int(np.sum(used < problem.p * problem.outputs))
        _, smallest, flat = ends(hessian.matrix()[np.ix_(used, used)], count, problem.l2)
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


def _product(problem: LinearProblem, hessian: LinearHessian, used: np.ndarray, L: float) -> Matvec:
    """v ↦ ∇²F·v among the variables in use, with curvature L along what adds to all classes."""
    K = problem.outputs

    def product(v: np.ndarray) -> np.ndarray:
        whole = np.zeros(problem.dim)
        whole[used] = v
        out = hessian.vector(whole)
        if problem.loss == MULTINOMIAL:
            out += L * np.repeat(whole.reshape(-1, K).mean(axis=1), K)
        return out[used]

    return product
