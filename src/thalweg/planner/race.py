"""A race: several methods from one start on one surface, and the way that each took.

Every method runs by `minimize` with its own defaults, so what is seen is what the library does. A
way is w₀, w₁, …, w_T as a callback sees them: the points that the method is at, of which the run
itself keeps the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.core.checks import check_count, describe
from thalweg.core.errors import InputError
from thalweg.core.objective import known, name_of
from thalweg.core.run import Run
from thalweg.methods.journey import Step
from thalweg.methods.method import Method
from thalweg.planner.minimize import minimize


@dataclass(frozen=True, eq=False)
class Race:
    """Runs from one start, with their ways."""

    objective: Any
    runs: tuple[Run, ...]
    paths: tuple[np.ndarray, ...]  # one a run, float64[steps + 1, 2]

    @property
    def start(self) -> np.ndarray:
        """Where all began, float64[2]."""
        return self.paths[0][0]

    @property
    def leaders(self) -> list[Run]:
        """The runs, lowest value first; those that are no number come last."""
        return sorted(self.runs, key=lambda run: (np.isnan(run.value), run.value))

    def __repr__(self) -> str:
        head = f"Race on {name_of(self.objective)} from {_point(self.start)}"
        lines = [
            f"  {run.method:<10} {run.outcome.word.lower()} after {run.iterations:,} iterations "
            f"at {_point(run.w)}, f = {run.value:.6g}"
            for run in self.leaders
        ]
        return "\n".join([head, *lines])


def race(
    surface: Any,
    methods: Sequence[str | Method],
    *,
    start: Any = None,
    steps: int = 500,
    tol: float = 1e-6,
    seed: int = 0,
) -> Race:
    """Let `methods` run on a surface of two variables, at most `steps` iterations each.

    Parameters
    ----------
    surface
        One of `tw.surfaces`, or any objective or function of two variables.
    methods
        Names such as "adam" or "adam[lr=0.1]", or methods.
    start
        Where all begin; the surface's customary start if left out.
    tol, seed
        As in `minimize`.

    >>> import thalweg as tw
    >>> found = tw.race(tw.surfaces.Rosenbrock(), ["gd", "lbfgs"], steps=100)
    >>> [run.method for run in found.leaders], found.paths[0].shape
    (['lbfgs', 'gd'], (101, 2))
    """
    if isinstance(methods, str | Method) or not isinstance(methods, Sequence) or not methods:
        raise InputError(
            f'methods must be a list of methods, such as ["gd", "adam"], got {describe(methods)}'
        )
    steps = check_count("steps", steps)
    begin = known(surface, "start") if start is None else start
    size = np.size(begin) if begin is not None else known(surface, "dim")
    if size not in (None, 2):
        raise InputError(
            f"surface must have two variables to be seen from above, got {size}: "
            "use tw.minimize for each method and tw.plot for their runs"
        )
    runs, paths = [], []
    for method in methods:
        way: list[np.ndarray] = []

        def note(step: Step, way: list[np.ndarray] = way) -> None:
            way.append(np.array(step.w, dtype=np.float64))

        run = minimize(
            surface, method, begin, tol=tol, max_iter=steps, seed=seed, callback=note,
            progress=False,
        )  # fmt: skip
        runs.append(run)
        paths.append(np.array([run.w0, *way], dtype=np.float64))
    return Race(surface, tuple(runs), tuple(paths))


def _point(w: np.ndarray) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in w) + ")"
