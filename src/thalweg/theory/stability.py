"""The largest stable step: beyond it, the iterates grow on a quadratic of curvature λ.

Along an eigenvector of curvature λ each method is a linear recurrence with step η and momentum β.
It is stable exactly when both roots z of its characteristic polynomial lie inside the unit circle:

    gradient descent   z = 1 − ηλ                                     ηλ < 2
    heavy ball         z² − (1 + β − ηλ)z + β = 0                     ηλ < 2(1 + β)
    Nesterov           z² − (1 + β)(1 − ηλ)z + β(1 − ηλ) = 0          ηλ < 2(1 + β)/(1 + 2β)

In all three z = −1 at the limit: the iterate jumps across the valley, growing. Heavy ball is
m ← βm + g, w ← w − ηm (lecture A); Nesterov takes the gradient at the look-ahead point, which is
also what `torch.optim.SGD(nesterov=True)` does, there with w as the look-ahead point.

As only the product ηλ matters, the same functions give the largest curvature that a step η bears:
`heavy_ball_limit(step, momentum)`. On a smooth function λ is L; on a network, the sharpness.
"""

from __future__ import annotations

from thalweg.core.checks import check_number


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
