"""Is there a plane with all samples of each class on its own side? One that is found proves it.

    yᵢ(xᵢᵀw + b) > 0 for all i                       two classes
    zᵢₖ > zᵢₗ for all i and l ≠ k = yᵢ               K classes, z = Wᵀxᵢ + b

The margins of a given w are looked at first. Else one is sought: where there is such a plane, the
squared hinge Σ cᵢ½max(0, 1 − yᵢzᵢ)² has the minimum 0, at some w that is not far away (unlike that
of the logistic loss), and any w with F(w) < ½ min cᵢ has all margins above 0. For K classes the
multinomial loss is taken, in which F(w) < log 2 · min cᵢ shows the same; where that fails, each
class is tried against all others: one that is separated is enough. What was found is believed
only if every margin exceeds its own rounding error (`certificates.separation`); what was not found
may still be there: nothing is said then.

Cost: one pass for a given w; the search some hundred, and it is left out on large data.
"""

from __future__ import annotations

import numpy as np

from thalweg.certificates.separation import Separator, separates
from thalweg.core.outcome import Outcome
from thalweg.doctor.linear.facts.sizes import Sizes
from thalweg.kernels.losses import SQUARED_HINGE
from thalweg.methods.journey import Step
from thalweg.objectives.linear import CLASSIFIERS, MULTINOMIAL, LinearProblem
from thalweg.objectives.one_score import OneScore
from thalweg.planner.minimize import minimize

MOST_ENTRIES = 2_000_000  # of X times K: a larger problem is not searched
MOST_CLASSES = 20  # that are tried one by one
STEPS = 300  # of L-BFGS; it is used for its low price, not its accuracy


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


def _against_others(problem: LinearProblem, k: int) -> LinearProblem:
    """Class `k` against all others, as a problem of two classes."""
    y = np.where(problem.y == k, 1.0, -1.0)
    return problem.with_term("squared-hinge", OneScore(SQUARED_HINGE, y, problem.delta))


def _bare(problem: LinearProblem, columns: Sizes) -> LinearProblem:
    """The problem that is searched: no penalty, features of deviation 1.

    A plane in scaled features is one in the others: scaling changes how soon it is found.
    """
    bare = (problem.smooth or problem).replaced(l2=0.0)
    if problem.loss != MULTINOMIAL:
        hinge = OneScore(SQUARED_HINGE, problem.y, problem.delta)
        bare = bare.with_term("squared-hinge", hinge)
    scales = 1.0 / np.where(columns.deviations > 0.0, columns.deviations, 1.0)
    origin = bare.rows.means if problem.fit_intercept else None
    return bare.with_features(bare.features.about(origin, scales))


def _translated(bare: LinearProblem, problem: LinearProblem, w: np.ndarray) -> np.ndarray:
    """The same plane in the variables of `problem`."""
    features = problem.features
    W, b = bare.coefficients(w)
    return features.join((W.T / features.units).T, b + features.place @ W)
