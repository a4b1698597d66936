"""A race: several methods from one start on one objective, and the way that each took.

Every method runs by `minimize` with its own defaults, so what is seen is what the library does. A
way is w₀, w₁, …, w_T as a callback sees them: the points that the method is at, of which the run
itself keeps the last. On a surface of two variables ways are seen as they are; of more variables in
the plane in which most of them lies (`planner.plane`), every so many iterations where all points
would take too much memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thalweg.core.card import NEUTRAL, html_card
from thalweg.core.checks import check_count, describe
from thalweg.core.errors import InputError
from thalweg.core.objective import known, name_of
from thalweg.core.run import Run
from thalweg.methods.journey import Step
from thalweg.methods.method import Method
from thalweg.planner.minimize import minimize
from thalweg.planner.plane import Plane, plane_of

ROOM = 8_000_000  # numbers, 64 MB, that all ways may have together


@dataclass(frozen=True, eq=False)
class Race:
    """Runs from one start, with their ways."""

    objective: Any
    runs: tuple[Run, ...]
    paths: tuple[np.ndarray, ...]  # one a run, float64[steps + 1, 2]
    plane: Plane | None = None  # that paths lie in; None where there are but two variables
    stride: int = 1  # iterations from a point of a path to the next

    @property
    def start(self) -> np.ndarray:
        """Where all began, as it is seen, float64[2]."""
        return self.paths[0][0]

    @property
    def leaders(self) -> list[Run]:
        """The runs, lowest value first; those that are no number come last."""
        return sorted(self.runs, key=lambda run: (np.isnan(run.value), run.value))

    def __repr__(self) -> str:
        begun = "" if self.plane else f" from {_point(self.start)}"
        lines = [f"  {method:<10} {told}" for method, told in self._results()]
        return "\n".join([f"Race on {name_of(self.objective)}{begun}", *lines])

    def _repr_html_(self) -> str:
        return html_card("RACE", name_of(self.objective), self._results(), tone=NEUTRAL)

    def _results(self) -> list[tuple[str, str]]:
        """What came of each method, the lowest first."""
        return [
            (
                run.method,
                f"{run.outcome.word.lower()} after {run.iterations:,} iterations"
                f"{self.spelled_place(run)}, f = {run.value:.6g}",
            )
            for run in self.leaders
        ]

    def spelled_place(self, run: Run) -> str:
        """Where a run ended, of two variables."""
        return "" if self.plane else f" at {_point(run.w)}"


def race(
    surface: Any,
    methods: Sequence[str | Method],
    *,
    start: Any = None,
    steps: int = 500,
    tol: float = 1e-6,
    seed: int = 0,
) -> Race:
    """Let `methods` run on a surface, at most `steps` iterations each.

    Parameters
    ----------
    surface
        One of `tw.surfaces`, a `tw.LinearProblem`, or any objective or function of two variables or
        more: of more than two, ways are seen in the plane that most of them lies in.
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
    >>> far = tw.race(tw.surfaces.Rosenbrock(dim=20), ["lbfgs", "adam"], steps=50)
    >>> far.paths[0].shape[1], bool(0.5 < far.plane.share <= 1.0)
    (2, True)
    """
    if isinstance(methods, str | Method) or not isinstance(methods, Sequence) or not methods:
        raise InputError(
            f'methods must be a list of methods, such as ["gd", "adam"], got {describe(methods)}'
        )
    steps = check_count("steps", steps)
    begin = known(surface, "start") if start is None else start
    size = np.size(begin) if begin is not None else known(surface, "dim")
    if size == 1:
        raise InputError(
            "surface must have two variables or more to be seen from above, got 1: "
            "use tw.minimize for each method and tw.plot for their runs"
        )
    stride = 1 if size is None else math.ceil(steps * len(methods) * size / ROOM)
    runs, ways = [], []
    for method in methods:
        way: list[np.ndarray] = []

        def note(step: Step, way: list[np.ndarray] = way) -> None:
            if (step.iteration - 1) % stride:
                way.pop()  # the last one was there in case that nothing followed
            way.append(np.array(step.w, dtype=np.float64))

        run = minimize(
            surface, method, begin, tol=tol, max_iter=steps, seed=seed, callback=note,
            progress=False,
        )  # fmt: skip
        runs.append(run)
        ways.append(np.array([run.w0, *way], dtype=np.float64))
    found = Race(surface, tuple(runs), tuple(ways), stride=stride)
    if ways[0].shape[1] == 2:
        return found
    plane = plane_of(ways, np.asarray(found.leaders[0].w, dtype=np.float64))
    return replace(found, paths=tuple(plane.seen(way) for way in ways), plane=plane)


def _point(w: np.ndarray) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in w) + ")"
