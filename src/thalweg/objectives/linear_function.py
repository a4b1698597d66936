"""The objective of a linear model as a function of its variables: values, derivatives, constants.

    F(w, b) = Σᵢ cᵢ ℓ(xᵢᵀw + b, yᵢ) + (l2/2)‖w‖² + h(w)        h(w) = l1‖w‖₁, or a user's own

b is not penalised. What is differentiated is F without h, which has a value and a proximal step.
With γ the bound on ℓ″ and x̃ᵢ = (xᵢ, 1) with an intercept, else xᵢ, the constants are

    L  = γ λ_max(Σ cᵢ x̃ᵢx̃ᵢᵀ) + l2             smoothness of F without h, by Lanczos, with its error
    Lᵢ = n cᵢ γ ‖x̃ᵢ‖² + l2                    that of n times one of the n summands
    μ  = l2 without an intercept, else 0      strong convexity that is certain

Cost: value and gradient, or a Hessian-vector product, take one pass over X; memory O(p) a thread.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thalweg.core.checks import check_reals
from thalweg.core.errors import InputError
from thalweg.core.vector import dot
from thalweg.curvature.extent import Extent
from thalweg.objectives.class_scores import ClassScores
from thalweg.objectives.column_penalty import ColumnPenalty
from thalweg.objectives.features import Features
from thalweg.objectives.hessian import LinearHessian
from thalweg.objectives.line import LinearLine
from thalweg.objectives.matrix import Matrix
from thalweg.objectives.one_score import OneScore
from thalweg.objectives.own_penalty import Penalty
from thalweg.objectives.own_score import OwnScore
from thalweg.objectives.rows import Rows
from thalweg.rules.soft_threshold import soft_threshold


class LinearFunction:
    """F of features, a data term and penalties, which `LinearProblem` checks and holds."""

    features: Features
    term: OneScore | OwnScore | ClassScores
    l1: float
    l2: float
    own_penalty: Penalty | None  # in place of l1
    fit_intercept: bool

    @property
    def is_smooth(self) -> bool:
        """Whether F has no h: it has a gradient everywhere."""
        return self.l1 == 0.0 and self.own_penalty is None

    @property
    def by_column(self) -> ColumnPenalty | None:
        """The penalty, where it is told column by column."""
        return self.own_penalty if isinstance(self.own_penalty, ColumnPenalty) else None

    @property
    def is_positive(self) -> bool:
        """Whether it is l1, l2 and w ≥ 0, and no more."""
        return self.by_column is not None and self.by_column.is_sign

    @property
    def usual_l1(self) -> float:
        """l1, before columns have weights of their own."""
        return self.l1 if self.by_column is None else self.by_column.strengths[0]

    @property
    def has_own_loss(self) -> bool:
        """Whether ℓ is a user's own, which no kernel knows."""
        return isinstance(self.term, OwnScore)

    @property
    def is_built_in(self) -> bool:
        """Whether kernels know both loss and penalty."""
        return self.own_penalty is None and not self.has_own_loss

    @property
    def has_bound(self) -> bool:
        """Whether ℓ″ has a bound γ, and F without h an L."""
        return self.term.has_bound

    @property
    def has_corners(self) -> bool:
        """Whether ℓ has no slope in places: that is not for methods of gradients."""
        return isinstance(self.term, OwnScore) and self.term.loss.has_corners

    @property
    def lacks(self) -> str:
        """What to give so that F has a duality gap; empty where it has one."""
        if self.is_smooth and self.l2 == 0.0 and not self.has_corners:
            return "add an l2 or l1 penalty, however small"
        if isinstance(self.term, OwnScore) and not self.term.loss.has_conjugate:
            return "give the loss its conjugate, tw.Loss(..., conjugate=...)"
        own = self.own_penalty
        if self.by_column is not None and self.outputs > 1 and self.by_column.leaves_open:
            return "give every column a penalty, or both bounds"
        if own is not None and self.l2 == 0.0 and not (own.has_dual or own.has_conjugate):
            return "give the penalty its dual norm, tw.Penalty(..., dual=...), or add l2 > 0"
        return ""

    @property
    def rows(self) -> Rows:
        """The rows of X with their weights."""
        return self.features.rows

    @property
    def matrix(self) -> Matrix:
        """X, checked."""
        return self.rows.matrix

    @property
    def weights(self) -> np.ndarray:
        """c, float64[n], of sum 1."""
        return self.rows.weights

    @property
    def y(self) -> np.ndarray:
        """Targets float64[n], ∓1 for two classes, or labels int64[n] for the multinomial loss."""
        return self.term.y

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.rows.n

    @property
    def p(self) -> int:
        """Number of features."""
        return self.rows.p

    @property
    def outputs(self) -> int:
        """K, the number of scores a sample has."""
        return self.term.outputs

    @property
    def threads(self) -> int | None:
        """How many threads a pass may take; None for all that there are."""
        return self.rows.threads

    @threads.setter
    def threads(self, threads: int | None) -> None:
        self.rows.threads = threads

    @property
    def dim(self) -> int:
        """Number of variables: coefficients and intercepts."""
        return self.features.dim

    @property
    def score_shape(self) -> tuple[int, ...]:
        """(n,), or (n, K) for several classes."""
        return (self.n, self.outputs) if self.term.is_matrix else (self.n,)

    def split(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients, float[p] or [p, K], and intercepts, float[] or [K], as views of `w`."""
        return self.features.split(w)

    def coefficients(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and intercepts in the units of X."""
        return self.features.in_units_of_X(self._point(w))

    def value(self, w: np.ndarray) -> float:
        """F(w), the penalties included."""
        w = self._point(w)
        data = self.term.value(self.rows, *self.features.enter(w))
        return data + self.ridge(self.split(w)[0]) + self.penalty(w)

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """The gradient of F without h."""
        return self.value_and_gradient(w)[1]

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """F without h, and its gradient, in one pass."""
        w = self._point(w)
        return self._penalised(w, *self.term.gradient(self.rows, *self.features.enter(w)))

    def value_gradient_scores(self, w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """The same in the same pass with the scores Xw + b, float64[n] or [n, K]."""
        w = self._point(w)
        z = np.empty(self.score_shape)
        found = self.term.gradient(self.rows, *self.features.enter(w), z)
        return *self._penalised(w, *found), z

    def line(
        self, w: np.ndarray, p: np.ndarray, z: np.ndarray, slope: float, step: float, ahead: Any
    ) -> LinearLine:
        """F without h along w + αp, from the scores `z` at w and those `ahead` at α = `step`."""
        return LinearLine(self, w, p, z, slope, step, ahead)

    def hessian_at(self, scores: np.ndarray, floor: float = 0.0) -> LinearHessian:
        """The Hessian of F without h where the scores are these; `floor` as there."""
        return LinearHessian(self, scores, floor)

    def hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The Hessian of F without h, times `v`, in one pass."""
        w, v = self._point(w), self._point(v)
        at, along = self.features.enter(w), self.features.enter(v)
        out, total = self.term.hessian_vector(self.rows, *at, *along)
        return self.curved(v, out, total).astype(w.dtype, copy=False)

    def curved(self, v: np.ndarray, out: np.ndarray, total: Any) -> np.ndarray:
        """∇²F·v from the sums that kernels made of the data term, l2 added."""
        out = self.features.leave(out, total)
        out += self.l2 * self.split(v)[0]
        return self.features.join(out, total)

    def hessian(self, w: np.ndarray) -> np.ndarray:
        """The whole Hessian of F without h, float64[dim, dim]."""
        return self.hessian_at(self.scores(w)).matrix()

    def penalty(self, w: np.ndarray) -> float:
        """h of the coefficients."""
        if self.is_smooth:
            return 0.0
        coefficients, _ = self.split(w)
        if self.own_penalty is not None:
            return self.own_penalty.value(coefficients)
        return self.l1 * float(np.sum(np.abs(coefficients), dtype=np.float64))

    def ridge(self, coefficients: np.ndarray) -> float:
        """(l2/2)‖w‖² of coefficients, float[p], [p, K] or flat."""
        flat = coefficients.ravel()
        return 0.5 * self.l2 * dot(flat, flat)

    def prox(self, w: np.ndarray, step: float) -> np.ndarray:
        """Of h for the coefficients, intercepts as they are; a fresh array."""
        out = np.array(w)
        count = self.p * self.outputs
        if self.own_penalty is not None:
            out[:count] = self.own_penalty.prox(self.split(w)[0], step).ravel()
            return out
        out[:count] = soft_threshold(w[:count], step * self.l1)
        return out

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Xw + b, float64[n] or [n, K]."""
        return self.rows.product(*self.features.enter(self._point(w)))

    def transpose(self, theta: np.ndarray) -> np.ndarray:
        """Σ cᵢxᵢθᵢᵀ over the features as they enter the model, float64[p] or [p, K]."""
        return self.features.leave(*self.rows.transpose(theta))

    @property
    def curvature_bound(self) -> float:
        """γ, the largest ℓ″; where there is none, that of an ordinary score."""
        return self.term.curvature_bound

    @property
    def gram_extent(self) -> Extent:
        """Both ends of the spectrum of Σ cᵢx̃ᵢx̃ᵢᵀ, by Lanczos, with their error."""
        return self.features.gram_extent

    @property
    def smoothness(self) -> float:
        """L: the Lanczos estimate plus its error, so that 1/L is a safe step; ∞ without one."""
        return self.usual_smoothness if self.has_bound else math.inf

    @property
    def usual_smoothness(self) -> float:
        """L, or where there is none the same of the curvature of ordinary scores."""
        return self.curvature_bound * self.gram_extent.interval[1] + self.l2

    @property
    def strong_convexity(self) -> float:
        """μ that is certain: l2, but 0 with an intercept, which no penalty holds."""
        return 0.0 if self.fit_intercept else self.l2

    @property
    def row_squares(self) -> np.ndarray:
        """‖x̃ᵢ‖² of the features as they enter the model, float64[n]."""
        return self.features.row_squares

    @property
    def column_squares(self) -> np.ndarray:
        """Σ cᵢxᵢⱼ² of the features as they enter the model, float64[p]."""
        return self.features.column_squares

    @property
    def curvature_diagonal(self) -> np.ndarray:
        """γΣcᵢx̃ᵢⱼ² + l2, which bounds the diagonal of every Hessian, float64[dim]; 1 for 0."""
        bound = self.curvature_bound * self.column_squares + self.l2
        bound = self.features.join(np.where(bound > 0.0, bound, 1.0), self.curvature_bound)
        return np.repeat(bound, self.outputs)

    @property
    def row_smoothness(self) -> np.ndarray:
        """Lᵢ, float64[n]."""
        return self.n * self.weights * self.curvature_bound * self.row_squares + self.l2

    def _penalised(
        self, w: np.ndarray, value: float, G: np.ndarray, slopes: Any
    ) -> tuple[float, np.ndarray]:
        """Value and gradient of the data term, those of the l2 penalty added."""
        coefficients, _ = self.split(w)
        G = self.features.leave(G, slopes)
        G += self.l2 * coefficients
        gradient = self.features.join(G, slopes).astype(w.dtype, copy=False)
        return float(value) + self.ridge(coefficients), gradient

    def _point(self, w: Any) -> np.ndarray:
        w = check_reals("w", w)
        if w.shape != (self.dim,):
            raise InputError(
                f"w must have {self.dim} entries ({self.p} features × {self.outputs} outputs"
                f"{', intercepts last' if self.fit_intercept else ''}), got shape {w.shape}"
            )
        return w
