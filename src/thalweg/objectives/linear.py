"""Linear models: a loss of the scores Xw + b, averaged over samples, plus penalties on w.

    F(w, b) = (1/Σs) Σᵢ sᵢ ℓ(xᵢᵀw + b, yᵢ) + (l2/2)‖w‖² + l1‖w‖₁

b is not penalised. ℓ is squared, logistic, squared hinge, Huber (`objectives.one_score`), or
multinomial (`objectives.class_scores`), where w is a matrix W of shape [p, K] and b a vector. The
variables are one flat vector, the coefficients row by row and then the intercepts; `split` takes it
apart.

With cᵢ = sᵢ/Σs, γ the bound on ℓ″ and x̃ᵢ = (xᵢ, 1) with an intercept, else xᵢ, the constants are

    L  = γ λ_max(Σ cᵢ x̃ᵢx̃ᵢᵀ) + l2             smoothness of F without l1, by Lanczos, with its error
    Lᵢ = n cᵢ γ ‖x̃ᵢ‖² + l2                    that of n times one of the n summands
    μ  = l2 without an intercept, else 0      strong convexity that is certain

Features are taken as they are, or standardized, which copies nothing (`objectives.features`). As no
penalty holds b, F is the same function about any origin of the features; `centred` is F about their
mean, as methods see it: large means would spoil its conditioning, and cost it digits.

Cost: value and gradient, or a Hessian-vector product, take one pass over X; memory O(p) a thread.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from thalweg.core.checks import check_choice, check_count, check_number, check_reals, describe
from thalweg.core.errors import InputError
from thalweg.core.vector import dot
from thalweg.curvature.extent import Extent
from thalweg.kernels.losses import LOSSES
from thalweg.objectives.class_scores import ClassScores
from thalweg.objectives.features import Features
from thalweg.objectives.finite_sum import FiniteSum, finite_sum
from thalweg.objectives.hessian import LinearHessian
from thalweg.objectives.labels import check_labels, check_targets, check_weights
from thalweg.objectives.least_squares import LeastSquares, least_squares, worth_summing
from thalweg.objectives.line import LinearLine
from thalweg.objectives.matrix import Matrix, check_matrix
from thalweg.objectives.one_score import OneScore
from thalweg.objectives.rows import Rows
from thalweg.rules.soft_threshold import soft_threshold

MULTINOMIAL = "multinomial"
NAMES = tuple(LOSSES)
CLASSIFIERS = ("logistic", "squared-hinge", MULTINOMIAL)


class LinearProblem:
    """A linear model on data, as an objective.

    `loss`: "squared", "logistic", "squared-hinge", "huber" (with `delta`) or "multinomial". Labels
    may be of any kind; `classes` holds them in order, and for two classes the second is y = +1.
    `standardize` gives every feature mean 0 and variance 1, the penalties then act on those
    coefficients; `coefficients(w)` returns them in the units of X. `centre=False` has methods work
    in the variables as they are, and not about the mean of the features: for those who study what
    an offset does to a method.
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
        centre: bool = True,
        threads: int | None = None,
    ) -> None:
        self.loss = check_choice("loss", loss, NAMES)
        self.l1 = check_number("l1", l1, at_least=0.0)
        self.l2 = check_number("l2", l2, at_least=0.0)
        self.delta = check_number("delta", delta, above=0.0)
        for name, flag in (
            ("fit_intercept", fit_intercept), ("standardize", standardize), ("centre", centre)
        ):  # fmt: skip
            if not isinstance(flag, bool | np.bool_):
                raise InputError(f"{name} must be True or False, got {describe(flag)}")
        self.fit_intercept = bool(fit_intercept)
        self.standardize = bool(standardize)
        self.centre = bool(centre)
        threads = None if threads is None else check_count("threads", threads)
        matrix = check_matrix(X)
        weights = check_weights(sample_weight, matrix.shape[0])
        self.classes: np.ndarray | None = None
        if loss in CLASSIFIERS:
            self.classes, targets = check_labels(y, matrix.shape[0], loss)
        else:
            targets = check_targets(y, matrix.shape[0])
        self.term: OneScore | ClassScores
        if loss == MULTINOMIAL:
            assert self.classes is not None
            self.term = ClassScores(targets, len(self.classes))
        else:
            self.term = OneScore(LOSSES[loss], targets, self.delta)
        self._sums: list[LeastSquares] = []  # shared by all views of the problem, once it is there
        self._constants: dict[str, float] = {}  # likewise what was found out of its targets
        self.features = self._features(matrix, weights, threads)

    def _features(self, matrix: Matrix, weights: np.ndarray, threads: int | None) -> Features:
        """The features as users see them, their columns measured and checked."""
        moments = None
        if self.loss == "squared" and self.fit_intercept and worth_summing(matrix):
            # One look at the data, to check them, to measure them and to sum them.
            with np.errstate(invalid="ignore", over="ignore"):  # of a NaN that is about to be found
                self._sums.append(least_squares(matrix, weights, self.y, True, threads))
            moments = self._sums[0].moments
        is_about_zero = not (self.fit_intercept or self.standardize)
        rows = Rows(matrix, weights, threads, moments, is_about_zero)
        scales = None
        if self.standardize:
            # A constant column has no scale of its own, and is left at its mean, zero.
            scales = 1.0 / np.sqrt(np.where(rows.variances > 0.0, rows.variances, 1.0))
        return Features(
            rows,
            fit_intercept=self.fit_intercept,
            origin=rows.means if self.standardize and self.fit_intercept else None,
            scales=scales,
            outputs=self.outputs,
            is_matrix=self.term.is_matrix,
        )

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
    def means(self) -> np.ndarray | None:
        """What standardizing takes off the columns of X, float64[p]; None where it does not."""
        return self.features.place if self.standardize else None

    @property
    def scales(self) -> np.ndarray | None:
        """What standardizing multiplies them by, float64[p]; None where it does not."""
        return self.features.scales

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

    @property
    def start(self) -> np.ndarray:
        """All zero, in the dtype of X."""
        return np.zeros(self.dim, dtype=self.matrix.dtype)

    @property
    def smooth(self) -> LinearProblem | None:
        """The problem without its l1 penalty; None where there is none."""
        return self.replaced(l1=0.0) if self.l1 else None

    @property
    def centred(self) -> LinearProblem:
        """The same function about the mean of the features; the problem itself where it is that."""
        if not (self.centre and self.fit_intercept):
            return self
        features, term = self.features.centred, self.term.centred(self.weights)
        if features is self.features and term is self.term:
            return self
        part = self._seen(features)
        part.term = term
        return part

    def replaced(self, *, l1: float | None = None, l2: float | None = None) -> LinearProblem:
        """The same data with other penalties."""
        part = copy.copy(self)
        part.l1 = self.l1 if l1 is None else l1
        part.l2 = self.l2 if l2 is None else l2
        return part

    def with_term(self, loss: str, term: OneScore | ClassScores) -> LinearProblem:
        """The same features and penalties with another data term."""
        features = self.features.with_outputs(term.outputs, is_matrix=term.is_matrix)
        part = self._seen(features, own=True)
        part.loss, part.term = loss, term
        return part

    def with_target(self, y: Any) -> LinearProblem:
        """The same features and penalties with the squared loss of another target."""
        y = check_targets(y, self.n)
        return self.with_term("squared", OneScore(LOSSES["squared"], y, self.delta))

    def with_labels(self, is_second: np.ndarray) -> LinearProblem:
        """The same problem with other labels: whether each sample is of the second class."""
        assert isinstance(self.term, OneScore)
        term = OneScore(self.term.code, np.where(is_second, 1.0, -1.0), self.delta)
        return self.with_term(self.loss, term)

    def with_features(self, features: Features) -> LinearProblem:
        """The same samples with features about another origin, or in other units."""
        return self._seen(features)

    def enter(self, w: np.ndarray, other: LinearProblem) -> np.ndarray:
        """The variables here as those of `other`, a view of the same data."""
        return self.features.recentred(w, other.features, self.term.origin - other.term.origin)

    def settled(self, w: np.ndarray) -> np.ndarray:
        """The same scores but for what all classes share, which no loss sees; `w` itself otherwise.

        Adding one vector to the coefficients of all classes changes no probability. Without l1 the
        mean over the classes is taken off, which leaves (l2/2)‖W‖² smaller; of the intercepts,
        which no penalty holds, always.
        """
        if not self.term.is_matrix:
            return w
        W, b = self.features.split(w)
        if self.l1 == 0.0:
            W = W - W.mean(axis=1, keepdims=True)
        return self.features.join(W, b - b.mean()).astype(w.dtype, copy=False)

    def ridge_change(self, before: np.ndarray, after: np.ndarray) -> float:
        """What (l2/2)‖w‖² gains from one point to another."""
        if before.size != after.size or not self.term.is_matrix:
            return 0.0
        return self.ridge(self.split(after)[0]) - self.ridge(self.split(before)[0])

    def sample(self, rows: np.ndarray, chances: np.ndarray | None = None) -> LinearProblem:
        """The problem on some of its samples, copied; features are scaled as on the whole.

        A sample that had a chance q to be among them counts 1/q times.
        """
        weights = self.weights[rows] if chances is None else self.weights[rows] / chances
        return self._on(rows, self.matrix.take(rows), weights)

    def part(self, start: int, stop: int) -> LinearProblem:
        """The problem on the rows from `start` to `stop`, nothing copied."""
        rows = slice(start, stop)
        return self._on(rows, self.matrix.between(start, stop), self.weights[rows])

    def _on(self, rows: Any, matrix: Matrix, weights: np.ndarray) -> LinearProblem:
        total = float(weights.sum())
        weights = weights / total if total > 0.0 else weights
        part = self._seen(self.features.on(self.rows.part(matrix, weights)), own=True)
        part.term = self.term.on(rows)
        return part

    def _seen(self, features: Features, *, own: bool = False) -> LinearProblem:
        """The problem with other features; sums are its own unless the data are the same."""
        part = copy.copy(self)
        part.__dict__.pop("samples", None)
        part.features = features
        if own:
            part._sums, part._constants = [], {}
        return part

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
        """The gradient of F without its l1 penalty."""
        return self.value_and_gradient(w)[1]

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """F without its l1 penalty, and its gradient, in one pass."""
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
        """F without l1 along w + αp, from the scores `z` at w and those `ahead` at α = `step`."""
        return LinearLine(self, w, p, z, slope, step, ahead)

    def hessian_at(self, scores: np.ndarray, floor: float = 0.0) -> LinearHessian:
        """The Hessian of F without l1 where the scores are these; `floor` as there."""
        return LinearHessian(self, scores, floor)

    def hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The Hessian of F without l1, times `v`, in one pass."""
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
        return self.rows.product(*self.features.enter(self._point(w)))

    def transpose(self, theta: np.ndarray) -> np.ndarray:
        """Σ cᵢxᵢθᵢᵀ over the features as they enter the model, float64[p] or [p, K]."""
        return self.features.leave(*self.rows.transpose(theta))

    @property
    def curvature_bound(self) -> float:
        """γ, the largest ℓ″."""
        return self.term.curvature_bound

    @property
    def gram_extent(self) -> Extent:
        """Both ends of the spectrum of Σ cᵢx̃ᵢx̃ᵢᵀ, by Lanczos, with their error."""
        return self.features.gram_extent

    @property
    def smoothness(self) -> float:
        """L: the Lanczos estimate plus its error, so that 1/L is a safe step."""
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

    @cached_property
    def samples(self) -> FiniteSum:
        """The problem as a mean over samples, for methods that visit them one by one."""
        return finite_sum(self)

    @property
    def is_summed(self) -> bool:
        """Whether the sums that the squared loss is made of are at hand."""
        return bool(self._sums)

    @property
    def least_squares(self) -> LeastSquares:
        """The sums that the squared loss is made of, in one pass of O(np²) when first asked for."""
        if not self._sums:
            self._sum()
        return self._sums[0].of(self.features, self.term.origin)

    def _sum(self) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # squares may overflow
            self._sums.append(
                least_squares(
                    self.matrix,
                    self.weights,
                    self.y,
                    self.fit_intercept,
                    self.threads,
                    self.rows,
                    self.term.origin,
                )
            )

    def constant(self, name: str, make: Callable[[], float]) -> float:
        """A number that follows from targets and weights alone, made when first asked for."""
        if name not in self._constants:
            self._constants[name] = make()
        return self._constants[name]

    def take_sums(self, sums: LeastSquares) -> None:
        """Have the sums at hand from now on; they were made of these samples."""
        self._sums[:] = [sums]

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
