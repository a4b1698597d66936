"""The system of an interior point: a weighted Gram matrix of the features, or of the samples.

    (Σᵢ hᵢx̃ᵢx̃ᵢᵀ + diag(E, 0)) (w, b) = (g, γ)        x̃ = (x, 1), hᵢ > 0, Eⱼ = l2 + Dⱼ ≥ 0

With fewer samples than features, and E > 0, u = h∘(Xw + b) solves a system of n instead,

    (XE⁻¹Xᵀ + diag(1/h)) u = XE⁻¹g + b        w = E⁻¹(g − Xᵀu)        Σu = γ, which gives b

Near the end h spans the range of a double. In units of its diagonal a factor is found nonetheless,
and a step of refinement takes off what it is wrong by.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from thalweg.objectives.hessian import LinearHessian
from thalweg.objectives.linear import LinearProblem

RIDGE = 4e-16  # on the scaled diagonal at first; a hundred times more where that is too little
TINY = 1e-300
REFINEMENTS = 2
# Features that a system is made of in any case where l1 has E near 0 for those that w uses: what is
# divided by it loses its digits.
FEW = 2_000


class HingeSystem:
    """The matrix of one step, factorised."""

    def __init__(self, data: LinearProblem, h: np.ndarray, extra: np.ndarray) -> None:
        """`h` > 0, float64[n], and what stands beside l2, float64[p] or [0]."""
        self.data, self.h = data, h
        self.E = np.full(data.p, data.l2) + (extra if extra.size else 0.0)
        fewest = FEW if extra.size else 0
        self.is_of_samples = data.p > max(fewest, data.n) and bool(self.E.min() > 0.0)
        if self.is_of_samples:
            X = data.features.dense[:, : data.p]
            self.X = X
            self.factor = _factor((X / self.E) @ X.T + np.diag(1.0 / h))
        else:
            H = LinearHessian.weighted(data, h).matrix()
            here = np.arange(data.p)
            H[here, here] += self.E - data.l2
            self.matrix, self.factor = H, _factor(H)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """(w, b) for a right side (g, γ), float64[dim]."""
        solved = self._by_samples if self.is_of_samples else self._by_features
        found = solved(right)
        for _ in range(REFINEMENTS):
            found = found + solved(right - self._product(found))
        return found

    def _product(self, v: np.ndarray) -> np.ndarray:
        """The matrix times (w, b)."""
        if not self.is_of_samples:
            return self.matrix @ v
        p = self.data.p
        b = v[p] if self.data.fit_intercept else 0.0
        u = self.h * (self.X @ v[:p] + b)
        return self.data.features.join(self.X.T @ u + self.E * v[:p], u.sum())

    def _by_features(self, right: np.ndarray) -> np.ndarray:
        return _solved(self.factor, right)

    def _by_samples(self, right: np.ndarray) -> np.ndarray:
        p, X = self.data.p, self.X
        g = right[:p]
        u = _solved(self.factor, X @ (g / self.E))
        if not self.data.fit_intercept:
            return (g - X.T @ u) / self.E
        ones = _solved(self.factor, np.ones(self.data.n))
        b = (right[p] - u.sum()) / ones.sum()
        return np.append((g - X.T @ (u + b * ones)) / self.E, b)


def _factor(H: np.ndarray) -> Any:
    """The Cholesky factor of D^−½HD^−½ and D^−½."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(H), TINY))
    S = H * scale
    S *= scale[:, None]
    (potrf,) = scipy.linalg.get_lapack_funcs(("potrf",), (S,))
    ridge = RIDGE
    while True:
        S[np.arange(len(S)), np.arange(len(S))] = 1.0 + ridge
        factor, info = potrf(S, lower=1)
        if info == 0 or ridge > 1.0 or not np.isfinite(ridge):
            return factor, scale
        ridge *= 100.0


def _solved(factor: Any, right: np.ndarray) -> np.ndarray:
    L, scale = factor
    return scale * scipy.linalg.cho_solve((L, True), scale * right, check_finite=False)
