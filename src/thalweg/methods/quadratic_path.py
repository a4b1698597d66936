"""One quadratic along a path of penalties: sweeps that go from point to point, and systems.

    minimise over w   ½(wᵀHw + s) − qᵀw + l1ₖ‖w‖₁ + ½l2ₖ‖w‖²        k = 1, 2, …, from the one before

in variables x = w/d in which H has ones on its diagonal, or the same for w ≥ 0. Sweeps
(`kernels.path`) go along as many points as they can in one call. Where they are slow, as for
features that are nearly alike, or more of them than samples, a linear system finds the place of the
support (`l1_quadratic.jump`); from then on every point begins with one: as long as the support
stays, its solution is that of the system, and the path is the piecewise linear one that least angle
regression follows. Now and then sweeps alone are tried again.

Cost: a row of H for each move of a coordinate; |S|³/3 multiplications for a system.
Friedman, Hastie & Tibshirani, J. Stat. Softw. 33 (2010); Efron et al., Ann. Stat. 32 (2004).
"""

from __future__ import annotations

import numpy as np

from thalweg.kernels.path import descend_along, quadratic_gap, slopes_at
from thalweg.methods.l1_quadratic import Walls, jump

MOST_SYSTEMS = 50  # at a point
AGAIN = 8  # points, of which one begins with sweeps
PATIENCE = 1  # systems in a row that lead nowhere: sweeps may yet change the support


class QuadraticPath:
    """A quadratic, and where its path has come to; `H` may have room for more variables."""

    def __init__(
        self, H: np.ndarray, q: np.ndarray, s: float, d: np.ndarray, *, is_positive: bool = False
    ) -> None:
        self.H = H  # in the variables x, float64[≥ m, ≥ m]
        self.q = q  # likewise, float64[m]
        self.s = s
        self.low = 0.0 if is_positive else -np.inf  # of every x
        self.d = d  # w = d∘x, float64[m]
        self.x = np.zeros(q.size)
        self.g = -q  # Hx − q
        self.is_slow = False  # whether sweeps were
        self.begun = 0  # points since then

    @classmethod
    def of(
        cls, H: np.ndarray, q: np.ndarray, s: float, *, is_positive: bool = False
    ) -> QuadraticPath:
        """The path of H, q and s in the variables w."""
        D = np.diag(H)
        d = 1.0 / np.sqrt(np.where(D > 0.0, D, 1.0))
        return cls(H * np.outer(d, d), d * q, s, d, is_positive=is_positive)

    @property
    def w(self) -> np.ndarray:
        """Where it has come to, fresh."""
        return self.d * self.x

    def along(self, l1s: np.ndarray, l2s: np.ndarray, goal: float) -> tuple[np.ndarray, np.ndarray]:
        """The w of each point, float64[K, m], and value and gap where it began, float64[K, 2].

        Gaps are at most `goal` but for rounding, where that can be had. All l1 are positive.
        """
        K = len(l1s)
        X, starts = np.zeros((K, self.q.size)), np.full((K, 2), np.nan)
        k = 0
        while k < K:
            idle = systems = 0
            is_single = self.is_slow
            if self.is_slow:
                self.begun += 1
                if self.begun % AGAIN:
                    self._begin(l1s[k], l2s[k], starts[k])
                else:
                    self.is_slow = False
            while systems < MOST_SYSTEMS and idle <= PATIENCE:
                last = k + 1 if is_single else K
                came = descend_along(
                    self.H, self.q, self.s, self.d, l1s, l2s, self.low, goal, k, last, self.x,
                    self.g, X, starts,
                )  # fmt: skip
                if came == last:
                    break
                if came > k:
                    k, idle, systems = came, 0, 0
                self.is_slow = is_single = True
                systems += 1
                idle = 0 if self._jump(l1s[k], l2s[k]) else idle + 1
            else:
                X[k] = self.x  # as near as this gets: its gap will tell
                last = k + 1
            k = last
        return X * self.d, starts

    def _begin(self, l1: float, l2: float, start: np.ndarray) -> None:
        """The system of the support as it was, at new penalties; `start` is written, in place."""
        slopes_at(self.H, self.q, self.x, self.g)
        start[:] = quadratic_gap(self.q, self.s, self.d, l1, l2, self.low, self.x, self.g)
        self._jump(l1, l2)

    def _jump(self, l1: float, l2: float) -> bool:
        m = self.q.size
        S = np.flatnonzero(self.x)
        walls = Walls(np.zeros(m), np.full(m, np.inf)) if self.low == 0.0 else None
        return jump(self.H[:m, :m], self.g, l1 * self.d, self.x, S, l2 * self.d**2, walls)
