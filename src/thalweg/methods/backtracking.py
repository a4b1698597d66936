"""How long a gradient step may be when L is not known: halve it until the descent lemma holds.

From y with gradient g, the step η leads to x = prox(y − ηg, η), and is short enough when

    f(x) ≤ f(y) + ⟨g, x − y⟩ + ‖x − y‖²/(2η)

which η ≤ 1/L ensures. Without a penalty x − y = −ηg, and this is the lecture's
f(x) ≤ f(y) − (η/2)‖g‖². The search begins at the length given and only shortens it; the caller lets
it grow again, by `growth`, so that a step may lengthen where the surface becomes flatter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from thalweg.core.checks import check_count, check_number
from thalweg.core.errors import InputError
from thalweg.methods.problem import Problem
from thalweg.methods.rounding import rounding_of
from thalweg.methods.search import Search

GROWTH = 2.0  # on a step that was accepted, before the next search
FIRST = 1.0  # the first trial moves the steepest coordinate by this much
SHRINK = 0.5  # on one that was not
TRIALS = 60  # 2⁻⁶⁰ of the first: no step helps any more


class Move(NamedTuple):
    """An accepted step."""

    x: np.ndarray  # prox(y − ηg, η), float[dim]
    value: float  # f(x), NaN if it was not needed
    step: float  # η


def first_step(w: np.ndarray, gradient: np.ndarray) -> float:
    """A first trial that moves the steepest coordinate by `FIRST`, or more where w is huge."""
    steepest = float(np.max(np.abs(gradient)))
    # Beside 10⁸ a move of 1 is lost in the rounding of float32, and so would be the search.
    visible = float(np.sqrt(np.finfo(w.dtype).eps) * np.max(np.abs(w)))
    return max(FIRST, visible) / steepest if steepest > 0 else 1.0


def check_exact(
    method: str, step: float | None, problem: Problem, search: Search | None = None
) -> None:
    """Raise if a search would have to trust a noisy gradient."""
    if step is not None or not problem.is_noisy:
        return
    if search is not None or not problem.smoothness:  # asked last: L may cost as much as a fit
        raise InputError(
            f"{method} needs a step where gradients are noisy, since a search would follow the "
            f"noise, got step=None for {problem.name}: give a number, or use method='adam'"
        )


@dataclass(frozen=True)
class Backtracking(Search):
    """Shorten a gradient step until the descent lemma holds; lengthen the next first trial."""

    name: ClassVar[str] = "backtracking"
    shrink: float = SHRINK
    growth: float = GROWTH
    trials: int = TRIALS

    def __post_init__(self) -> None:
        check_number("shrink", self.shrink, above=0.0, below=1.0)
        check_number("growth", self.growth, at_least=1.0)
        check_count("trials", self.trials)

    def trial(self, step: float, t: int) -> float:
        """Where the search of step t begins: at the length given first, then beyond the last."""
        return step if t == 1 else self.growth * step

    def __call__(
        self, problem: Problem, y: np.ndarray, value: float, gradient: np.ndarray, step: float
    ) -> Move | None:
        """The first of step, step·shrink, … that satisfies the descent lemma; None if none does.

        `step` is the last accepted one, times `growth`.
        """
        noise = rounding_of(value, y.dtype)
        for _ in range(self.trials):
            x = problem.prox(y - step * gradient, step)
            move = x - y
            length = float(move @ move)
            if length == 0.0:
                return None  # the step is lost in rounding
            if 0.5 * length / step <= noise:
                # The lemma compares values that differ by less than their rounding: take the length
                # that was good before, without the growth.
                shorter = step / self.growth
                return Move(problem.prox(y - shorter * gradient, shorter), np.nan, shorter)
            found = problem.value(x)
            if found <= value + float(gradient @ move) + 0.5 * length / step:
                return Move(x, found, step)
            step *= self.shrink
        return None
