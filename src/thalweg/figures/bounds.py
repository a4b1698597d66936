"""Theory's line beside a run: what a theorem guarantees for f(w_t) − f*, with its numbers.

    gd         ρ²ᵗ(f(w₀) − f*), ρ = max(|1 − ημ|, |1 − ηL|)      f μ-strongly convex, η < 2/L
               ‖w₀ − w*‖²/2ηt                                    f convex, η ≤ 1/L
    nesterov   2(1 − √(μ/L))ᵗ(f(w₀) − f*)                        f μ-strongly convex, step 1/L
               2L‖w₀ − w*‖²/(t + 1)²                             f convex, step 1/L
    fista      2L‖w₀ − w*‖²/(t + 1)²                             f convex, step 1/L

The 2 of Nesterov's is (μ/2)‖w₀ − w*‖² ≤ f(w₀) − f*. L and μ come from the objective if it is given,
else from the run's plan, where they are no estimates; f(w₀) − f* is the largest that the run's
certificate leaves open; ‖w₀ − w*‖ is known only of objectives that know their minimizer.
Where an assumption is not known to hold there is no line: a run with a search for its step, a
momentum of its own, or a method that theory says nothing useful about. Theorems in expectation
(SAG, SVRG) are for steps that nobody takes; they are in `thalweg.theory`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from thalweg.core.objective import is_composite, known
from thalweg.core.plan import ESTIMATED
from thalweg.core.run import Run
from thalweg.theory import accelerated, gradient_descent
from thalweg.theory.rate import bound
from thalweg.theory.stability import gd_limit


class Theory(NamedTuple):
    """A line and its formula."""

    values: np.ndarray  # at each row of the trace; NaN where it says nothing
    formula: str


class Assumed(NamedTuple):
    """What is known of the objective; None where nothing is."""

    L: float | None
    mu: float | None
    minimizer: np.ndarray | None


def theory(run: Run, initial_gap: float | None, objective: Any = None) -> Theory | None:
    """The bound on f(w_t) − f* at the iterations of the trace; None where no theorem applies."""
    assumed = _assumed(run, objective)
    if assumed.L is None or run.options.get("schedule", "constant") != "constant":
        return None
    t = run.trace["iteration"]
    step = run.options.get("step")
    eta = 1.0 / assumed.L if step is None else step
    if not isinstance(eta, float | int) or eta <= 0:
        return None
    is_full = eta * assumed.L <= 1.0 + 1e-12
    match run.method:
        case "gd" if assumed.mu and initial_gap is not None and eta < gd_limit(assumed.L):
            rho = gradient_descent.contraction(
                eta, smoothness=assumed.L, strong_convexity=assumed.mu
            )
            return Theory(bound(initial_gap, rho**2, t), "ρ²ᵗ(f(w₀) − f*)")
        case "gd" if assumed.minimizer is not None and is_full:
            squared = _distance(run, assumed) ** 2
            return Theory(_from_one(squared / (2.0 * eta), t, 0.0, 1), "‖w₀ − w*‖²/2ηt")
        case "nesterov" if (
            assumed.mu
            and initial_gap is not None
            and step is None
            and run.options.get("momentum") in (None, "strongly-convex")
        ):
            rate = accelerated.rate(smoothness=assumed.L, strong_convexity=assumed.mu)
            return Theory(bound(2.0 * initial_gap, rate, t), "2(1 − √(μ/L))ᵗ(f(w₀) − f*)")
        case "nesterov" | "fista" if (
            assumed.minimizer is not None
            and step is None
            and not assumed.mu
            and run.options.get("momentum") in (None, "convex")
        ):
            scale = 2.0 * assumed.L * _distance(run, assumed) ** 2
            return Theory(_from_one(scale, t, 1.0, 2), "2L‖w₀ − w*‖²/(t + 1)²")
    return None


def _assumed(run: Run, objective: Any) -> Assumed:
    if objective is not None:
        smooth = objective.smooth if is_composite(objective) else objective
        mu = known(objective, "strong_convexity")
        # Convexity itself must be known: a surface that is not convex says None.
        if mu is None:
            return Assumed(None, None, None)
        return Assumed(known(smooth, "smoothness"), mu, known(objective, "minimizer"))
    shape = {} if run.plan is None else run.plan.geometry
    if "L" not in shape or shape["L"].how == ESTIMATED:
        return Assumed(None, None, None)
    return Assumed(shape["L"].value, shape["μ"].value, None)


def _distance(run: Run, assumed: Assumed) -> float:
    return float(np.linalg.norm(run.w0 - assumed.minimizer))


def _from_one(scale: float, t: np.ndarray, shift: float, power: int) -> np.ndarray:
    """scale/(t + shift)ᵖ from t = 1 on."""
    later = np.where(t >= 1, t, np.nan)
    return scale / (later + shift) ** power
