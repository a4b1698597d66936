"""The Hessian's spectrum: how many eigenvalues lie where, and its two ends.

A density (`thalweg.curvature.density`) is drawn as its atoms gathered into columns: the share of
eigenvalues between two edges, which are what was measured; the smooth curve that widens them is
not. Eigenvalues themselves are counted. Shares are on a log axis, as a network has millions of
eigenvalues near 0 and a handful that matter. Zero is marked: what lies left of it leads down.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.core.checks import check_count, check_vector
from thalweg.curvature.density import SpectralDensity
from thalweg.figures.spec import LOG, Axis, Figure, Guide, Histogram, Mark, Panel
from thalweg.figures.styles import BLUE, Style

COLUMNS = 60
LEAST = 1e-4  # share below which nothing is shown, beside that of one eigenvalue


def spectrum(
    values: SpectralDensity | Any,
    *,
    title: str = "Spectrum of the Hessian",
    columns: int = COLUMNS,
) -> Figure:
    """Draw a `SpectralDensity`, or a vector of eigenvalues."""
    columns = check_count("columns", columns, at_least=2)
    if isinstance(values, SpectralDensity):
        nodes, weights = values.nodes, values.weights
    else:
        nodes = np.sort(check_vector("values", values).astype(np.float64))
        weights = np.full(len(nodes), 1.0 / len(nodes))
    low, high = float(nodes[0]), float(nodes[-1])
    if low == high:
        low, high = low - 0.5, high + 0.5
    shares, edges = np.histogram(nodes, bins=columns, range=(low, high), weights=weights)
    marks: list[Mark] = [Histogram("share of eigenvalues", edges, shares, Style(BLUE))]
    if low < 0.0 < high:
        marks.append(Guide("0", 0.0, along="y"))
    marks += [Guide(f"λ_min = {nodes[0]:.3g}", float(nodes[0]), along="y")]
    marks += [Guide(f"λ_max = {nodes[-1]:.3g}", float(nodes[-1]), along="y")]
    seen = shares[shares > 0]
    floor = max(min(LEAST, float(seen.min())) / 2.0, 1e-12)
    below = float(weights[nodes < 0].sum())
    panel = Panel(
        Axis("eigenvalue λ"),
        Axis("share of eigenvalues", LOG, low=floor, high=1.5),
        tuple(marks),
    )
    summary = (
        f"Eigenvalues from {nodes[0]:.3g} to {nodes[-1]:.3g}; {100 * below:.3g} % of them are "
        f"negative; their mean is {float(weights @ nodes):.3g}."
    )
    return Figure(title, (panel,), summary)
