"""A race as a GIF: every method advances by iterations, all at one pace (extra `plots`).

Frame k of K shows the first t_k iterations, t from 0 to that of the longest run, in equal steps on
a square-root scale: the first iterations, in which most happens, are seen one by one.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.core.checks import check_count
from thalweg.core.storage import write_file
from thalweg.figures.pixels import drawing, plotting
from thalweg.figures.race import race
from thalweg.figures.spec import Curve
from thalweg.planner.race import Race

FRAMES = 60
RATE = 12  # frames a second
DOTS = 80  # an inch


def to_gif(found: Race, file: str | Path, *, frames: int = FRAMES) -> None:
    """Write the race as an animation of so many frames."""
    plotting("GIF")
    from matplotlib.animation import FuncAnimation, PillowWriter

    figure = race(found)
    canvas, (axes,) = drawing(figure)
    names = [mark.name for mark in figure.panels[0].marks if isinstance(mark, Curve)]
    lines = {line.get_label(): line for line in axes.get_lines()}
    times = moments(found, check_count("frames", frames, at_least=2))

    def show(t: int) -> list[Any]:
        for name, path in zip(names, found.paths, strict=True):
            way = path[: t // found.stride + 1]
            lines[name].set_data(way[:, 0], way[:, 1])
        axes.set_title(f"after {t:,} iterations", fontsize=9, loc="left")
        return list(lines.values())

    film = FuncAnimation(canvas, show, frames=times, blit=False)
    # Pillow writes to a path; the place asked for gets the whole file or none.
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / "race.gif"
        film.save(part, PillowWriter(fps=RATE), dpi=DOTS)
        write_file(Path(file), part.read_bytes())


def moments(found: Race, frames: int) -> list[int]:
    """The iterations that are shown, each once."""
    longest = found.stride * (max(len(path) for path in found.paths) - 1)
    share = np.linspace(0.0, 1.0, frames) ** 2
    return np.unique(np.round(share * longest).astype(int)).tolist()
