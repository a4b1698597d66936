"""Newton's method: jump to the minimum of the local quadratic.

    H = ∇²f(w) = QΛQᵀ                  p = −Q|Λ|⁻¹Qᵀ∇f(w)
    w⁺ = w + αp                        α by a strong-Wolfe search, first trial 1

Where H is positive definite p is Newton's step. Where it is not, a negative curvature enters with
its absolute value, so that p runs away from the saddle along it instead of towards it; curvatures
nearly zero are raised to √ε·max|Λ|.

Cost: a Hessian (dim products, or one pass of a linear problem) and O(dim³) a step; memory O(dim²):
use newton-cg for many variables. The absolute value: Dauphin et al., NeurIPS 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from thalweg.core.errors import InputError
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.methods.wolfe import strong_wolfe

MOST_VARIABLES = 2_000  # dim products and an O(dim³) factorisation at every step


class NewtonState(NamedTuple):
    """All that Newton's method carries from one step to the next."""

    w: np.ndarray  # iterate, float[dim]
    value: float  # f(w)
    gradient: np.ndarray  # ∇f(w), float[dim]


@dataclass(frozen=True)
class Newton(Method):
    """Newton with the exact Hessian, for small problems."""

    name: ClassVar[str] = "newton"
    State: ClassVar[type] = NewtonState
    descends: ClassVar[bool] = True
    takes_noise: ClassVar[bool] = False

    def check(self, problem: Problem) -> None:
        """The Hessian must fit, and its factorisation be affordable."""
        dim = problem.dim
        if dim > MOST_VARIABLES:
            raise InputError(
                f"newton factorises a {dim}×{dim} Hessian, at most {MOST_VARIABLES} variables: "
                'use method="newton-cg"'
            )

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> NewtonState:
        """The state at w₀."""
        return NewtonState(w0, *problem.value_and_gradient(w0))

    def advance(self, problem: Problem, state: NewtonState) -> NewtonState:
        """One factorisation and one line search."""
        w, value, gradient = state
        H = problem.hessian(w)
        if not np.all(np.isfinite(H)):
            return state
        curvatures, Q = np.linalg.eigh(0.5 * (H + H.T))
        sizes = np.abs(curvatures)
        largest = float(sizes.max()) or 1.0  # none at all: down the gradient
        floor = float(np.sqrt(np.finfo(w.dtype).eps)) * largest
        direction = -(Q @ ((Q.T @ gradient) / np.maximum(sizes, floor)))
        found = strong_wolfe(problem, w, value, gradient, direction, 1.0)
        if found is None:
            return state
        return NewtonState(found.w, found.value, found.gradient)
