"""Heavy ball: what momentum gains on a quadratic.

    m_t = βm_{t−1} + ∇f(w_{t−1})        w_t = w_{t−1} − ηm_t

Along an eigenvector of curvature λ the error follows z² − (1 + β − ηλ)z + β = 0, so it shrinks
asymptotically by the larger root's modulus a step. Over curvatures in [μ, L] that is smallest at

    η = 4/(√L + √μ)²       β = ((√L − √μ)/(√L + √μ))²       where it is √β

The rate is asymptotic: both roots coincide at the two ends, so a factor that grows like T comes
on top. And it is the quadratic's: on other strongly convex functions this tuning can cycle for
ever (Lessard, Recht & Packard, SIAM J. Optim. 26 (2016)).

Polyak, USSR Comput. Math. Math. Phys. 4 (1964).
"""

from __future__ import annotations

import cmath
import math

from thalweg.core.checks import check_number
from thalweg.theory.assumptions import check_curvatures


def optimal_step(*, smoothness: float, strong_convexity: float) -> float:
    """η = 4/(√L + √μ)²."""
    smoothness, strong_convexity = check_curvatures(smoothness, strong_convexity)
    return (2.0 / (math.sqrt(smoothness) + math.sqrt(strong_convexity))) ** 2


def optimal_momentum(*, smoothness: float, strong_convexity: float) -> float:
    """β = ((√L − √μ)/(√L + √μ))²."""
    return rate(smoothness=smoothness, strong_convexity=strong_convexity) ** 2


def rate(*, smoothness: float, strong_convexity: float) -> float:
    """(√L − √μ)/(√L + √μ): the asymptotic factor a step on ‖w − w*‖ with the optimal η and β.

    Its square, on f − f*, is lecture B's "fastest possible first-order method".
    """
    smoothness, strong_convexity = check_curvatures(smoothness, strong_convexity)
    fast, slow = math.sqrt(smoothness), math.sqrt(strong_convexity)
    return (fast - slow) / (fast + slow)


def asymptotic_rate(curvature: float, *, step: float, momentum: float) -> float:
    """The larger |z| of z² − (1 + β − ηλ)z + β = 0: the factor a step along curvature λ.

    Above 1 the iterates grow. It falls, stays at √β between ηλ = (1 − √β)² and (1 + √β)², and
    rises, so over curvatures in [μ, L] it is largest at one of the two ends.
    """
    curvature = check_number("curvature", curvature)
    step = check_number("step", step, above=0)
    momentum = check_number("momentum", momentum, at_least=0, below=1)
    half_sum = 0.5 * (1.0 + momentum - step * curvature)
    root = cmath.sqrt(half_sum**2 - momentum)
    return max(abs(half_sum + root), abs(half_sum - root))


def effective_rate(step: float, momentum: float) -> float:
    """η/(1 − β): the step that a gradient which stays the same ends up being given.

    Lecture A, "Momentum": "Effective learning rate η/(1 − β)". It is Σ ηβᵏ over all k ≥ 0, so it
    is reached after about 1/(1 − β) steps, not at once.
    """
    step = check_number("step", step, above=0)
    momentum = check_number("momentum", momentum, at_least=0, below=1)
    return step / (1.0 - momentum)
