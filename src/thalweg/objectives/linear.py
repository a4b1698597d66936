"""Linear models: a loss of the scores Xw + b, averaged over samples, plus penalties on w.

    F(w, b) = (1/Σs) Σᵢ sᵢ ℓ(xᵢᵀw + b, yᵢ) + (l2/2)‖w‖² + l1‖w‖₁

b is not penalised. ℓ is squared, logistic, squared hinge, Huber (`thalweg.kernels.losses`), or
multinomial, where w is a matrix W of shape [p, K] and b a vector. The variables are one flat
vector, the coefficients row by row and then the intercepts; `split` takes it apart.

With cᵢ = sᵢ/Σs, γ the bound on ℓ″ and x̃ᵢ = (xᵢ, 1) with an intercept, else xᵢ, the constants are

    L  = γ λ_max(Σ cᵢ x̃ᵢx̃ᵢᵀ) + l2             smoothness of F without l1, by Lanczos, with its error
    Lᵢ = n cᵢ γ ‖x̃ᵢ‖² + l2                    that of n times one of the n summands
    μ  = l2 without an intercept, else 0      strong convexity that is certain

Standardizing is implicit: with means m and scales d a feature is (x − m)·d, so that scores are
x·(d∘w) + (b − m·(d∘w)) and the gradient in w is d∘(Xᵀr − mΣr). X is never changed or copied for it,
and a sparse matrix stays sparse.

Cost: value and gradient, or a Hessian-vector product, take one pass over X; memory O(p) a thread.
"""

from __future__ import annotations

import copy
import operator
from functools import cached_property
from typing import Any

import numpy as np

from thalweg.core.checks import check_choice, check_count, check_number, check_reals, describe
from thalweg.core.errors import InputError
from thalweg.core.vector import dot
from thalweg.curvature.extent import Extent, spectrum_extent
from thalweg.kernels import classes, margins
from thalweg.kernels import linear as passes
from thalweg.kernels.duality import dual_sum_pass
from thalweg.kernels.gram import deviations_pass
from thalweg.kernels.losses import LOSSES, curvature_bound
from thalweg.kernels.rows import CSR
from thalweg.objectives.finite_sum import FiniteSum, finite_sum
from thalweg.objectives.gram import BLOCK
from thalweg.objectives.hessian import LinearHessian
from thalweg.objectives.labels import check_labels, check_targets, check_weights
from thalweg.objectives.least_squares import LeastSquares, least_squares, worth_summing
from thalweg.objectives.line import LinearLine
from thalweg.objectives.matrix import check_finite, check_matrix
from thalweg.rules.soft_threshold import soft_threshold

MULTINOMIAL = "multinomial"
NAMES = tuple(LOSSES)
CLASSIFIERS = ("logistic", "squared-hinge", MULTINOMIAL)
# What other rows change.
CACHED = ("gram_extent", "row_squares", "column_squares", "samples", "least_squares")
CONSTANT = 1e-28  # of Σcx²: a variance below it is that of a constant
LANCZOS_STEPS = 60  # products for L: its error bound is then some percent of L


class LinearProblem:
    """A linear model on data, as an objective.

    `loss`: "squared", "logistic", "squared-hinge", "huber" (with `delta`) or "multinomial". Labels
    may be of any kind; `classes` holds them in order, and for two classes the second is y = +1.
    `standardize` gives every feature mean 0 and variance 1, the penalties then act on those
    coefficients; `coefficients(w)` returns them in the units of X.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: str = "squared",
        *,
        l1: float = 0.0,
        l2: float = 0.0,
        fit_intercept: bool = True,
        sample_weight: Any = None,
        delta: float = 1.0,
        standardize: bool = False,
        threads: int | None = None,
    ) -> None:
        self.loss = check_choice("loss", loss, NAMES)
        self.l1 = check_number("l1", l1, at_least=0.0)
        self.l2 = check_number("l2", l2, at_least=0.0)
        self.delta = check_number("delta", delta, above=0.0)
        for name, flag in (("fit_intercept", fit_intercept), ("standardize", standardize)):
            if not isinstance(flag, bool | np.bool_):
                raise InputError(f"{name} must be True or False, got {describe(flag)}")
        self.fit_intercept = bool(fit_intercept)
        self.standardize = bool(standardize)
        self.threads = None if threads is None else check_count("threads", threads)
        self.matrix = check_matrix(X, is_summed=worth_summing if loss == "squared" else None)
        self.n, self.p = self.matrix.shape
        self.weights = check_weights(sample_weight, self.n)  # c, float64[n], sum 1
        self.classes: np.ndarray | None = None
        if loss in CLASSIFIERS:
            self.classes, self.y = check_labels(y, self.n, loss)
        else:
            self.y = check_targets(y, self.n)
        self.outputs = len(self.classes) if loss == MULTINOMIAL and self.classes is not None else 1
        self.means: np.ndarray | None = None  # m, float64[p]
        self.scales: np.ndarray | None = None  # d, float64[p]
        rows = self.matrix.rows
        with np.errstate(invalid="ignore", over="ignore"):  # of a NaN that is about to be found
            if standardize:
                self.means, self.scales = self._standards()
            is_summed = loss == "squared" and worth_summing(self.matrix.shape)
            # One look at the data, to check them and to sum them.
            if is_summed and not isinstance(rows, CSR) and not self.least_squares.is_finite:
                check_finite(rows)

    @property
    def name(self) -> str:
        """The problem in a few words."""
        penalties = [
            f"{key} = {value:g}" for key, value in (("l1", self.l1), ("l2", self.l2)) if value
        ]
        storage = "sparse" if self.matrix.is_sparse else "dense"
        return f"{self.loss} on {self.n} × {self.p} {storage}" + "".join(
            f", {penalty}" for penalty in penalties
        )

    def __repr__(self) -> str:
        return f"LinearProblem({self.name})"

    @property
    def dim(self) -> int:
        """Number of variables: coefficients and intercepts."""
        return self.outputs * (self.p + self.fit_intercept)

    @property
    def score_shape(self) -> tuple[int, ...]:
        """(n,), or (n, K) for several classes."""
        return (self.n, self.outputs) if self.loss == MULTINOMIAL else (self.n,)

    @property
    def start(self) -> np.ndarray:
        """All zero, in the dtype of X."""
        return np.zeros(self.dim, dtype=self.matrix.dtype)

    @property
    def smooth(self) -> LinearProblem | None:
        """The problem without its l1 penalty; None where there is none."""
        if not self.l1:
            return None
        part = copy.copy(self)
        part.l1 = 0.0
        return part

    def sample(self, rows: np.ndarray, chances: np.ndarray | None = None) -> LinearProblem:
        """The problem on some of its samples, copied; features are scaled as on the whole.

        A sample that had a chance q to be among them counts 1/q times.
        """
        part = copy.copy(self)
        for cached in CACHED:
            part.__dict__.pop(cached, None)
        part.matrix, part.n = self.matrix.take(rows), len(rows)
        weights = self.weights[rows] if chances is None else self.weights[rows] / chances
        part.y, part.weights = self.y[rows], weights / weights.sum()
        return part

    def part(self, start: int, stop: int) -> LinearProblem:
        """The problem on the rows from `start` to `stop`, nothing copied."""
        part = copy.copy(self)
        for cached in CACHED:
            part.__dict__.pop(cached, None)
        part.matrix, part.n = self.matrix.between(start, stop), stop - start
        part.y, part.weights = self.y[start:stop], self.weights[start:stop]
        total = part.weights.sum()
        if total > 0.0:
            part.weights = part.weights / total
        return part

    def split(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients, float[p] or [p, K], and intercepts, float[] or [K], as views of `w`."""
        count = self.p * self.outputs
        shape: tuple[int, ...] = (self.p,)
        if self.loss == MULTINOMIAL:
            shape = (self.p, self.outputs)
        coefficients = w[:count].reshape(shape)
        if self.fit_intercept:
            intercepts = w[count:]
        else:
            intercepts = np.zeros(self.outputs, dtype=w.dtype)
        return coefficients, intercepts if self.loss == MULTINOMIAL else intercepts[0]

    def coefficients(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and intercepts in the units of X."""
        return self._unscaled(np.array(self._point(w), dtype=np.float64))

    def value(self, w: np.ndarray) -> float:
        """F(w), the penalties included."""
        w = self._point(w)
        coefficients, _ = self.split(w)
        return self._data_value(w) + self.ridge(coefficients) + self.penalty(w)

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """The gradient of F without its l1 penalty."""
        return self.value_and_gradient(w)[1]

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """F without its l1 penalty, and its gradient, in one pass."""
        w = self._point(w)
        return self._penalised(w, *self._gradient_passes(*self._unscaled(w)))

    def value_gradient_scores(self, w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """The same in the same pass with the scores Xw + b, float64[n] or [n, K]."""
        w = self._point(w)
        z = np.empty(self.score_shape)
        W, b = self._unscaled(w.astype(np.float64, copy=False))
        return *self._penalised(w, *self._gradient_passes(W, b, z)), z

    def line(
        self, w: np.ndarray, p: np.ndarray, z: np.ndarray, slope: float, step: float, ahead: Any
    ) -> LinearLine:
        """F without l1 along w + αp, from the scores `z` at w and those `ahead` at α = `step`."""
        return LinearLine(self, w, p, z, slope, step, ahead)

    def hessian_at(self, scores: np.ndarray) -> LinearHessian:
        """The Hessian of F without l1 where the scores are these."""
        return LinearHessian(self, scores)

    def hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The Hessian of F without l1, times `v`, in one pass."""
        w, v = self._point(w), self._point(v)
        W, b = self._unscaled(w)
        V, v_b = self._unscaled(v)
        X, c = self.matrix.rows, self.weights

        def block(start: int, stop: int) -> tuple[np.ndarray, Any]:
            out = np.zeros(V.shape)
            if self.loss == MULTINOMIAL:
                total = np.zeros(self.outputs)
                passes.class_hessian_vector_pass(X, c, W, b, V, v_b, start, stop, out, total)
                return out, total
            code = LOSSES[self.loss]
            total = passes.hessian_vector_pass(
                X, self.y, c, W, b, V, v_b, code, self.delta, start, stop, out
            )
            return out, total

        out, total = self._add(self._blocks(block))
        direction, _ = self.split(v)
        out = self._rescaled(out, total)
        out += self.l2 * direction
        return self._join(out, total).astype(w.dtype, copy=False)

    def hessian(self, w: np.ndarray) -> np.ndarray:
        """The whole Hessian of F without l1, float64[dim, dim]."""
        return self.hessian_at(self.scores(w)).matrix()

    def penalty(self, w: np.ndarray) -> float:
        """l1‖w‖₁ of the coefficients."""
        if not self.l1:
            return 0.0
        coefficients, _ = self.split(w)
        return self.l1 * float(np.sum(np.abs(coefficients), dtype=np.float64))

    def ridge(self, coefficients: np.ndarray) -> float:
        """(l2/2)‖w‖² of coefficients, float[p], [p, K] or flat."""
        flat = coefficients.ravel()
        return 0.5 * self.l2 * dot(flat, flat)

    def prox(self, w: np.ndarray, step: float) -> np.ndarray:
        """Coefficients soft-thresholded by step·l1, intercepts as they are; a fresh array."""
        out = np.array(w)
        count = self.p * self.outputs
        out[:count] = soft_threshold(w[:count], step * self.l1)
        return out

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Xw + b, float64[n] or [n, K]."""
        W, b = self._unscaled(self._point(w))
        return self._scores(W, b)

    def transpose(self, theta: np.ndarray) -> np.ndarray:
        """Σ cᵢxᵢθᵢᵀ over the features as they enter the model, float64[p] or [p, K]."""
        X, c = self.matrix.rows, self.weights

        def block(start: int, stop: int) -> tuple[np.ndarray, Any]:
            G = np.zeros((self.p, *theta.shape[1:]))
            if self.loss == MULTINOMIAL:
                total = np.zeros(self.outputs)
                classes.dual_sum_pass(X, c, theta, start, stop, G, total)
                return G, total
            return G, dual_sum_pass(X, c, theta, start, stop, G)

        return self._rescaled(*self._add(self._blocks(block)))

    @property
    def curvature_bound(self) -> float:
        """γ, the largest ℓ″."""
        return curvature_bound(LOSSES[self.loss])

    @cached_property
    def gram_extent(self) -> Extent:
        """Both ends of the spectrum of Σ cᵢx̃ᵢx̃ᵢᵀ, by Lanczos, with their error."""
        return spectrum_extent(
            self._gram_vector,
            self.p + self.fit_intercept,
            rng=np.random.default_rng(0),
            max_steps=LANCZOS_STEPS,
        )

    @property
    def smoothness(self) -> float:
        """L: the Lanczos estimate plus its error, so that 1/L is a safe step."""
        return self.curvature_bound * self.gram_extent.interval[1] + self.l2

    @property
    def strong_convexity(self) -> float:
        """μ that is certain: l2, but 0 with an intercept, which no penalty holds."""
        return 0.0 if self.fit_intercept else self.l2

    @cached_property
    def row_squares(self) -> np.ndarray:
        """‖x̃ᵢ‖² of the features as they enter the model, float64[n]."""
        out = np.empty(self.n)
        X = self.matrix.rows
        if self.scales is None or self.means is None:
            self._blocks(lambda start, stop: passes.squares_pass(X, start, stop, out))
        else:
            # ‖(x − m)∘d‖² = Σ d²x² − 2d²m·x + Σ d²m²: no term needs a centred copy.
            u = self.scales**2
            v = -2.0 * u * self.means
            self._blocks(lambda start, stop: passes.quadratics_pass(X, u, v, start, stop, out))
            out += float(u @ self.means**2)
            np.maximum(out, 0.0, out=out)
        return out + self.fit_intercept

    @cached_property
    def column_squares(self) -> np.ndarray:
        """Σ cᵢxᵢⱼ² of X as it is, float64[p]; on one thread, as all that scales features."""
        squares = np.zeros(self.p)
        passes.column_squares_pass(self.matrix.rows, self.weights, 0, self.n, squares)
        return squares

    @cached_property
    def samples(self) -> FiniteSum:
        """The problem as a mean over samples, for methods that visit them one by one."""
        return finite_sum(self)

    @cached_property
    def least_squares(self) -> LeastSquares:
        """The sums that the squared loss is made of, in one pass of O(np²)."""
        return least_squares(self)

    @property
    def curvature_diagonal(self) -> np.ndarray:
        """γΣcᵢx̃ᵢⱼ² + l2, which bounds the diagonal of every Hessian, float64[dim]; 1 for 0."""
        if self.scales is None:
            squares = self.column_squares
        elif self.fit_intercept:
            squares = np.ones(self.p)  # the variance of standardized features; constant ones have 0
        else:
            squares = self.scales**2 * self.column_squares
        bound = self.curvature_bound * squares + self.l2
        bound = self._join(np.where(bound > 0.0, bound, 1.0), self.curvature_bound)
        return np.repeat(bound, self.outputs)

    @property
    def row_smoothness(self) -> np.ndarray:
        """Lᵢ, float64[n]."""
        return self.n * self.weights * self.curvature_bound * self.row_squares + self.l2

    def _data_value(self, w: np.ndarray) -> float:
        W, b = self._unscaled(w)
        if self.loss == MULTINOMIAL:
            return self._gradient_passes(W, b)[0]
        X, code = self.matrix.rows, LOSSES[self.loss]

        def block(start: int, stop: int) -> float:
            return passes.value_pass(X, self.y, self.weights, W, b, code, self.delta, start, stop)

        return float(sum(self._blocks(block)))

    def _gradient_passes(
        self, W: np.ndarray, b: Any, z: np.ndarray | None = None
    ) -> tuple[float, np.ndarray, Any]:
        """Value, Xᵀr and Σr of the data term, r the weighted slopes; fills `z` in place, if any."""
        X, y, c = self.matrix.rows, self.y, self.weights

        def block(start: int, stop: int) -> tuple[Any, ...]:
            G = np.zeros(W.shape)
            if self.loss == MULTINOMIAL:
                slopes = np.zeros(self.outputs)
                value = classes.gradient_pass(X, y, c, W, b, start, stop, G, slopes, z)
                return value, G, slopes
            given = (X, y, c, W, b, LOSSES[self.loss], self.delta, start, stop, G)
            if z is None:
                value, slope = passes.value_and_gradient_pass(*given)
            else:
                value, slope = margins.scored_gradient_pass(*given, z)
            return value, G, slope

        value, G, slopes = self._add(self._blocks(block))
        return float(value), G, slopes

    def _penalised(
        self, w: np.ndarray, value: float, G: np.ndarray, slopes: Any
    ) -> tuple[float, np.ndarray]:
        """Value and gradient of the data term, those of the l2 penalty added."""
        coefficients, _ = self.split(w)
        G = self._rescaled(G, slopes)
        G += self.l2 * coefficients
        return value + self.ridge(coefficients), self._join(G, slopes).astype(w.dtype, copy=False)

    def _gram_vector(self, v: np.ndarray) -> np.ndarray:
        coefficients = v[: self.p]
        intercept = float(v[self.p]) if self.fit_intercept else 0.0
        if self.scales is not None and self.means is not None:
            coefficients = self.scales * coefficients
            intercept -= float(self.means @ coefficients)
        X = self.matrix.rows

        def block(start: int, stop: int) -> tuple[np.ndarray, float]:
            out = np.zeros(self.p)
            total = passes.gram_vector_pass(
                X, self.weights, coefficients, intercept, start, stop, out
            )
            return out, total

        out, total = self._add(self._blocks(block))
        out = self._rescaled(out, total)
        return np.append(out, total) if self.fit_intercept else out

    def _scores(self, W: np.ndarray, b: Any) -> np.ndarray:
        X = self.matrix.rows
        if self.loss == MULTINOMIAL:
            Z = np.empty((self.n, self.outputs))
            self._blocks(lambda start, stop: classes.scores_pass(X, W, b, start, stop, Z))
            return Z
        z = np.empty(self.n)
        self._blocks(lambda start, stop: passes.margins_pass(X, W, b, start, stop, z))
        return z

    def _standards(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and 1/deviation of the features, weighted as the samples are."""
        X, c = self.matrix.rows, self.weights
        means = np.zeros(self.p)
        passes.transpose_pass(X, c, 0, self.n, means)
        # About a mean that is nearly right: the difference of Σcx² and m² would lose its digits,
        # and the mean itself, from so many terms one after the other, has lost some.
        off, squares = self._deviations(means)
        means, variance = means + off, squares - off * off
        # A constant column has no scale of its own, and is left at its mean, zero.
        is_constant = variance <= CONSTANT * self.column_squares
        scales = np.where(is_constant, 1.0, 1.0 / np.sqrt(np.where(is_constant, 1.0, variance)))
        if not self.fit_intercept:
            means = np.zeros(self.p)  # without an intercept a shift would change the model
        return means, scales

    def _deviations(self, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Σ cᵢ(xᵢ − m) and Σ cᵢ(xᵢ − m)², float64[p] each."""
        X, c = self.matrix.rows, self.weights
        first, second = np.zeros(self.p), np.zeros(self.p)
        if isinstance(X, CSR):
            stored, counts = np.zeros(self.p), np.zeros(self.p, dtype=np.int64)
            deviations_pass(X, c, means, 0, self.n, first, second, stored, counts)
            left_out = np.where(counts == self.n, 0.0, np.maximum(1.0 - stored, 0.0))
            return first - left_out * means, second + left_out * means**2
        rows = max(1, BLOCK // self.p)
        for start in range(0, self.n, rows):
            off = X[start : start + rows] - means
            first += c[start : start + rows] @ off
            second += c[start : start + rows] @ (off * off)
        return first, second

    def _unscaled(self, w: np.ndarray) -> tuple[np.ndarray, Any]:
        """Coefficients and intercepts that act on X as it is; views of `w` where they can be."""
        W, b = self.split(np.require(w, np.float64, ["C", "W"]))  # one type for the kernels
        if self.scales is None or self.means is None:
            return W, b if self.loss == MULTINOMIAL else np.float64(b)
        scales = self.scales if W.ndim == 1 else self.scales[:, None]
        W = scales * W
        shifted = b - self.means @ W
        return W, shifted if self.loss == MULTINOMIAL else np.float64(shifted)

    def _rescaled(self, G: np.ndarray, slopes: Any) -> np.ndarray:
        """A gradient for X as it is, as one for the features that the model sees."""
        if self.scales is None or self.means is None:
            return G
        if G.ndim == 1:
            return self.scales * (G - self.means * slopes)
        return self.scales[:, None] * (G - np.outer(self.means, slopes))

    def _join(self, coefficients: np.ndarray, intercepts: Any) -> np.ndarray:
        flat = coefficients.ravel()
        return np.append(flat, intercepts) if self.fit_intercept else flat

    def _blocks(self, work: Any) -> list[Any]:
        if self.loss == MULTINOMIAL:
            entries = self.matrix.entries * self.outputs
            return classes.with_blas(work, self.n, entries, self.threads)
        return passes.in_row_blocks(work, self.n, self.matrix.entries, self.threads)

    @staticmethod
    def _add(parts: list[tuple[Any, ...]]) -> tuple[Any, ...]:
        """The parts of the threads, added up field by field."""
        first, *others = parts
        for part in others:
            # In place where the field is an array: it belongs to a thread that is done with it.
            first = tuple(operator.iadd(mine, more) for mine, more in zip(first, part, strict=True))
        return first

    def _point(self, w: Any) -> np.ndarray:
        w = check_reals("w", w)
        if w.shape != (self.dim,):
            raise InputError(
                f"w must have {self.dim} entries ({self.p} features × {self.outputs} outputs"
                f"{', intercepts last' if self.fit_intercept else ''}), got shape {w.shape}"
            )
        return w
