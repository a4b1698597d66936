"""What the weights of a network are: gradient, both ends of the Hessian, and all between them.

    f(w) = mean loss over at most 2,000 rows, in evaluation mode

is taken as an objective (`tw.nets.objective`), and `tw.classify` says minimum, saddle, neither or
not stationary, from at most 30 Hessian-vector products. Weight decay and l1 are no part of f, so
that weights which they hold back have a gradient. 15 products more give the density of the
spectrum. Rows are drawn by the seed. A large network is looked at on fewer of them, by its numbers
of weights and activations and not by a clock, so that a certificate takes about ten seconds and is
the same every time.

A training by batches hardly ever ends where the gradient is zero: "not stationary" is the usual
verdict, and its numbers say how far from it the weights are, on these rows.

Cost: 50 products, each some three gradients; memory 30 vectors of float64.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from thalweg.certificates.critical_point import CriticalPoint, classify
from thalweg.core.errors import InputError
from thalweg.curvature.density import SpectralDensity, spectral_density
from thalweg.jobs.network_activations import activation_bytes
from thalweg.nets.flat import trainable
from thalweg.nets.recipes.recipe import Recipe
from thalweg.nets.training.batches import Pair
from thalweg.nets.training.objective import objective

ROWS, FEWEST = 2000, 100
BATCH = 256  # rows at a time
WORK = 8e8  # of a product, in weights that are multiplied: 0.1 to 0.2 s
ACTIVATION = 100  # weights that one number of a sample's activations takes as long as, measured
PRODUCTS = 30
STEPS = 15  # of the density
NUMBERS = 1e8  # that the vectors of Lanczos may hold
TOL = 1e-5


class NetworkCertificate(NamedTuple):
    """A verdict on the weights, and the spectrum of the Hessian there."""

    point: CriticalPoint
    spectrum: SpectralDensity


def certify_network(
    model: nn.Module,
    recipe: Recipe,
    data: Pair,
    seed: int = 0,
    *,
    tol: float = TOL,
) -> NetworkCertificate:
    """Say what kind of point the weights of `model` are, for the loss on rows of `data`."""
    dim = trainable(model).dim
    x, y = data
    numbers = activation_bytes(model, recipe.loss, data) / 4.0
    n = min(len(x), ROWS, max(FEWEST, int(WORK / (dim + ACTIVATION * numbers))))
    rng = np.random.default_rng(seed)
    drawn = torch.from_numpy(np.sort(rng.choice(len(x), n, replace=False)))
    f = objective(model, (x[drawn], y[drawn]), recipe.loss, batch_size=BATCH)
    w = trainable(model).gather().cpu().numpy()
    products = int(min(PRODUCTS, max(10, NUMBERS / dim)))
    try:
        with sdpa_kernel(SDPBackend.MATH):
            point = classify(f, w, tol=tol, max_products=products, seed=seed)
            spectrum = spectral_density(
                lambda v: f.hessian_vector(w, v.astype(w.dtype)),
                dim,
                steps=min(STEPS, products),
                probes=1,
                rng=rng,
            )
    except RuntimeError as problem:
        line = (str(problem).splitlines() or [""])[0]
        raise InputError(
            f"model must have a second derivative to be certified, got one without ({line})"
        ) from problem
    return NetworkCertificate(_told(point, recipe, n, len(x), seed), spectrum)


def _told(point: CriticalPoint, recipe: Recipe, n: int, rows: int, seed: int) -> CriticalPoint:
    """The verdict, with what it is about."""
    about = f"{n:,} rows" if n == rows else f"{n:,} of {rows:,} rows, drawn by seed {seed}"
    held = [name for name in ("weight_decay", "l1") if getattr(recipe, name)]
    without = f"; without {' and '.join(held)}" if held else ""
    return replace(
        point,
        objective=f"{recipe.loss} of the network on {about}",
        explanation=f"{point.explanation} (in evaluation mode{without})",
    )
