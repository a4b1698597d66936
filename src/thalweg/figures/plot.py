"""`tw.plot`: the figure that a thing has, as an object that notebooks show and that can be saved.

    a run, or several     "convergence"; "plan" where the method was chosen by one
    a plan                "plan"
    a race                "race"; "convergence" of its runs
    a record of a network "layers", "percentiles", "training", "curvature"
    a spectral density    "spectrum"

The first is drawn unless another is asked for by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg.core.checks import describe
from thalweg.core.errors import InputError, suggest
from thalweg.core.plan import Plan
from thalweg.core.run import Run
from thalweg.core.storage import write_file
from thalweg.curvature.density import SpectralDensity
from thalweg.figures.animation import to_gif
from thalweg.figures.convergence import convergence
from thalweg.figures.layers import layers
from thalweg.figures.percentiles import percentiles
from thalweg.figures.pixels import to_pdf, to_png
from thalweg.figures.plan_and_actual import plan_and_actual
from thalweg.figures.race import race
from thalweg.figures.spec import Figure
from thalweg.figures.spectrum import spectrum
from thalweg.figures.svg import to_html, to_svg
from thalweg.figures.training import curvature, training
from thalweg.planner.race import Race

Kinds = dict[str, Callable[..., Figure]]
RUNS: Kinds = {"convergence": convergence, "plan": plan_and_actual}
PLANS: Kinds = {"plan": plan_and_actual}
RACES: Kinds = {
    "race": race,
    "convergence": lambda found, **how: convergence(
        found.runs, **{"objective": found.objective, **how}
    ),
}
RECORDS: Kinds = {
    "layers": layers,
    "percentiles": percentiles,
    "training": training,
    "curvature": curvature,
}
SPECTRA: Kinds = {"spectrum": spectrum}


@dataclass(frozen=True)
class Plot:
    """A figure to look at, in a notebook or a file."""

    figure: Figure
    race: Race | None = None  # where there is one to animate

    @property
    def svg(self) -> str:
        """The figure as SVG."""
        return to_svg(self.figure)

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return to_html(self.figure)

    def __repr__(self) -> str:
        lines = [self.figure.title, self.figure.summary, *self.figure.notes]
        return "\n  ".join(line for line in lines if line)

    def save(self, file: str | Path) -> Path:
        """Write the figure as the name ends: .svg, .png, .pdf, or .gif for a race."""
        file = Path(file)
        match file.suffix.lower():
            case ".svg":
                write_file(file, self.svg.encode())
            case ".png":
                to_png(self.figure, file)
            case ".pdf":
                to_pdf(self.figure, file)
            case ".gif" if self.race is not None:
                to_gif(self.race, file)
            case ".gif":
                raise InputError(
                    "file must end in .svg, .png or .pdf, got a .gif: only a race moves"
                )
            case other:
                raise InputError(
                    f"file must end in .svg, .png, .pdf or .gif, got {other or str(file)!r}"
                )
        return file


def plot(thing: Any, kind: str | None = None, **how: Any) -> Plot:
    """Draw `thing`: a run, a list of runs, a plan, a race, a record or a spectral density.

    Parameters
    ----------
    kind
        Which of its figures; the first in the table above if left out.
    how
        Options of that figure, such as x="seconds".

    >>> import thalweg as tw
    >>> run = tw.minimize(tw.surfaces.Quadratic(), "gd", tol=1e-8)
    >>> tw.plot(run).svg[:4]
    '<svg'
    """
    kinds = _kinds(thing)
    if kind is None:
        kind = next(iter(kinds))
    if kind not in kinds:
        raise InputError(
            f"kind must be a figure that it has, got {kind!r}: {suggest(str(kind), kinds)}"
        )
    is_race = isinstance(thing, Race) and kind == "race"
    return Plot(kinds[kind](thing, **how), thing if is_race else None)


def _kinds(thing: Any) -> Kinds:
    if isinstance(thing, Run):
        return RUNS
    if isinstance(thing, list | tuple) and thing and all(isinstance(run, Run) for run in thing):
        return {"convergence": convergence}
    if isinstance(thing, Plan):
        return PLANS
    if isinstance(thing, Race):
        return RACES
    if isinstance(thing, SpectralDensity):
        return SPECTRA
    # A record of a network, known by what it holds: its class lives where torch does.
    if hasattr(thing, "columns") and hasattr(thing, "layers"):
        return RECORDS
    raise InputError(
        f"thing must be a run, a list of runs, a plan, a race, a record or a spectral density, "
        f"got {describe(thing)}"
    )
