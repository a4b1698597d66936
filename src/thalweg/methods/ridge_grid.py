"""The fits of a ridge regression along a grid of penalties: coefficients, gaps, errors left out.

    w(l2) for every l2 of the grid and every target, from one decomposition (`ridge_spectrum`)

Each fit has a duality gap of its own, measured on the data, and so does not rely on the digits of
the decomposition.
"""

from __future__ import annotations

import numpy as np

from thalweg.certificates.duality import squared_scales
from thalweg.certificates.target_gaps import target_gaps
from thalweg.methods.ridge_spectrum import coefficients, left_out, spectrum
from thalweg.methods.ridge_system import best_intercept, targets
from thalweg.objectives.linear import LinearProblem


class RidgeGrid:
    """The fits of a problem for the penalties of a grid, all above 0, from one decomposition."""

    def __init__(self, problem: LinearProblem, Y: np.ndarray, l2s: np.ndarray, exact: bool) -> None:
        self.about = problem.with_features(problem.features.centred)
        self.Y, self.l2s, self.dtype = Y, l2s, problem.matrix.dtype
        self.rho = targets(self.about, Y)
        self.found = spectrum(self.about, float(l2s.min()), is_exact=exact)
        self.W, self.alpha = coefficients(self.about, self.found, self.rho, l2s)

    @property
    def shape(self) -> tuple[int, int]:
        """Penalties and targets."""
        return len(self.l2s), self.Y.shape[1]

    @property
    def scales(self) -> np.ndarray:
        """F(w = 0, best b) of every target."""
        c = self.about.weights
        about, sizes = (np.einsum("i,ik,ik->k", c, R, R) for R in (self.rho, self.Y))
        return squared_scales(about, sizes)

    def gaps(self) -> np.ndarray:
        """The duality gap of every fit, float64[K, T]."""
        K, T = self.shape
        R, l2s = np.tile(self.rho, K), np.repeat(self.l2s, T)
        found = target_gaps(self.about, self.W, R, l2s)
        return np.array([gap.gap for gap in found]).reshape(K, T)

    def errors(self) -> np.ndarray:
        """What each row is missed by where it is left out, float64[n, K, T]."""
        K, _ = self.shape
        features = self.about.features.with_outputs(self.W.shape[1], is_matrix=True)
        entered = features.enter(features.join(self.W, np.zeros(self.W.shape[1])))
        residuals = self.about.rows.product(*entered)
        if self.about.fit_intercept:
            residuals -= self.about.weights @ residuals
        np.subtract(np.tile(self.rho, K), residuals, out=residuals)
        return left_out(self.about, self.found, residuals, self.alpha, self.l2s)

    def fits(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients, float64[p, K, T], and intercepts, float64[K, T]."""
        K, T = self.shape
        b = np.zeros((K, T))
        if self.about.fit_intercept:
            means = self.about.features.place
            b = best_intercept(self.about, np.tile(self.Y, K), self.W).reshape(K, T)
            b = b - (means @ self.W).reshape(K, T)
        return self.W.reshape(-1, K, T), b

    def near(self, l2: float) -> np.ndarray:
        """The coefficients for a penalty of the grid, float64[p, T]."""
        k = int(np.argmin(np.abs(self.l2s - l2)))
        assert abs(self.l2s[k] - l2) <= 1e-12 * l2
        return self.fits()[0][:, k]
