"""Features as a linear model sees them, and its variables: coefficients, then intercepts.

    x̂ = (x − a)∘d                    a the origin, d the scales

Kernels see x − s (`objectives.rows`) and are given W = d∘w and β. With t = s − a,

    x̂ᵀw + b = (x − s)ᵀW + β          β = b + tᵀW
    Σᵢ rᵢx̂ᵢ = d∘(Σᵢ rᵢ(xᵢ − s) + t Σᵢ rᵢ)

so that no X is copied to be centred or scaled, and a sparse one stays sparse. With an intercept any
origin makes the same model: b alone differs. Users' variables have a = 0, or a = m where they ask
for standardized features; methods work about the mean, a = m, where the same function is as well
conditioned as an intercept allows (`centred`).

`recentred` carries variables from one origin to another. The products of a mean of 10⁹ and a
coefficient cancel there against the intercept, and are summed with twice the digits.
"""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from thalweg.core.vector import dot
from thalweg.curvature.extent import Extent, spectrum_extent
from thalweg.kernels.linear import quadratics_pass, squares_pass
from thalweg.kernels.rows import CSR
from thalweg.kernels.twofold import exact_dot
from thalweg.objectives.gram import row_products
from thalweg.objectives.rows import Rows

FEW = 4  # times as many columns as are picked out sooner than all are read
LANCZOS_STEPS = 60  # products for L: its error bound is then some percent of L


class Features:
    """The columns of `rows`, each about an origin and in a unit."""

    def __init__(
        self,
        rows: Rows,
        *,
        fit_intercept: bool,
        origin: np.ndarray | None,
        scales: np.ndarray | None,
        outputs: int,
        is_matrix: bool,
    ) -> None:
        self.rows = rows
        self.p = rows.p
        self.fit_intercept = fit_intercept
        self.origin = origin  # a, float64[p]; None for 0
        self.scales = scales  # d, float64[p]; None for 1
        self.outputs = outputs  # K
        self.is_matrix = is_matrix  # whether coefficients are [p, K]
        self.offset = self._offset()  # t, float64[p]; None for 0

    @property
    def dim(self) -> int:
        """Number of variables."""
        return self.outputs * (self.p + self.fit_intercept)

    @property
    def units(self) -> np.ndarray:
        """d, float64[p], 1 where nothing is scaled."""
        return np.ones(self.p) if self.scales is None else self.scales

    @property
    def place(self) -> np.ndarray:
        """a, float64[p], 0 where nothing is shifted."""
        return np.zeros(self.p) if self.origin is None else self.origin

    @property
    def is_centred(self) -> bool:
        """Whether the origin is the mean, or nothing is gained by that."""
        return not self.fit_intercept or self.origin is self.rows.means

    @cached_property
    def centred(self) -> Features:
        """The same features about their mean."""
        return self if self.is_centred else self.about(self.rows.means, self.scales)

    def about(self, origin: np.ndarray | None, scales: np.ndarray | None) -> Features:
        """The same columns about another origin, in other units."""
        return Features(
            self.rows,
            fit_intercept=self.fit_intercept,
            origin=origin,
            scales=scales,
            outputs=self.outputs,
            is_matrix=self.is_matrix,
        )

    def on(self, rows: Rows) -> Features:
        """These features of other rows: origin and scales stay."""
        part = copy.copy(self)
        for name, made in vars(Features).items():
            if isinstance(made, cached_property):
                part.__dict__.pop(name, None)
        part.rows = rows
        return part

    def split(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients, float[p] or [p, K], and intercepts, float[] or [K], as views of `w`."""
        count = self.p * self.outputs
        coefficients = w[:count].reshape(self.p, self.outputs) if self.is_matrix else w[:count]
        b = w[count:] if self.fit_intercept else np.zeros(self.outputs, dtype=w.dtype)
        return coefficients, b if self.is_matrix else b[0]

    def join(self, coefficients: np.ndarray, intercepts: Any) -> np.ndarray:
        """The variables from both; intercepts are left out where there are none."""
        flat = coefficients.ravel()
        return np.append(flat, intercepts) if self.fit_intercept else flat

    def enter(self, w: np.ndarray) -> tuple[np.ndarray, Any]:
        """W and β, for kernels; views of `w` where they can be."""
        W, b = self.split(np.require(w, np.float64, ["C", "W"]))  # one type for the kernels
        if self.scales is not None:
            W = _by_column(self.scales, W) * W
        if self.offset is not None:
            # Small beside what they vary by, but for the means that kernels take off elsewhere.
            is_exact = self.rows.shift is not None and self.origin is None
            if is_exact:
                b = _exactly_shifted(b, self.offset[self._moved], W[self._moved])
            else:
                b = b + _along(self.offset, W)
        return W, b if self.is_matrix else np.float64(b)

    def leave(self, G: np.ndarray, total: Any) -> np.ndarray:
        """Σ rᵢx̂ᵢ from the Σ rᵢ(xᵢ − s) and Σ rᵢ of kernels; may be `G`, changed in place."""
        if self.offset is not None:
            G += np.multiply.outer(self.offset, total)
        if self.scales is not None:
            G *= _by_column(self.scales, G)
        return G

    def recentred(self, w: np.ndarray, other: Features, lift: float = 0.0) -> np.ndarray:
        """The variables here as those of `other`, in the dtype of `w`; scores rise by `lift`.

        `w` itself if they are the same.
        """
        if not self.fit_intercept or (other.origin is self.origin and lift == 0.0):
            return w
        if lift == 0.0 and not w.any():
            return w
        shift = other.place - self.place  # one of the two is 0, or they are the same
        W, b = self.split(w.astype(np.float64, copy=False))
        if self.scales is not None:
            W = _by_column(self.scales, W) * W
        b = _exactly_shifted(b, shift, W, lift)
        return self.join(w[: self.p * self.outputs], b).astype(w.dtype)

    def in_units_of_X(self, w: np.ndarray) -> tuple[np.ndarray, Any]:
        """Coefficients and intercepts for X as it came, fresh."""
        W, b = self.split(np.array(w, dtype=np.float64))
        if self.scales is not None:
            W = _by_column(self.scales, W) * W
        if self.origin is not None:
            b = _exactly_shifted(b, -self.origin, W)
        return W, b

    @cached_property
    def column_squares(self) -> np.ndarray:
        """Σ cᵢx̂ᵢⱼ², float64[p]."""
        squares = self.rows.squares_about(self.origin)
        return squares if self.scales is None else squares * self.scales**2

    @cached_property
    def row_squares(self) -> np.ndarray:
        """‖x̂ᵢ‖², and 1 more with an intercept, float64[n]."""
        rows = self.rows
        X, out = rows.seen, np.empty(rows.n)
        if self.scales is None and self.offset is None:
            rows.each(lambda start, stop: squares_pass(X, start, stop, out))
        else:
            # ‖(x − s + t)∘d‖² = Σ d²(x − s)² + 2d²t·(x − s) + d²t²: no term needs a copy.
            u = self.units**2
            t = np.zeros(self.p) if self.offset is None else self.offset
            v = 2.0 * u * t
            rows.each(lambda start, stop: quadratics_pass(X, u, v, start, stop, out))
            out += float(u @ t**2)
            np.maximum(out, 0.0, out=out)
        return out + self.fit_intercept

    @cached_property
    def dense(self) -> np.ndarray:
        """x̂ᵢ, and 1 with an intercept, float64[n, q], by rows: for data that fit in cache.

        X itself where it is that.
        """
        X, shape = self.rows.matrix.rows, self.rows.matrix.shape
        if isinstance(X, CSR):
            X = scipy.sparse.csr_array(tuple(X), shape=shape).toarray()
        if not self.fit_intercept and self.origin is None and self.scales is None:
            return np.ascontiguousarray(X, dtype=np.float64)
        A = np.ones((self.rows.n, self.p + self.fit_intercept))
        here = A[:, : self.p]
        here[:] = X
        if self.origin is not None:  # after, not while entries change their type: that is slow
            here -= self.origin
        if self.scales is not None:
            here *= self.scales
        return A

    @cached_property
    def row_products(self) -> np.ndarray:
        """x̂ᵢᵀx̂ⱼ, float64[n, n]: for few samples of many features."""
        return row_products(self)

    @cached_property
    def gram_extent(self) -> Extent:
        """Both ends of the spectrum of Σ cᵢx̃ᵢx̃ᵢᵀ, by Lanczos, with their error."""
        return spectrum_extent(
            self.gram_vector,
            self.p + self.fit_intercept,
            rng=np.random.default_rng(0),
            max_steps=LANCZOS_STEPS,
        )

    def gram_vector(self, v: np.ndarray) -> np.ndarray:
        """Σ cᵢx̃ᵢx̃ᵢᵀ·v for x̃ = (x̂, 1) with an intercept, else x̂."""
        single = self if not self.is_matrix else self.with_outputs(1, is_matrix=False)
        W, b = single.enter(v)
        G, total = self.rows.gram_vector(self.rows.weights, W, b)
        return single.join(single.leave(G, total), total)

    def with_outputs(self, outputs: int, *, is_matrix: bool) -> Features:
        """The same features for another number of scores; themselves where it is the same."""
        if (outputs, is_matrix) == (self.outputs, self.is_matrix):
            return self
        part = copy.copy(self)
        part.__dict__.pop("centred", None)
        part.outputs, part.is_matrix = outputs, is_matrix
        return part

    def lengths(self) -> np.ndarray:
        """At least √Σ cᵢ|terms of x̂ᵢⱼ|², of which an ulp may be lost, float64[p]."""
        lengths = self.rows.lengths
        if self.offset is not None:
            lengths = lengths + np.abs(self.offset)
        return lengths if self.scales is None else lengths * self.scales

    @cached_property
    def _moved(self) -> np.ndarray | slice:
        """Where t is not 0: of a sparse X in the few columns that every row stores."""
        assert self.offset is not None
        moved = np.flatnonzero(self.offset)
        return moved if FEW * len(moved) <= self.p else slice(None)

    def _offset(self) -> np.ndarray | None:
        """t = s − a."""
        shift, origin = self.rows.shift, self.origin
        if shift is None:
            return None if origin is None else -origin
        return shift if origin is None else _or_none(shift - origin)


def _or_none(t: np.ndarray) -> np.ndarray | None:
    return t if t.any() else None


def _by_column(scales: np.ndarray, W: np.ndarray) -> np.ndarray:
    return scales if W.ndim == 1 else scales[:, None]


def _exactly_shifted(b: Any, offset: np.ndarray, W: np.ndarray, lift: float = 0.0) -> Any:
    """b + tᵀW + lift, with twice the digits, for a mean may be large."""
    if W.ndim == 1:
        return exact_dot(offset, W, float(b), lift)
    columns = np.ascontiguousarray(W.T)
    return np.array([exact_dot(offset, w, float(b[k]), lift) for k, w in enumerate(columns)])


def _along(t: np.ndarray, W: np.ndarray) -> Any:
    """tᵀW."""
    return dot(t, W) if W.ndim == 1 else t @ W
