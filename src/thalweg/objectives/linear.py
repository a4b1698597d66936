"""Linear models: a loss of the scores Xw + b, averaged over samples, plus penalties on w.

    F(w, b) = (1/Σs) Σᵢ sᵢ ℓ(xᵢᵀw + b, yᵢ) + (l2/2)‖w‖² + l1‖w‖₁

b is not penalised. ℓ is squared, logistic, squared hinge, Huber, half a Poisson, gamma or Tweedie
deviance of the mean e^z (`objectives.one_score`), multinomial (`objectives.class_scores`), where w
is a matrix W of shape [p, K] and b a vector, or a user's own (`objectives.own_score`); so may be
the penalty in place of l1‖w‖₁ (`objectives.own_penalty`). The variables are one flat vector, the
coefficients row by row and then the intercepts; `split` takes it apart. Values and derivatives are
those of `objectives.linear_function`; here the data are checked, and seen in other ways.

Features are taken as they are, or standardized, which copies nothing (`objectives.features`). As no
penalty holds b, F is the same function about any origin of the features; `centred` is F about their
mean, as methods see it: large means would spoil its conditioning, and cost it digits.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from thalweg.core.checks import check_choice, check_count, check_number, describe
from thalweg.core.errors import InputError
from thalweg.core.vector import dot
from thalweg.kernels.losses import LOSSES
from thalweg.objectives.class_scores import ClassScores
from thalweg.objectives.column_penalty import ByColumn, ColumnPenalty
from thalweg.objectives.features import Features
from thalweg.objectives.finite_sum import FiniteSum, finite_sum
from thalweg.objectives.labels import check_labels, check_means, check_targets, check_weights
from thalweg.objectives.least_squares import LeastSquares, least_squares, worth_summing
from thalweg.objectives.linear_function import LinearFunction
from thalweg.objectives.loss_check import check_loss
from thalweg.objectives.matrix import Matrix, check_matrix
from thalweg.objectives.one_score import OneScore
from thalweg.objectives.own_loss import Loss
from thalweg.objectives.own_penalty import Penalty
from thalweg.objectives.own_score import OwnScore
from thalweg.objectives.penalty_check import check_penalty
from thalweg.objectives.rows import Rows
from thalweg.objectives.tweedie import Tweedie

EPS = float(np.finfo(np.float64).eps)

MULTINOMIAL = "multinomial"
NAMES = tuple(LOSSES)
CLASSIFIERS = ("logistic", "squared-hinge", MULTINOMIAL)


class LinearProblem(LinearFunction):
    """A linear model on data, as an objective.

    `loss`: "squared", "logistic", "squared-hinge", "huber" (with `delta`), "multinomial", and of
    means e^z "poisson", "gamma" or a `Tweedie(power)`: those start at the best constant. Labels
    may be of any kind; `classes` holds them in order, and for two classes the second is y = +1.
    `standardize` gives every feature mean 0 and variance 1, the penalties then act on those
    coefficients; `coefficients(w)` returns them in the units of X. `centre=False` has methods work
    in the variables as they are, and not about the mean of the features: for those who study what
    an offset does to a method. A `Loss` and a `Penalty` are terms of your own, the latter in place
    of l1; both are checked here, once. `penalty=ByColumn(...)` has l1 and l2 act column by column,
    between bounds: it is then part of h, and `l1` and `l2` are what all columns share.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: str | Loss | Tweedie = "squared",
        *,
        l1: float = 0.0,
        l2: float = 0.0,
        penalty: Penalty | ByColumn | None = None,
        fit_intercept: bool = True,
        sample_weight: Any = None,
        delta: float = 1.0,
        standardize: bool = False,
        centre: bool = True,
        threads: int | None = None,
    ) -> None:
        if isinstance(loss, str) and loss == "tweedie":
            loss = Tweedie()
        if isinstance(loss, Tweedie):
            delta = loss.power  # kernels are given one parameter of the loss
            loss = "tweedie"
        self.loss = loss.name if isinstance(loss, Loss) else check_choice("loss", loss, NAMES)
        self.l1 = check_number("l1", l1, at_least=0.0)
        self.l2 = check_number("l2", l2, at_least=0.0)
        self.delta = check_number("delta", delta, above=0.0)
        self.own_penalty = _own(penalty, self.l1)
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
        if isinstance(penalty, ByColumn):
            self._hold(penalty.of(matrix.shape[1], matrix.dtype, self.l1, self.l2))
        self.classes: np.ndarray | None = None
        self.term = self._term(loss, y, matrix.shape[0])
        if not self.term.has_bound:
            check_means(self.y, weights, self.loss)
        self._sums: list[LeastSquares] = []  # shared by all views of the problem, once it is there
        self._constants: dict[str, float] = {}  # likewise what was found out of its targets
        self.features = self._features(matrix, weights, threads)
        if self.own_penalty is not None:
            check_penalty(self.own_penalty, self.split(self.start)[0].shape)

    def _hold(self, own: ColumnPenalty | None) -> None:
        """Have l1 and l2 act column by column, if there is anything to that."""
        if own is not None:
            self.own_penalty, self.l1, self.l2 = own, 0.0, own.common

    def _term(self, loss: str | Loss, y: Any, n: int) -> OneScore | OwnScore | ClassScores:
        """The data term of checked targets; notes the classes of a classifier."""
        if isinstance(loss, Loss):
            targets = check_targets(y, n)
            check_loss(loss, targets)
            return OwnScore(loss, targets)
        if loss not in CLASSIFIERS:
            return OneScore(LOSSES[loss], check_targets(y, n), self.delta)
        self.classes, targets = check_labels(y, n, loss)
        if loss == MULTINOMIAL:
            return ClassScores(targets, len(self.classes))
        return OneScore(LOSSES[loss], targets, self.delta)

    def _features(self, matrix: Matrix, weights: np.ndarray, threads: int | None) -> Features:
        """The features as users see them, their columns measured and checked."""
        moments = None
        is_known = self.own_penalty is None or self.by_column is not None
        is_quadratic = self.loss == "squared" and is_known
        if is_quadratic and self.fit_intercept and worth_summing(matrix):
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
        if self.by_column is not None:
            penalties = []  # it tells both
        if self.own_penalty is not None:
            penalties.append(self.own_penalty.name)
        storage = "sparse" if self.matrix.is_sparse else "dense"
        return f"{self.loss} on {self.n} × {self.p} {storage}" + "".join(
            f", {penalty}" for penalty in penalties
        )

    def __repr__(self) -> str:
        return f"LinearProblem({self.name})"

    @property
    def means(self) -> np.ndarray | None:
        """What standardizing takes off the columns of X, float64[p]; None where it does not."""
        return self.features.place if self.standardize else None

    @property
    def scales(self) -> np.ndarray | None:
        """What standardizing multiplies them by, float64[p]; None where it does not."""
        return self.features.scales

    @property
    def start(self) -> np.ndarray:
        """All zero, in the dtype of X; the intercept of a loss of means e^z is log Σ cᵢyᵢ."""
        w = np.zeros(self.dim, dtype=self.matrix.dtype)
        if self.fit_intercept and not self.has_bound:
            # e⁰ may be too far from there for any step; of a few rows all targets may be zero.
            w[-1] = np.log(max(dot(self.weights, self.y), np.finfo(np.float64).tiny))
        return w

    @property
    def smooth(self) -> LinearProblem | None:
        """The problem without l1 or a penalty of one's own; None where there is none."""
        if self.is_smooth:
            return None
        part = self.replaced(l1=0.0)
        part.own_penalty = None
        return part

    @property
    def centred(self) -> LinearProblem:
        """The same function about the mean of the features; the problem itself where it is that."""
        return self if self._about_the_mean is None else self._about_the_mean

    @cached_property
    def _about_the_mean(self) -> LinearProblem | None:
        """None where it is the problem itself."""
        if not (self.centre and self.fit_intercept):
            return None
        features, term = self.features.centred, self.term.centred(self.weights)
        if features is self.features and term is self.term:
            return None
        part = self._seen(features)
        part.term = term
        return part

    def replaced(self, *, l1: float | None = None, l2: float | None = None) -> LinearProblem:
        """The same data with other penalties."""
        part = copy.copy(self)
        part.__dict__.pop("_about_the_mean", None)
        if self.by_column is not None:
            part._hold(self.by_column.replaced(l1, l2))
            return part
        part.l1 = self.l1 if l1 is None else l1
        part.l2 = self.l2 if l2 is None else l2
        return part

    def with_term(self, loss: str, term: OneScore | OwnScore | ClassScores) -> LinearProblem:
        """The same features and penalties with another data term."""
        features = self.features.with_outputs(term.outputs, is_matrix=term.is_matrix)
        part = self._seen(features, own=True)
        part.loss, part.term = loss, term
        return part

    def with_loss(self, loss: str | Loss, delta: float) -> LinearProblem:
        """The same features, targets and penalties with another loss of numbers."""
        y, origin = self.y, self.term.origin
        if isinstance(loss, Loss):
            part = self.with_term(loss.name, OwnScore(loss, y, origin=origin))
        else:
            part = self.with_term(loss, OneScore(LOSSES[loss], y, delta, origin))
        part.delta = delta
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

        Adding one vector to the coefficients of all classes changes no probability. Without h the
        mean over the classes is taken off, which leaves (l2/2)‖W‖² smaller; of the intercepts,
        which no penalty holds, always.
        """
        if not self.term.is_matrix:
            return w
        W, b = self.features.split(w)
        if self.is_smooth:
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
        for kept in ("samples", "_about_the_mean"):
            part.__dict__.pop(kept, None)
        part.features = features
        if own:
            part._sums, part._constants = [], {}
        return part

    @cached_property
    def samples(self) -> FiniteSum:
        """The problem as a mean over samples, for methods that visit them one by one."""
        return finite_sum(self)

    @property
    def is_loose(self) -> bool:
        """Whether no penalty decides between coefficients of equal scores: an l2 that is rounding.

        Of features that depend on each other many coefficients then are as good.
        """
        if self.l1 > 0.0 or self.own_penalty is not None:
            return False
        return bool(self.l2 <= EPS * self.centred.column_squares.max())

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


def _own(penalty: Any, l1: float) -> Penalty | None:
    """The penalty of a user's own, checked for its kind."""
    if isinstance(penalty, ByColumn):
        return None  # it is about l1 and l2
    if penalty is not None and not isinstance(penalty, Penalty):
        raise InputError(
            f"penalty must be a Penalty, got {describe(penalty)}: make one by tw.Penalty(value, "
            "prox), or give l1 and l2"
        )
    if penalty is not None and l1 > 0.0:
        raise InputError(
            f"l1 must be 0 beside a penalty of your own, got {l1:g}: proximal steps do not add up, "
            "state both in one value and one prox"
        )
    return penalty
