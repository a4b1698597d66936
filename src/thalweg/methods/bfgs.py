"""BFGS: build the inverse Hessian from the gradient differences met on the way.

    p = −B∇f(w)             direction, B ≈ (∇²f)⁻¹
    w⁺ = w + αp             α by a search, strong-Wolfe by default, first trial 1
    s = w⁺ − w,  y = ∇f(w⁺) − ∇f(w),  ρ = 1/sᵀy
    B ← (I − ρsyᵀ)B(I − ρysᵀ) + ρssᵀ

The search's curvature condition makes sᵀy > 0, so B stays positive definite. Before the first
update B is scaled to (sᵀy/yᵀy)I, the curvature just met.

Cost: O(dim²) a step besides one or two gradients; memory O(dim²): use lbfgs for many variables.
Nocedal & Wright, Numerical Optimization, 2nd ed., Section 6.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from thalweg.core.errors import InputError
from thalweg.methods.armijo import Armijo
from thalweg.methods.line import Line
from thalweg.methods.method import Method
from thalweg.methods.problem import Point, Problem
from thalweg.methods.search import Search
from thalweg.methods.wolfe import StrongWolfe, first_trial

MOST_VARIABLES = 10_000  # B takes 800 MB there


class BFGSState(NamedTuple):
    """All that BFGS carries from one step to the next."""

    w: np.ndarray  # iterate, float[dim]
    value: float  # f(w)
    gradient: np.ndarray  # ∇f(w), float[dim]
    scores: np.ndarray  # of a linear problem at w, float64[n] or [n, K]; else empty
    B: np.ndarray  # inverse Hessian, float[dim, dim]
    updates: int  # that went into B; 0: B is the identity


@dataclass(frozen=True)
class BFGS(Method):
    """Quasi-Newton with a full inverse Hessian, for up to some thousand variables."""

    name: ClassVar[str] = "bfgs"
    State: ClassVar[type] = BFGSState
    learns_curvature: ClassVar[bool] = True
    descends: ClassVar[bool] = True
    takes_noise: ClassVar[bool] = False
    searches: ClassVar[tuple[type[Search], ...]] = (StrongWolfe, Armijo)
    search: StrongWolfe | Armijo | None = None

    def check(self, problem: Problem) -> None:
        """The matrix must fit in memory."""
        dim = problem.dim
        if dim > MOST_VARIABLES:
            raise InputError(
                f"bfgs keeps a {dim}×{dim} matrix, at most {MOST_VARIABLES} variables: "
                'use method="lbfgs"'
            )

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> BFGSState:
        """The state at w₀ with B = I."""
        return BFGSState(*problem.point(w0), np.eye(w0.size, dtype=w0.dtype), 0)

    def advance(self, problem: Problem, state: BFGSState) -> BFGSState:
        """One line search and one update of B."""
        w, _, gradient, _, B, updates = state
        point, search = Point(*state[:4]), self.search or StrongWolfe()
        first = 1.0 if updates else first_trial(gradient)
        found = search(Line(problem, point, -(B @ gradient)), first)
        if found is None and updates:
            # B has gone bad, by rounding or far from where it was learnt: begin anew.
            B, updates = np.eye(w.size, dtype=w.dtype), 0
            found = search(Line(problem, point, -gradient), first_trial(gradient))
        if found is None:
            return state
        s, y = found.w - w, found.gradient - gradient
        curvature = float(s @ y)
        if curvature > np.finfo(w.dtype).eps * float(np.linalg.norm(s) * np.linalg.norm(y)):
            if not updates:
                B = (curvature / float(y @ y)) * np.eye(w.size, dtype=w.dtype)
            B = _update(B, s, y, (1.0 / curvature))
            updates += 1
        return BFGSState(*found, B, updates)


def _update(B: np.ndarray, s: np.ndarray, y: np.ndarray, rho: float) -> np.ndarray:
    """(I − ρsyᵀ)B(I − ρysᵀ) + ρssᵀ in O(dim²)."""
    By = B @ y
    return (
        B - rho * (np.outer(s, By) + np.outer(By, s)) + rho * (1 + rho * (y @ By)) * np.outer(s, s)
    )
