"""A linear problem as a mean over samples: what a method sees that visits them one by one.

    F(w, b) = (1/n) Σᵢ fᵢ(w, b) + l1‖w‖₁        fᵢ = aᵢ ℓ(xᵢᵀw + b, yᵢ) + (l2/2)‖w‖²

aᵢ = n·cᵢ is the weight of a sample relative to the mean weight, and fᵢ is smooth with

    Lᵢ = aᵢ γ ‖x̃ᵢ‖² + l2                  x̃ᵢ = (xᵢ, 1) with an intercept, else xᵢ

The rows are those that the model sees. A dense row is standardized while it is read, or centred
where that takes half of ‖x‖² or more. A sparse row is only scaled: its zeros stay zeros, and for a
free intercept a centred feature differs from one that is not by a shift of the intercept alone,
b′ = b − Σⱼ aⱼdⱼwⱼ. `enter` and `leave` make it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thalweg.kernels import linear as passes
from thalweg.kernels.losses import LOSSES
from thalweg.kernels.rows import CSR, Centred, ScaledCSR, Standardized

if TYPE_CHECKING:
    from thalweg.objectives.linear import LinearProblem


class FiniteSum(NamedTuple):
    """The samples, in the form that kernels take."""

    X: Any  # n rows of p entries: dense, Centred, Standardized, CSR or ScaledCSR
    y: np.ndarray  # targets, ±1, or labels, float64[n]
    c: np.ndarray  # weights of sum 1, float64[n]: a = n·c, which is not stored
    squares: np.ndarray  # ‖x̃ᵢ‖², float64[n]
    code: int  # of the loss
    delta: float  # of the Huber loss
    outputs: int  # K
    has_intercept: bool

    @property
    def a(self) -> np.ndarray:
        """Relative weights, a fresh float64[n]."""
        return self.y.size * self.c


def finite_sum(problem: LinearProblem) -> FiniteSum:
    """The samples of `problem`; X is not copied."""
    X = _model_rows(problem)
    squares = np.empty(problem.n)
    passes.squares_pass(X, 0, problem.n, squares)
    squares += problem.fit_intercept
    return FiniteSum(
        X=X,
        y=problem.y.astype(np.float64, copy=False),
        c=problem.weights,
        squares=squares,
        code=LOSSES[problem.loss],
        delta=problem.delta,
        outputs=problem.outputs,
        has_intercept=problem.fit_intercept,
    )


def sample_smoothness(problem: LinearProblem) -> np.ndarray:
    """Lᵢ without l2, float64[n]: of rows that are centred only where that is free."""
    data = problem.samples
    L = data.a
    L *= problem.curvature_bound
    L *= data.squares
    return L


def enter(problem: LinearProblem, w: np.ndarray) -> np.ndarray:
    """The variables for these rows, a fresh float64[dim], from those of the problem."""
    v, count, m = np.array(w, dtype=np.float64), problem.p * problem.outputs, _centres(problem)
    if m is not None:
        v[count:] -= m @ v[:count].reshape(problem.p, problem.outputs)
    return v


def leave(problem: LinearProblem, v: np.ndarray) -> np.ndarray:
    """The variables of the problem, float[dim] in the dtype of X, from those here.

    `v` itself where they are the same.
    """
    count, m = problem.p * problem.outputs, _centres(problem)
    if m is not None:
        b = v[count:] + m @ v[:count].reshape(problem.p, problem.outputs)
        v = np.append(v[:count], b)
    return v.astype(problem.matrix.dtype, copy=False)


def leave_gradient(problem: LinearProblem, d: np.ndarray) -> np.ndarray:
    """Change `d`, the gradient in these variables, in place to that in those of the problem."""
    count, m = problem.p * problem.outputs, _centres(problem)
    if m is not None:
        # b′ = b − Σⱼ aⱼdⱼwⱼ: to move wⱼ at a fixed b moves b′ by −aⱼdⱼ.
        d[:count] -= np.outer(m, d[count:]).ravel()
    return d


def rows_are_as_seen(problem: LinearProblem) -> bool:
    """Whether the rows here are those of the model, and not apart by a shift."""
    return _centres(problem) is None


def _centres(problem: LinearProblem) -> np.ndarray | None:
    """aⱼdⱼ, float64[p], where the model centres its features, but the rows are not."""
    features = problem.features
    if features.origin is None or _rows_are_centred(problem):
        return None
    return features.origin if features.scales is None else features.origin * features.scales


def _rows_are_centred(problem: LinearProblem) -> bool:
    """Whether rows are taken about the origin of the features while they are read."""
    features, rows = problem.features, problem.rows
    if features.origin is None or problem.matrix.is_sparse:
        return False
    if features.scales is not None or rows.shift is not None:
        return True
    return float(features.origin @ features.origin) >= float(rows.variances.sum())


def _model_rows(problem: LinearProblem) -> Any:
    X, features = problem.matrix.rows, problem.features
    if isinstance(X, CSR):
        return X if features.scales is None else ScaledCSR(*X, features.scales)
    if features.scales is not None:
        return Standardized(X, features.place, features.scales)
    return Centred(X, features.place) if _rows_are_centred(problem) else X
