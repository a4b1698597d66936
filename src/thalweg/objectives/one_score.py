"""The data term of a model with one score a sample: f = Σᵢ cᵢ ℓ(zᵢ, yᵢ), z = Xw + b.

The loss is a code that kernels are given (`kernels.losses`). Everything here is a sum or a map over
the rows of `objectives.rows`: a pass over X, or one over the scores where those are known.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thalweg.core.vector import dot
from thalweg.kernels import duality, margins
from thalweg.kernels import linear as passes
from thalweg.kernels.cd import curvatures as bent_curvatures
from thalweg.kernels.log_link import means_pass
from thalweg.kernels.losses import (
    GAMMA,
    HUBER,
    LOGISTIC,
    POISSON,
    SQUARED,
    SQUARED_HINGE,
    TWEEDIE,
    curvature_bound,
)
from thalweg.objectives.rows import Rows

DIFFERENCES = (SQUARED, HUBER)  # losses of z − y
MEANS = (POISSON, GAMMA, TWEEDIE)  # losses of a mean e^z, whose ℓ″ has no bound
EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
LOWEST = -700.0  # a score whose e^z is still above zero
CANCELLED = 5.0  # of |θ|, an entropy that is lost where y + θ is small beside y: log(1/ε)/8


class SingleScore:
    """What all losses of one score a sample share: sums over rows of curvatures that are given."""

    outputs = 1
    is_matrix = False
    has_bound = True  # whether ℓ″ has one
    y: np.ndarray  # targets, float64[n]
    origin: float = 0.0  # what was taken off the targets

    def curvatures(self, rows: Rows, h: np.ndarray) -> np.ndarray:
        """The same, from `bends`."""
        return h

    def bent_vector(
        self, rows: Rows, h: np.ndarray, V: np.ndarray, v_b: Any
    ) -> tuple[np.ndarray, Any]:
        """Σ hᵢ(xᵢᵀV + v_b)xᵢ and the same without xᵢ."""
        return rows.gram_vector(h, V, v_b)

    def column_moments(self, rows: Rows, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Σ hᵢxᵢ and Σ hᵢxᵢ², entry by entry, float64[p] each."""
        X, p = rows.seen, rows.p

        def leaf(start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
            first, second = np.zeros(p), np.zeros(p)
            margins.column_moments_pass(X, h, start, stop, first, second)
            return first, second

        return rows.sums(leaf, 2 * p)

    def shifted_slopes(
        self, c: np.ndarray, z: np.ndarray, shift: float
    ) -> tuple[float, float, float]:
        """Σ cᵢℓ′ᵢ, Σ cᵢ|ℓ′ᵢ| and Σ cᵢℓ″ᵢ at the scores z + shift."""
        raise NotImplementedError


class OneScore(SingleScore):
    """A loss that kernels know, with targets float64[n], ±1 for two classes."""

    def __init__(self, code: int, y: np.ndarray, delta: float, origin: float = 0.0) -> None:
        self.code = code
        self.y = y
        self.delta = delta  # Huber's δ, Tweedie's p
        self.origin = origin
        self.has_bound = code not in MEANS

    @property
    def power(self) -> float:
        """p of a loss of a mean e^z, whose variance is proportional to (its mean)ᵖ."""
        return {POISSON: 1.0, GAMMA: 2.0}.get(self.code, self.delta)

    @property
    def curvature_bound(self) -> float:
        """γ, the largest ℓ″; where there is none, ℓ″ about the mean of all targets.

        That bounds nothing, but says in what units curvatures are.
        """
        if self.has_bound:
            return curvature_bound(self.code)
        return max(float(self.y.mean()), TINY) ** (2.0 - self.power)

    def curvature_near(self, z: np.ndarray) -> float:
        """What ℓ″ is at most at the scores z, and within rounding of them; of a mean e^z."""
        h = np.empty_like(z)
        bent_curvatures(self.code, z, self.y, self.delta, 0.0, h)
        return 2.0 * float(h.max())

    def on(self, rows: Any) -> OneScore:
        """The term of some of the samples, a slice or int64."""
        return OneScore(self.code, self.y[rows], self.delta, self.origin)

    def centred(self, c: np.ndarray) -> OneScore:
        """The term of targets about their mean, if the loss knows them by z − y, and that is exact.

        What all targets have in common would cost the residuals its digits.
        """
        if self.code not in DIFFERENCES or self.origin:
            return self
        mean = exact_mean(c, self.y)
        return OneScore(self.code, self.y - mean, self.delta, mean) if mean else self

    def value(self, rows: Rows, W: np.ndarray, b: Any) -> float:
        """f."""
        X, c = rows.seen, rows.weights

        def leaf(start: int, stop: int) -> float:
            return passes.value_pass(X, self.y, c, W, b, self.code, self.delta, start, stop)

        return float(rows.sums(leaf))

    def gradient(
        self, rows: Rows, W: np.ndarray, b: Any, z: np.ndarray | None = None
    ) -> tuple[float, np.ndarray, Any]:
        """f, Σ cᵢℓ′ᵢxᵢ and Σ cᵢℓ′ᵢ; the scores are written into `z`, if it is given."""
        X, c = rows.seen, rows.weights

        def leaf(start: int, stop: int) -> tuple[float, np.ndarray, float]:
            G = np.zeros(W.shape)
            given = (X, self.y, c, W, b, self.code, self.delta, start, stop, G)
            if z is None:
                value, slope = passes.value_and_gradient_pass(*given)
            else:
                value, slope = margins.scored_gradient_pass(*given, z)
            return value, G, slope

        return rows.sums(leaf, W.size)

    def hessian_vector(
        self, rows: Rows, W: np.ndarray, b: Any, V: np.ndarray, v_b: Any
    ) -> tuple[np.ndarray, Any]:
        """Σ cᵢℓ″ᵢ(xᵢᵀV + v_b)xᵢ and the same without xᵢ, at W and b."""
        X, c, code, delta = rows.seen, rows.weights, self.code, self.delta

        def leaf(start: int, stop: int) -> tuple[np.ndarray, float]:
            out = np.zeros(V.shape)
            total = passes.hessian_vector_pass(
                X, self.y, c, W, b, V, v_b, code, delta, start, stop, out
            )
            return out, total

        return rows.sums(leaf, V.size)

    @property
    def has_kinks(self) -> bool:
        """Whether ℓ′ has kinks, and ℓ″ is zero beside them."""
        return self.code in (SQUARED_HINGE, HUBER)

    def bends(self, rows: Rows, z: np.ndarray, floor: float = 0.0) -> np.ndarray:
        """hᵢ = cᵢℓ″(zᵢ), float64[n]; at least a share `floor` of a parabola's that lies above ℓ."""
        h = np.empty_like(z)
        if floor > 0.0:
            bent_curvatures(self.code, z, self.y, self.delta, floor * self.curvature_bound, h)
            h *= rows.weights
            return h
        self._light(
            rows,
            lambda start, stop: margins.curvatures_pass(
                z, self.y, rows.weights, self.code, self.delta, start, stop, h
            ),
        )
        return h

    def weighted_slopes(self, rows: Rows, z: np.ndarray) -> np.ndarray:
        """cᵢℓ′(zᵢ), float64[n]."""
        r = np.empty_like(z)
        self._light(
            rows,
            lambda start, stop: margins.slopes_pass(
                z, self.y, rows.weights, self.code, self.delta, start, stop, r
            ),
        )
        return r

    def along(
        self, rows: Rows, z: np.ndarray, d: np.ndarray, r: np.ndarray, step: float
    ) -> tuple[float, float]:
        """f at the scores z + αd, and Σ (cᵢℓ′ᵢ − rᵢ)dᵢ there."""
        c, code, delta = rows.weights, self.code, self.delta
        return rows.light(
            lambda start, stop: margins.line_pass(
                z, d, r, self.y, c, code, delta, step, start, stop
            ),
            margins.LOSS_ENTRIES * z.size,
            add=True,
        )

    def slopes(self, c: np.ndarray, z: np.ndarray, theta: np.ndarray) -> float:
        """Write θᵢ = ℓ′(zᵢ) into `theta`, in place; returns f, its sum compensated."""
        return duality.slopes_pass(self.code, z, self.y, c, self.delta, theta)

    def shifted_slopes(
        self, c: np.ndarray, z: np.ndarray, shift: float
    ) -> tuple[float, float, float]:
        """Σ cᵢℓ′ᵢ, Σ cᵢ|ℓ′ᵢ| and Σ cᵢℓ″ᵢ at the scores z + shift."""
        return duality.shifted_slopes_pass(self.code, z, shift, self.y, c, self.delta)

    def closed_shift(self, c: np.ndarray, z: np.ndarray) -> float | None:
        """The shift at which slopes cancel, where a formula has it: of a mean e^z."""
        if self.has_bound:
            return None
        # Among a few rows of a problem all targets may be zero.
        return max(means_pass(z, self.y, c, self.power), LOWEST)

    @property
    def target_size(self) -> float:
        """What rounds a loss of a mean e^z besides its score: 1 + |log y| at most."""
        seen = self.y[self.y > 0.0]
        return 1.0 + float(np.abs(np.log(seen)).max(initial=0.0))

    def conjugates(self, c: np.ndarray, theta: np.ndarray) -> tuple[float, float]:
        """Σ cᵢℓᵢ*(θᵢ), and the sum of the terms' sizes."""
        total, size = duality.conjugates_pass(self.code, theta, self.y, c, self.delta)
        if not self.has_bound:  # their terms cancel: θ log y, and an entropy less θ
            size += (CANCELLED + self.target_size) * dot(c, np.abs(theta))
        return total, size

    def stretch(self, c: np.ndarray, theta: np.ndarray) -> float:
        """The largest factor that leaves θ in the domain of ℓ*, a hair inside."""
        if self.code in (POISSON, GAMMA):  # −θ ≤ y, and θ ≤ 1
            edge, reach = (self.y, -theta) if self.code == POISSON else (np.ones(theta.size), theta)
            ahead = (c > 0.0) & (reach > 0.0)
            return float(np.min(edge[ahead] / reach[ahead], initial=math.inf)) * (1.0 - 4.0 * EPS)
        widest = {LOGISTIC: 1.0, HUBER: self.delta}.get(self.code)
        return math.inf if widest is None else stretch_to(widest, c, theta)

    def _light(self, rows: Rows, work: Any) -> None:
        rows.light(work, margins.LOSS_ENTRIES * rows.n, add=False)


def exact_mean(c: np.ndarray, y: np.ndarray) -> float:
    """ȳ = Σ cᵢyᵢ where every y − ȳ is a float64, as it is where ȳ/2 ≤ y ≤ 2ȳ (Sterbenz); else 0."""
    mean = dot(c, y)
    low, high = sorted((0.5 * mean, 2.0 * mean))
    return mean if low <= y.min() and y.max() <= high else 0.0


def stretch_to(widest: float, c: np.ndarray, theta: np.ndarray) -> float:
    """The factor that makes the longest θᵢ nearly `widest`."""
    longest = float(np.max(np.abs(theta[c > 0.0])))
    return math.inf if longest == 0.0 else widest / longest * (1.0 - 4.0 * EPS)
