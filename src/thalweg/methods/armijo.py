"""Armijo's line search: the first of ever shorter steps that goes down far enough.

Along p from w, with φ(α) = f(w + αp), α = first, ρ·first, ρ²·first, … until

    φ(α) ≤ φ(0) + c₁αφ′(0)          sufficient decrease

It never lengthens a step, and asks for no slope: cheaper than `wolfe` where first trials are good,
as Newton's are. Nothing makes sᵀy > 0, so quasi-Newton methods learn nothing from some of its
steps. Where φ(α) − φ(0) is lost in rounding, slopes alone decide, as there.

Armijo, Pacific J. Math. 16 (1966).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from thalweg.core.checks import check_count, check_number
from thalweg.methods.line import Line
from thalweg.methods.problem import Point
from thalweg.methods.rounding import rounding_of
from thalweg.methods.search import Search


@dataclass(frozen=True)
class Armijo(Search):
    """Shorten a step until f has fallen by a share of what its slope promised."""

    name: ClassVar[str] = "armijo"
    decrease: float = 1e-4  # c₁
    shrink: float = 0.5  # ρ
    trials: int = 60

    def __post_init__(self) -> None:
        check_number("decrease", self.decrease, above=0.0, below=1.0)
        check_number("shrink", self.shrink, above=0.0, below=1.0)
        check_count("trials", self.trials)

    def __call__(self, line: Line, first: float) -> Point | None:
        """The point of the first step that goes down far enough; None if none does."""
        value = line.start.value
        if not line.slope < 0.0:
            return None
        noise, step = rounding_of(value, line.start.w.dtype), first
        for _ in range(self.trials):
            trial = line.glance(step)
            if trial.value <= value + self.decrease * step * line.slope:
                return line.arrive(trial)
            if abs(trial.value - value) <= noise:
                slope = line.look(step).slope
                if math.isfinite(slope) and abs(slope) < -line.slope:
                    return line.arrive(trial)
            step *= self.shrink
        return None
