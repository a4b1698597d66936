"""Is there a plane with all samples of each class on its own side? One that is found proves it.

    yᵢ(xᵢᵀw + b) > 0 for all i                       two classes
    zᵢₖ > zᵢₗ for all i and l ≠ k = yᵢ               K classes, z = Wᵀxᵢ + b

The margins of a given w are looked at first. Else one is sought: where there is such a plane, the
squared hinge Σ cᵢ½max(0, 1 − yᵢzᵢ)² has the minimum 0, at some w that is not far away (unlike that
of the logistic loss), and any w with F(w) < ½ min cᵢ has all margins above 0. For K classes the
multinomial loss is taken, in which F(w) < log 2 · min cᵢ shows the same; where that fails, each
class is tried against all others: one that is separated is enough. What was found is believed
only if every margin exceeds its own rounding error, 2(p + 2)·ε·(‖xᵢ‖‖w‖ + |b|) in the units of X;
what was not found may still be there: nothing is said then.

Cost: one pass for a given w; the search some hundred, and it is left out on large data.
"""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np

from thalweg.core.outcome import Outcome
from thalweg.doctor.linear.sizes import Sizes
from thalweg.methods.loop import Step
from thalweg.objectives.linear import CACHED, CLASSIFIERS, MULTINOMIAL, LinearProblem
from thalweg.planner.minimize import minimize

MOST_ENTRIES = 2_000_000  # of X times K: a larger problem is not searched
MOST_CLASSES = 20  # that are tried one by one
STEPS = 300  # of L-BFGS; it is used for its low price, not its accuracy
EPS = float(np.finfo(np.float64).eps)


class Separator(NamedTuple):
    """A plane between the classes."""

    w: np.ndarray  # as the variables of the problem, or of one class against the others
    margin: float  # the smallest yᵢzᵢ/(‖w‖·‖x̃ᵢ‖), a cosine in (0, 1]
    alone: int | None = None  # the class that is separated from all others; None where all are


def separator(
    problem: LinearProblem, columns: Sizes, w: np.ndarray | None = None
) -> Separator | None:
    """A plane between the classes, `w` itself if it is one; None where none was found."""
    if problem.loss not in CLASSIFIERS:
        return None
    if w is not None:
        found = separates(problem, w)
        if found:
            return found
    if problem.matrix.entries * problem.outputs > MOST_ENTRIES:
        return None
    found = _sought(problem, columns)
    if found or problem.loss != MULTINOMIAL or problem.outputs > MOST_CLASSES:
        return found
    for k in range(problem.outputs):
        found = _sought(_against_others(problem, k), columns)
        if found:
            return found._replace(alone=k)
    return None


def _sought(problem: LinearProblem, columns: Sizes) -> Separator | None:
    """A plane between all classes, by minimising; None where that did not find one."""
    bare = _bare(problem, columns)
    lightest = problem.weights[problem.weights > 0.0].min()

    def is_enough(step: Step) -> bool:
        return step.value < 0.5 * lightest

    run = minimize(
        bare,
        "lbfgs",
        np.zeros(bare.dim),
        tol=1e-10,
        max_iter=STEPS,
        callback=is_enough,
        progress=False,
    )
    if run.outcome is Outcome.INTERRUPTED and run.value >= 0.5 * lightest:
        raise KeyboardInterrupt  # meant for the diagnosis, which would miss what was sought here
    return separates(problem, _translated(bare, problem, run.w))


def separates(problem: LinearProblem, w: np.ndarray) -> Separator | None:
    """`w` as a separator, if all its margins are above 0 by more than rounding."""
    w = np.asarray(w, dtype=np.float64)
    length = float(np.linalg.norm(w))
    if not (np.isfinite(length) and length > 0.0):
        return None
    is_counted = problem.weights > 0.0
    margins = _margins(problem, problem.scores(w))[is_counted]
    if not np.all(margins > _rounding(problem, w)[is_counted]):
        return None
    reach = length * np.sqrt(problem.row_squares[is_counted])
    return Separator(w, float(np.min(margins / reach)))


def _against_others(problem: LinearProblem, k: int) -> LinearProblem:
    """Class `k` against all others, as a problem of two classes."""
    part = copy.copy(problem)
    for cached in CACHED:
        part.__dict__.pop(cached, None)
    part.loss, part.outputs = "squared-hinge", 1
    part.y = np.where(problem.y == k, 1.0, -1.0)
    return part


def _bare(problem: LinearProblem, columns: Sizes) -> LinearProblem:
    """The problem that is searched: no penalty, features of deviation 1.

    A plane in scaled features is one in the others: scaling changes how soon it is found.
    """
    bare = copy.copy(problem)
    for cached in CACHED:
        bare.__dict__.pop(cached, None)
    bare.l1 = bare.l2 = 0.0
    if problem.loss != MULTINOMIAL:
        bare.loss = "squared-hinge"
    bare.means = columns.means if problem.fit_intercept else np.zeros(problem.p)
    bare.scales = 1.0 / np.where(columns.deviations > 0.0, columns.deviations, 1.0)
    return bare


def _translated(bare: LinearProblem, problem: LinearProblem, w: np.ndarray) -> np.ndarray:
    """The same plane in the variables of `problem`."""
    W, b = bare.coefficients(w)
    if problem.means is not None and problem.scales is not None:
        b = b + problem.means @ W
        W = (W.T / problem.scales).T
    return problem._join(W, b)


def _margins(problem: LinearProblem, z: np.ndarray) -> np.ndarray:
    """By how much the score of a sample's own class leads, float64[n]."""
    if problem.loss != MULTINOMIAL:
        return problem.y * z
    rows = np.arange(problem.n)
    own = z[rows, problem.y]
    z[rows, problem.y] = -np.inf
    return own - z.max(axis=1)


def _rounding(problem: LinearProblem, w: np.ndarray) -> np.ndarray:
    """What rounding may do to the scores of `w`, which are those of X as it is, float64[n]."""
    plain = copy.copy(problem)
    plain.means = plain.scales = None
    plain.__dict__.pop("row_squares", None)
    W, b = problem.coefficients(w)
    lengths = np.sqrt(np.maximum(plain.row_squares - problem.fit_intercept, 0.0))
    sums = np.linalg.norm(W) * lengths + np.linalg.norm(b)
    return 2.0 * (problem.p + 2) * EPS * sums  # a margin is the difference of two scores
