"""A linear problem as a mean over samples: what a method sees that visits them one by one.

    F(w, b) = (1/n) Σᵢ fᵢ(w, b) + l1‖w‖₁        fᵢ = aᵢ ℓ(xᵢᵀw + b, yᵢ) + (l2/2)‖w‖²

aᵢ = n·cᵢ is the weight of a sample relative to the mean weight, and fᵢ is smooth with

    Lᵢ = aᵢ γ ‖x̃ᵢ‖² + l2                  x̃ᵢ = (xᵢ, 1) with an intercept, else xᵢ

The rows are those that the model sees. A dense row is standardized while it is read. A sparse row
is only scaled: its zeros stay zeros, and for a free intercept a centred feature differs from one
that is not by a shift of the intercept alone, b′ = b − Σⱼ mⱼdⱼwⱼ. `enter` and `leave` make it.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from thalweg.kernels import linear as passes
from thalweg.kernels.losses import LOSSES
from thalweg.kernels.rows import CSR, ScaledCSR, Standardized
from thalweg.objectives.linear import LinearProblem


class FiniteSum(NamedTuple):
    """The samples, in the form that kernels take."""

    X: Any  # n rows of p entries: dense, Standardized, CSR or ScaledCSR
    y: np.ndarray  # targets, ±1, or labels, float64[n]
    a: np.ndarray  # relative weights, float64[n]
    squares: np.ndarray  # ‖x̃ᵢ‖², float64[n]
    code: int  # of the loss
    delta: float  # of the Huber loss
    outputs: int  # K
    has_intercept: bool


# Made once for each problem: a method asks for it at every iteration.
_MADE: WeakKeyDictionary[LinearProblem, FiniteSum] = WeakKeyDictionary()


def finite_sum(problem: LinearProblem) -> FiniteSum:
    """The samples of `problem`; X is not copied."""
    if problem not in _MADE:
        _MADE[problem] = _finite_sum(problem)
    return _MADE[problem]


def _finite_sum(problem: LinearProblem) -> FiniteSum:
    X = _model_rows(problem)
    squares = np.empty(problem.n)
    passes.squares_pass(X, 0, problem.n, squares)
    return FiniteSum(
        X=X,
        y=problem.y.astype(np.float64, copy=False),
        a=problem.n * problem.weights,
        squares=squares + problem.fit_intercept,
        code=LOSSES[problem.loss],
        delta=problem.delta,
        outputs=problem.outputs,
        has_intercept=problem.fit_intercept,
    )


def sample_smoothness(problem: LinearProblem, data: FiniteSum) -> np.ndarray:
    """Lᵢ, float64[n]."""
    return data.a * problem.curvature_bound * data.squares + problem.l2


def enter(problem: LinearProblem, w: np.ndarray) -> np.ndarray:
    """The variables for these rows, a fresh float64[dim], from those of the problem."""
    v = np.array(w, dtype=np.float64)
    shift = _shift(problem, v)
    if shift is not None:
        v[problem.p * problem.outputs :] -= shift
    return v


def leave(problem: LinearProblem, v: np.ndarray) -> np.ndarray:
    """The variables of the problem, a fresh float[dim] in the dtype of X, from those here."""
    w = v.copy()
    shift = _shift(problem, v)
    if shift is not None:
        w[problem.p * problem.outputs :] += shift
    return w.astype(problem.matrix.dtype)


def _shift(problem: LinearProblem, v: np.ndarray) -> np.ndarray | None:
    """Σⱼ mⱼdⱼwⱼ, float64[K]; None where rows are centred, or nothing is."""
    if problem.means is None or problem.scales is None:
        return None
    if not (problem.matrix.is_sparse and problem.fit_intercept):
        return None
    coefficients = v[: problem.p * problem.outputs].reshape(problem.p, problem.outputs)
    return (problem.means * problem.scales) @ coefficients


def _model_rows(problem: LinearProblem) -> Any:
    rows, means, scales = problem.matrix.rows, problem.means, problem.scales
    if means is None or scales is None:
        return rows
    if isinstance(rows, CSR):
        return ScaledCSR(*rows, scales)
    return Standardized(rows, means, scales)
