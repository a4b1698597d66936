"""Test surfaces: small functions with exact derivatives, each with one difficulty of its own."""

from __future__ import annotations

from thalweg.objectives.surfaces.beale import Beale
from thalweg.objectives.surfaces.cliff import Cliff
from thalweg.objectives.surfaces.double_well import DoubleWell
from thalweg.objectives.surfaces.himmelblau import Himmelblau
from thalweg.objectives.surfaces.linear_chain import LinearChain
from thalweg.objectives.surfaces.monkey_saddle import MonkeySaddle
from thalweg.objectives.surfaces.noisy import Noisy
from thalweg.objectives.surfaces.plateau import Plateau
from thalweg.objectives.surfaces.quadratic import Quadratic
from thalweg.objectives.surfaces.rosenbrock import Rosenbrock
from thalweg.objectives.surfaces.saddle import Saddle
from thalweg.objectives.surfaces.styblinski_tang import StyblinskiTang
from thalweg.objectives.surfaces.surface import Surface

# Each can be made without arguments, so a table of all of them is SURFACES[name]().
SURFACES: dict[str, type[Surface]] = {
    surface.key: surface
    for surface in (
        Quadratic,
        Rosenbrock,
        Saddle,
        MonkeySaddle,
        Beale,
        Himmelblau,
        StyblinskiTang,
        DoubleWell,
        Plateau,
        Cliff,
        LinearChain,
    )
}

__all__ = [
    "SURFACES",
    "Beale",
    "Cliff",
    "DoubleWell",
    "Himmelblau",
    "LinearChain",
    "MonkeySaddle",
    "Noisy",
    "Plateau",
    "Quadratic",
    "Rosenbrock",
    "Saddle",
    "StyblinskiTang",
    "Surface",
]
