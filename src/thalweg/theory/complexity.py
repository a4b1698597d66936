"""The lecture's tables of cost: orders of magnitude, with every constant left out.

    overall cost to ε  =  rate⁻¹(ε) × cost of an iteration                  (lecture B)

                error after t iterations           cost of an        overall cost to ε
                strongly convex     convex         iteration         strongly convex   convex
    gd          exp(−t/Q)           L/t            nd                ndQ·log(1/ε)      ndL/ε
    sgd         1/t                 1/√t           d                 d/ε               d/ε²
    mini-batch  as sgd              as sgd         bd                bd/ε              bd/ε²

with Q = L/μ, n samples (lecture A: m), d features, b the batch (lecture A, "Computation Cost").
And, in gradients of single samples, for strongly convex f (lecture B, "SAG Convergence Rate"):

    stochastic (L/μ)(1/ε)     gradient N(L/μ)log(1/ε)     accelerated N√(L/μ)log(1/ε)
    SAG max(N, L/μ)log(1/ε)

Use these to compare growth (twice the samples, a tenth of ε), never to predict a count: for that
the modules of the methods have bounds with constants.
"""

from __future__ import annotations

import math

from thalweg.core.checks import check_choice, check_count, check_number
from thalweg.core.errors import InputError
from thalweg.theory.assumptions import Count, check_curvatures, check_iterations

METHODS = ("gd", "sgd", "mini-batch")
COUNTED = ("stochastic", "gradient", "accelerated", "sag")


def rate(
    method: str, iterations: Count, *, smoothness: float, strong_convexity: float = 0.0
) -> Count:
    """The order of f(w_t) − f* after t iterations; `strong_convexity=0` is the convex column."""
    check_choice("method", method, METHODS)
    t = check_iterations(iterations, at_least=1)
    if strong_convexity == 0:
        smoothness = check_number("smoothness", smoothness, above=0)
        return smoothness / t if method == "gd" else 1.0 / t**0.5
    L, mu = check_curvatures(smoothness, strong_convexity)
    return math.exp(-mu / L) ** t if method == "gd" else 1.0 / t


def iterations(
    method: str, tolerance: float, *, smoothness: float, strong_convexity: float = 0.0
) -> float:
    """rate⁻¹(ε): the order of the number of iterations to ε in (0, 1)."""
    check_choice("method", method, METHODS)
    tolerance = _check_tolerance(tolerance)
    if strong_convexity == 0:
        smoothness = check_number("smoothness", smoothness, above=0)
        return smoothness / tolerance if method == "gd" else 1.0 / tolerance**2
    L, mu = check_curvatures(smoothness, strong_convexity)
    return L / mu * math.log(1.0 / tolerance) if method == "gd" else 1.0 / tolerance


def iteration_cost(method: str, *, samples: int, features: int, batch: int | None = None) -> int:
    """Multiplications an iteration, in order: nd for gd, d for sgd, bd for mini-batch."""
    check_choice("method", method, METHODS)
    samples = check_count("samples", samples)
    features = check_count("features", features)
    if method == "gd":
        return samples * features
    if method == "sgd":
        return features
    if batch is None or not 1 <= check_count("batch", batch) <= samples:
        raise InputError(f"batch must be in [1, {samples}] for mini-batch, got {batch!r}")
    return batch * features


def overall(
    method: str,
    tolerance: float,
    *,
    samples: int,
    features: int,
    batch: int | None = None,
    smoothness: float,
    strong_convexity: float = 0.0,
) -> float:
    """rate⁻¹(ε) × cost of an iteration: lecture B, "Overall Complexity"."""
    steps = iterations(method, tolerance, smoothness=smoothness, strong_convexity=strong_convexity)
    return steps * iteration_cost(method, samples=samples, features=features, batch=batch)


def evaluations(
    method: str, tolerance: float, *, samples: int, smoothness: float, strong_convexity: float
) -> float:
    """The order of the number of single-sample gradients to ε in (0, 1), f strongly convex.

    Lecture B, "SAG Convergence Rate": `stochastic`, `gradient`, `accelerated` or `sag`.
    """
    check_choice("method", method, COUNTED)
    tolerance = _check_tolerance(tolerance)
    N = check_count("samples", samples)
    L, mu = check_curvatures(smoothness, strong_convexity)
    if method == "stochastic":
        return L / mu / tolerance
    per_digit = {
        "gradient": N * L / mu,
        "accelerated": N * math.sqrt(L / mu),
        "sag": max(N, L / mu),
    }
    return per_digit[method] * math.log(1.0 / tolerance)


def _check_tolerance(tolerance: float) -> float:
    """ε in (0, 1), so that log(1/ε) is positive."""
    return check_number("tolerance", tolerance, above=0, below=1)
