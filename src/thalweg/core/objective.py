"""What is minimised: the roles that a method may ask an objective to play.

The smallest role is `ObjectiveProtocol`. What more an objective knows of itself (its smoothness L,
its strong convexity μ, its minimizer) it states as attributes, and `known` reads them, so that an
objective states only what it knows.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class ObjectiveProtocol(Protocol):
    """A differentiable function f of `dim` real variables.

    Optional attributes: `smoothness` (L), `strong_convexity` (μ), `minimizer`, `minimum` (f*),
    `start` (a customary w₀), `bounds` (the box to draw, float64[dim, 2]), `hessian(w)` where the
    whole matrix costs little more than a product, `hessian_vector_error(w, v)` where Hv is not
    exact to rounding, and `curvature_diagonal`, a bound on the diagonal of every Hessian. A
    function of scores may keep them: `value_gradient_scores(w)`, with `line` and `hessian_at` made
    from scores.
    """

    @property
    def dim(self) -> int | None:
        """Number of variables; None where any number will do."""

    def value(self, w: np.ndarray) -> Any:
        """f(w)."""

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """∇f(w), float[dim]."""

    def value_and_gradient(self, w: np.ndarray) -> tuple[Any, np.ndarray]:
        """f(w) and ∇f(w), for the price of little more than one of them."""

    def hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """∇²f(w)·v, float[dim]."""


def known(objective: Any, attribute: str) -> Any:
    """The objective's own statement of `attribute`, or None where it makes none."""
    return getattr(objective, attribute, None)


def is_composite(objective: Any) -> bool:
    """Whether the objective is F = f + h: a part f, `smooth`, and a penalty h beside it.

    Of h it has `penalty(w)`, infinite outside the feasible set, and a step in closed form,
    `prox(w, step)` = argmin over u of h(u) + ‖u − w‖²/(2·step). An objective that may have one
    or not, as a linear problem, says `smooth = None` when not.
    """
    return known(objective, "smooth") is not None


def name_of(objective: Any) -> str:
    """How the objective is called in text: its `name`, else its repr without module paths."""
    return str(known(objective, "name") or repr(objective))
