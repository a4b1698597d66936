"""Newton's step of several classes with l1: over a few of their many coefficients.

    minimise  F(W, b) = Σᵢ cᵢ ℓ(Wᵀxᵢ + b, yᵢ) + (l2/2)‖W‖² + l1‖W‖₁

l1 leaves few of the p·K coefficients, a few hundred of a hundred thousand. A step is one of
`prox_newton` in a set S of them, with the Hessian of S alone (`objectives.set_gram`):

    S    the support of W, the intercepts, and of the other coefficients those that are furthest
         beyond their bound, by (|gⱼₖ| − l1)/‖xⱼ‖: twice the support in all
    H    Σᵢ cᵢ x̃ᵢx̃ᵢᵀ ⊗ (diag(pᵢ) + ½νI − pᵢpᵢᵀ) + l2·I over S

Where classes are told apart, pᵢ nearly has a one and zeros, and the curvature there is nearly none:
the model promises what is far away, and of a step to it a hundredth is left. ½ν lends some. ν falls
tenfold after a whole step, and grows tenfold after a shortened one; with ν = 1 the model lies above
F, so that there is a step unless w is the optimum in S.

The set is another one after every step: the gradient of all coefficients, which the line search
leaves behind, costs less than H does. A support that is larger than a set may be is taken in parts,
those furthest from optimality first.

Cost: a Hessian of S, n|S|², a few systems of the support, and a pass or two. Memory 4|S|² numbers.
Working sets: Massias, Gramfort & Salmon, ICML 2018; the bound ½I: Böhning, Ann. Inst. Stat. Math.
44 (1992).
"""

from __future__ import annotations

import numpy as np

from thalweg.methods.problem import Point, Problem
from thalweg.methods.prox_newton import model_minimum, penalties, searched, shortest_subgradient
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.set_gram import set_gram

FEWEST, MOST = 100, 2_000  # coefficients of a set; with 300 at first there are no fewer steps


def has_set(data: object) -> bool:
    """Whether steps are over a set: several classes, and l1."""
    return isinstance(data, LinearProblem) and data.term.is_matrix and data.l1 > 0.0


def set_step(problem: Problem, point: Point, floor: float) -> tuple[Point, float] | None:
    """The point that one step with ν = `floor` leads to, if any, and the part α of it taken."""
    data: LinearProblem = problem.objective
    chosen = wanted(problem, point)
    if not chosen.size:  # none is beyond its bound
        return None
    P = data.term.bends(data.rows, point.scores)
    H = set_gram(data, P, chosen, floor)
    problem.hessian_vectors += chosen.size
    problem.passes += 1 + data.matrix.is_sparse
    if not np.all(np.isfinite(H)):
        return None
    return searched(problem, point, model_minimum(problem, point, H, chosen))


def wanted(problem: Problem, point: Point) -> np.ndarray:
    """S, int64, by classes, and by features within a class."""
    data: LinearProblem = problem.objective
    K, w = data.outputs, point.w
    slopes = point.gradient.astype(np.float64)
    far = np.abs(shortest_subgradient(problem, w.astype(np.float64), slopes))
    far /= np.sqrt(data.curvature_diagonal)
    is_free = penalties(problem) == 0.0
    is_in = is_free | (w != 0.0)
    size = min(max(FEWEST + K, 2 * int(np.count_nonzero(is_in))), MOST)
    if np.count_nonzero(is_in) > MOST:
        is_in = is_free
    others = np.flatnonzero((far > 0.0) & ~is_in)
    more = max(size - int(np.count_nonzero(is_in)), 0)
    furthest = others[np.argsort(-far[others], kind="stable")[:more]]
    chosen = np.concatenate([np.flatnonzero(is_in), furthest])
    return chosen[np.lexsort((chosen, chosen % K))]
