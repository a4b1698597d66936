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

    in turn (IAG)      1/N for u ≤ N                              unstable from ηλ = π²/2N
    shuffled passes    1/N for u ≤ τ, then (1 − τ/N)/N            unstable from ηλ = 5.434/N
                       for u ≤ N + τ, τ steps into a pass
    at random (SAG)    exp(−u/N)/N                                stable: s²N + s + ηλ = 0

The second kernel changes within a pass, and is solved pass by pass: with M the mean of w over the
pass before and ω² = Nηλ, (w, M) at the end of a pass is a matrix with determinant 1 − sin(ω)/ω and
trace 2cos(ω) − sin(ω)/ω times that at its beginning. An eigenvalue is −1 where tan(ω/2) = ω, that
is ω = 2.331. At both limits w oscillates with period 2N steps: half a swing is one pass, and the
slopes of the pass before push on. So shuffled passes bear a tenth more than visits in turn, whereas
visits at random bear steps of order 1/λ (the limit of small steps does not tell how large).

As only the product ηλ matters, the same functions give the largest curvature that a step η bears:
`heavy_ball_limit(step, momentum)`. On a smooth function λ is L; on a network, the sharpness.
"""

from __future__ import annotations

import math

from thalweg.core.checks import check_choice, check_count, check_number

SHUFFLED = 2.331122370414423  # ω > 0 of tan(ω/2) = ω


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
    """Aggregated gradients: π²/(2Nλ) visited in turn ("cyclic"), 5.434/(Nλ) in "shuffled" passes.

    For quadratics of equal curvature; `order="uniform"`, at random, has no limit of this kind.
    """
    check_choice("order", order, ("cyclic", "shuffled", "uniform"))
    if order == "uniform":
        return math.inf
    squared = SHUFFLED**2 if order == "shuffled" else 0.5 * math.pi**2
    return squared / (
        check_count("samples", samples) * check_number("curvature", curvature, above=0)
    )
