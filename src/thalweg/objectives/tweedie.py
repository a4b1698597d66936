"""The Tweedie loss, told its power: the variance of a target is proportional to (its mean)ᵖ.

What it is made of is in `kernels.log_link`, of which 1 and 2, Poisson and gamma, are the ends.
"""

from __future__ import annotations

from dataclasses import dataclass

from thalweg.core.checks import check_number


@dataclass(frozen=True)
class Tweedie:
    """Half of a Tweedie deviance of means e^z, for `LinearProblem(X, y, loss)`; 1 < power < 2.

    >>> import thalweg as tw
    >>> tw.LinearProblem([[0.0], [1.0]], [0.0, 2.0], tw.Tweedie(1.2)).loss
    'tweedie'
    """

    power: float = 1.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "power", check_number("power", self.power, above=1.0, below=2.0))
