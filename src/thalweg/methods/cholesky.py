"""Ridge regression in closed form: one Newton step, since the objective is quadratic.

    F(w, b) = ½ Σᵢ cᵢ (xᵢᵀw + b − yᵢ)² + (l2/2)‖w‖²

With m the weighted mean of the features and G their centred Gram matrix, the step from any (w, b)
with gradient (g, g_b) is

    (G + l2·I) δ = g − m g_b             w ← w − δ
    δ_b = g_b − mᵀδ                      b ← b − δ_b

From zero this is the lecture's ŵ = (XᵀX + λI)⁻¹Xᵀy. For n < p the same δ comes from the n × n
matrix K of the samples, δ = (r − Zᵀ(K + l2·I)⁻¹Zr)/l2 with Z the centred rows. A second iteration
with the same factor takes back what rounding did to the first. Where l2 = 0 and the features are
dependent, the smallest solution is taken.

Cost: O(np·min(n, p)) once; memory min(n, p)² numbers, and for n < p a copy of X.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.linalg

from thalweg.core.errors import InputError
from thalweg.kernels.elementwise import blas
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.objectives.gram import feature_gram, sample_rows, weighted_means
from thalweg.objectives.linear import LinearProblem

MOST = 10_000  # of the smaller of n and p: the matrix takes 800 MB there


class CholeskyState(NamedTuple):
    """All that the closed form carries from one step to the next."""

    w: np.ndarray  # coefficients and intercept, float[p] or [p + 1]
    value: float  # F(w)
    gradient: np.ndarray  # ∇F(w)
    factor: np.ndarray  # of G + l2·I or K + l2·I, float64; empty before the first step
    means: np.ndarray  # m in the features that the model sees, float64[p]


@dataclass(frozen=True)
class Cholesky(Method):
    """Ridge regression by factorising a Gram matrix."""

    name: ClassVar[str] = "cholesky"
    State: ClassVar[type] = CholeskyState
    takes_noise: ClassVar[bool] = False
    descends: ClassVar[bool] = True
    only_linear: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        """Only a quadratic objective is solved by one step, and only a small matrix factorised."""
        objective = problem.objective
        if not isinstance(objective, LinearProblem):
            raise InputError(
                f"cholesky needs a LinearProblem with the squared loss, got {problem.name}: "
                "use method='newton'"
            )
        if objective.loss != "squared":
            raise InputError(
                f"cholesky needs the squared loss, got {objective.loss}: use method='newton-cg'"
            )
        smaller = min(objective.n, objective.p)
        if smaller > MOST:
            raise InputError(
                f"cholesky factorises a {smaller}×{smaller} matrix, at most {MOST}×{MOST}: "
                "use method='lbfgs'"
            )

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> CholeskyState:
        """The state at w₀, nothing factorised."""
        value, gradient = problem.value_and_gradient(w0)
        return CholeskyState(w0, value, gradient, np.empty((0, 0)), np.empty(0))

    def advance(self, problem: Problem, state: CholeskyState) -> CholeskyState:
        """One exact Newton step; the first one factorises."""
        data = problem.objective
        factor, means = state.factor, state.means
        if not factor.size:
            # A matrix that is worth several threads has no other use for them meanwhile.
            with blas().limit(limits=data.threads):
                factor, means = _factorise(data), _model_means(data)
        gradient = state.gradient.astype(np.float64)
        slopes, slope_b = gradient[: data.p], (gradient[data.p] if data.fit_intercept else 0.0)
        delta = _solve(data, factor, slopes - means * slope_b)
        step = np.append(delta, slope_b - means @ delta) if data.fit_intercept else delta
        w = (state.w - step).astype(state.w.dtype)
        value, gradient = problem.value_and_gradient(w)
        if not value <= state.value and state.factor.size:
            return state  # rounding is all that is left
        return CholeskyState(w, value, gradient, factor, means)


def _model_means(data: LinearProblem) -> np.ndarray:
    """The mean of the features as the model sees them: zero where it centres them itself."""
    if data.standardize or not data.fit_intercept:
        return np.zeros(data.p)
    return weighted_means(data)


def _is_dual(data: LinearProblem) -> bool:
    return data.n < data.p and data.l2 > 0


def _factorise(data: LinearProblem) -> np.ndarray:
    """The lower Cholesky factor, or the pseudo-inverse where the matrix has none."""
    if _is_dual(data):
        Z = sample_rows(data)
        return scipy.linalg.cholesky(Z @ Z.T + data.l2 * np.eye(data.n), lower=True)
    G = feature_gram(data) + data.l2 * np.eye(data.p)
    try:
        factor = scipy.linalg.cholesky(G, lower=True)
        diagonal = np.diag(factor)
        if diagonal.min() > 1e-7 * diagonal.max():
            return factor
    except scipy.linalg.LinAlgError:
        pass
    return np.stack([scipy.linalg.pinvh(G)])  # a third axis tells it from a factor


def _solve(data: LinearProblem, factor: np.ndarray, r: np.ndarray) -> np.ndarray:
    if factor.ndim == 3:
        return factor[0] @ r
    if _is_dual(data):
        Z = sample_rows(data)
        inner: Any = scipy.linalg.cho_solve((factor, True), Z @ r)
        return (r - Z.T @ inner) / data.l2
    return scipy.linalg.cho_solve((factor, True), r)
