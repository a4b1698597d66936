"""The largest stable step: beyond it, the iterates grow on a quadratic of curvature λ.

Along an eigenvector of curvature λ each method is a linear recurrence with step η and momentum β.
It is stable exactly when both roots z of its characteristic polynomial lie inside the unit circle:

    gradient descent   z = 1 − ηλ                                     ηλ < 2
    heavy ball         z² − (1 + β − ηλ)z + β = 0                     ηλ < 2(1 + β)
    Nesterov           z² − (1 + β)(1 − ηλ)z + β(1 − ηλ) = 0          ηλ < 2(1 + β)/(1 + 2β)

In all three z = −1 at the limit: the iterate jumps across the valley, growing. Heavy ball is
m ← βm + g, w ← w − ηm (lecture A); Nesterov takes the gradient at the look-ahead point, which is
also what `torch.optim.SGD(nesterov=True)` does, there with w as the look-ahead point.

A method that steps along remembered gradients is a recurrence with delays. With equal curvatures λ,
N samples and steps small beside 1/λ, the mean slope is that of the past iterates weighted by how
long ago a sample was visited, ẇ(t) = −ηλ ∫ k(u) w(t − u) du, with k by the order of the visits:

    in turn (IAG)        1/N for u ≤ N                     unstable from ηλ = π²/2N
    shuffled passes      (1 − u/2N)/N for u ≤ 2N           unstable from ηλ = π²/N
    at random (SAG)      exp(−u/N)/N                       stable for every η: s²N + s + ηλ = 0

At the first two limits w oscillates with period 2N steps: half a swing is one pass, and the slopes
of the pass before push on. So shuffling lies between IAG and SAG (lecture B).

As only the product ηλ matters, the same functions give the largest curvature that a step η bears:
`heavy_ball_limit(step, momentum)`. On a smooth function λ is L; on a network, the sharpness.
"""

from __future__ import annotations

import math

from thalweg.core.checks import check_choice, check_count, check_number


def gd_limit(curvature: float) -> float:
    """Gradient descent: 2/λ (lecture C: "large learning rate: not converge")."""
    return 2.0 / check_number("curvature", curvature, above=0)


def heavy_ball_limit(curvature: float, momentum: float) -> float:
    """Heavy ball: 2(1 + β)/λ, so momentum widens the stable range up to twofold."""
    momentum = check_number("momentum", momentum, at_least=0, below=1)
    return (1.0 + momentum) * gd_limit(curvature)


def nesterov_limit(curvature: float, momentum: float) -> float:
    """Nesterov: 2(1 + β)/((1 + 2β)λ), so momentum narrows the stable range, to 4/3λ at β → 1."""
    momentum = check_number("momentum", momentum, at_least=0, below=1)
    return (1.0 + momentum) / (1.0 + 2.0 * momentum) * gd_limit(curvature)


def remembered_limit(curvature: float, *, samples: int, order: str) -> float:
    """Aggregated gradients: π²/(2Nλ) visited in turn ("cyclic"), π²/(Nλ) in "shuffled" passes.

    For quadratics of equal curvature; `order="uniform"`, at random, has no limit of this kind.
    """
    check_choice("order", order, ("cyclic", "shuffled", "uniform"))
    if order == "uniform":
        return math.inf
    limit = math.pi**2 / (
        check_count("samples", samples) * check_number("curvature", curvature, above=0)
    )
    return limit if order == "shuffled" else 0.5 * limit
