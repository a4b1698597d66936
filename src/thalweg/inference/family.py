"""What a loss says of the targets that it is the deviance of: their mean, and how they vary.

    loss           mean μ(z)      slope ℓ′(z)               information v(z)    variance
    squared        z              z − y                     1                   φ
    logistic       1/(1 + e⁻ᶻ)    μ − y, y 0 or 1           μ(1 − μ)            μ(1 − μ)
    poisson        eᶻ             μ − y                     μ                   μ
    power p        eᶻ             μ^(2 − p) − yμ^(1 − p)    μ^(2 − p)           φμᵖ

ℓ is −log-likelihood, up to φ and what does not depend on z, and v = E ℓ″(z) over targets that are
as it says. φ, where there is one, is estimated from Pearson's residuals,

    φ = Σ sᵢ (yᵢ − μᵢ)²/V(μᵢ) / (n − q)

with V the variance without φ, n rows, and q coefficients. gamma is p = 2, Tweedie's is between.
McCullagh & Nelder, Generalized Linear Models (1989), 2.2 and 9.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit


class Family(NamedTuple):
    """One line of the table."""

    name: str  # "squared", "logistic", or "power"
    power: float = 0.0  # p: the variance is proportional to μᵖ

    @property
    def is_scaled(self) -> bool:
        """Whether there is a φ to estimate."""
        return self.name != "logistic" and self.power != 1.0

    @property
    def has_exact_spread(self) -> bool:
        """Whether an estimate is Student's t, whatever n: of normal errors, on the scale of z."""
        return self.name == "squared"

    def mean(self, z: np.ndarray) -> np.ndarray:
        """μ."""
        if self.name == "squared":
            return z
        return expit(z) if self.name == "logistic" else np.exp(z)

    def slope(self, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ℓ′."""
        mean = self.mean(z)
        return (mean - y) * (mean ** (1.0 - self.power) if self.name == "power" else 1.0)

    def information(self, z: np.ndarray) -> np.ndarray:
        """v."""
        if self.name == "squared":
            return np.ones_like(z)
        return self.variance(z) if self.name == "logistic" else np.exp((2.0 - self.power) * z)

    def curvature(self, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ℓ″, of which `information` is the mean; another one where p is neither 0 nor 1."""
        if self.name != "power":
            return self.information(z)
        p, mean = self.power, self.mean(z)
        return (2.0 - p) * mean ** (2.0 - p) - (1.0 - p) * y * mean ** (1.0 - p)

    def variance(self, z: np.ndarray) -> np.ndarray:
        """V."""
        mean = self.mean(z)
        if self.name == "squared":
            return np.ones_like(z)
        return mean * (1.0 - mean) if self.name == "logistic" else mean**self.power


SQUARED, LOGISTIC = Family("squared"), Family("logistic")


def of_power(power: float) -> Family:
    """The family of a deviance of this power, 0 to 2."""
    return Family("power", power) if power else SQUARED
