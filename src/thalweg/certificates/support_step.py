"""Newton's step on the support of w: a point whose slopes bound the optimum more tightly.

    H_SS d = −(∇f(w) + l1 sign w)_S        S = {j : wⱼ ≠ 0} and the intercepts; all j where l1 = 0

with f the problem without its l1 penalty. Once S is the support of the optimum, w + d is nearer to
it than w by an order, whatever the conditioning, and so are its slopes. The system is solved by
conjugate gradients, until the residual is 10⁻⁵ of what it was, or `products` are used up;
preconditioned by γ Σ cᵢxᵢⱼ² + l2, a bound on the diagonal of H, which undoes the units of features.

An extrapolation of the last K residuals of a method (celer) seeks the same point in the same Krylov
space, but needs a method that is linear and without momentum; this needs w alone.

Cost: a pass for the gradient and one a product. Memory O(dim).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.objectives.linear import LinearProblem

ENOUGH = 1e-5  # of the first residual


class SupportStep(NamedTuple):
    """Where the step leads, and what it cost."""

    w: np.ndarray  # w + d, float64[dim]
    passes: int


def support_step(problem: LinearProblem, w: np.ndarray, products: int) -> SupportStep:
    """The step from `w`, float64[dim], with at most `products` Hessian-vector products."""
    smooth = problem.smooth or problem
    count = problem.p * problem.outputs
    is_free = np.ones(w.size, dtype=bool)
    pull = np.zeros(w.size)
    if problem.l1 > 0.0:
        is_free[:count] = w[:count] != 0.0
        pull[:count] = problem.l1 * np.sign(w[:count])
    M = _diagonal(problem)
    with np.errstate(all="ignore"):  # what overflows is no number in the end, and judged there
        r = np.where(is_free, -smooth.gradient(w) - pull, 0.0)
        d = np.zeros(w.size)
        direction = r / M
        rMr = first = float(r @ direction)
        passes = 1
        while passes <= products and rMr > ENOUGH**2 * first:
            product = np.where(is_free, smooth.hessian_vector(w, direction), 0.0)
            passes += 1
            curvature = float(direction @ product)
            if not curvature > 0.0:  # flat along it, or no number
                break
            step = rMr / curvature
            d = d + step * direction
            r = r - step * product
            rMr, before = float(r @ (r / M)), rMr
            direction = r / M + (rMr / before) * direction
        return SupportStep(w + d, passes)


def _diagonal(problem: LinearProblem) -> np.ndarray:
    """A positive bound on the diagonal of H, float64[dim]."""
    squares = problem.column_squares
    squares = np.where(squares > 0.0, squares, 1.0)  # a column of zeros has no unit
    bounds = np.repeat(problem.curvature_bound * squares + problem.l2, problem.outputs)
    intercepts = np.full(problem.dim - bounds.size, problem.curvature_bound)
    return np.concatenate([bounds, intercepts])
