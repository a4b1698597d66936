"""Theory's line beside a run: what a theorem guarantees for f(w_t) − f*, with its numbers.

    gd         ρ²ᵗ(f(w₀) − f*), ρ = max(|1 − ημ|, |1 − ηL|)      f μ-strongly convex, η < 2/L
               ‖w₀ − w*‖²/2ηt                                    f convex, η ≤ 1/L
    nesterov   2(1 − √(μ/L))ᵗ(f(w₀) − f*)                        f μ-strongly convex, step 1/L
               2L‖w₀ − w*‖²/(t + 1)²                             f convex, step 1/L
    fista      2L‖w₀ − w*‖²/(t + 1)²                             f convex, step 1/L

The 2 of Nesterov's is (μ/2)‖w₀ − w*‖² ≤ f(w₀) − f*. L and μ come from the objective if it is given,
else from a plan, where they are no estimates; f(w₀) − f* is the largest that the run's certificate
leaves open. ‖w₀ − w*‖ is known only of objectives that know their minimizer, as surfaces do. For
others w*, in the two bounds that have it, gives way to u, where the run ended: both proofs hold for
any point in its place, and bound f(w_t) − f(u), so that

    f(w_t) − f* ≤ ‖w₀ − u‖²/2ηt + (f(u) − f*)        f(u) − f* at most the certificate's gap

Where an assumption is not known to hold there is no line: a run with a search for its step, a
momentum of its own or one that begins anew (unless restart=False), or a method that theory says
nothing useful about. Theorems in expectation (SAG, SVRG) are for steps that nobody takes; they are
in `thalweg.theory`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from thalweg.core.objective import is_composite, known
from thalweg.core.plan import ESTIMATED, Measured
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


class Reference(NamedTuple):
    """A point that stands for the minimizer in bounds on the distance from the start."""

    squared: float  # ‖w₀ − u‖²
    excess: float  # f(u) − f*, at most
    name: str  # "w*" or "u"

    def written(self, formula: str) -> str:
        """The formula with the point's name in it, and the excess where there may be one."""
        return formula.format(self.name) + (" + f(u) − f*" if self.name == "u" else "")


def theory(
    run: Run,
    initial_gap: float | None,
    objective: Any = None,
    geometry: Mapping[str, Measured] | None = None,
) -> Theory | None:
    """The bound on f(w_t) − f* at the iterations of the trace; None where no theorem applies.

    `geometry` is that of a plan for the same objective; without it, that of the run's own.
    """
    if geometry is None and run.plan is not None:
        geometry = run.plan.geometry
    assumed = _assumed(objective, geometry or {})
    if assumed.L is None or run.options.get("schedule", "constant") != "constant":
        return None
    if run.options.get("search") is not None:  # its steps are not 1/L
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
        case "gd" if is_full and (there := _reference(run, assumed, initial_gap)):
            values = _from_one(there.squared / (2.0 * eta), t, 0.0, 1) + there.excess
            return Theory(values, there.written("‖w₀ − {}‖²/2ηt"))
        case "nesterov" if (
            assumed.mu
            and initial_gap is not None
            and step is None
            and run.options.get("momentum") in (None, "strongly-convex")
        ):
            rate = accelerated.rate(smoothness=assumed.L, strong_convexity=assumed.mu)
            return Theory(bound(2.0 * initial_gap, rate, t), "2(1 − √(μ/L))ᵗ(f(w₀) − f*)")
        case "nesterov" | "fista" if (
            step is None
            and not assumed.mu
            and run.options.get("momentum") in (None, "convex", True)
            and not run.options.get("restart")
            and (there := _reference(run, assumed, initial_gap))
        ):
            values = _from_one(2.0 * assumed.L * there.squared, t, 1.0, 2) + there.excess
            return Theory(values, there.written("2L‖w₀ − {}‖²/(t + 1)²"))
    return None


def _assumed(objective: Any, shape: Mapping[str, Measured]) -> Assumed:
    if objective is not None:
        smooth = objective.smooth if is_composite(objective) else objective
        mu = known(objective, "strong_convexity")
        # Convexity itself must be known: a surface that is not convex says None.
        if mu is None:
            return Assumed(None, None, None)
        return Assumed(known(smooth, "smoothness"), mu, known(objective, "minimizer"))
    if "L" not in shape or shape["L"].how == ESTIMATED:
        return Assumed(None, None, None)
    return Assumed(shape["L"].value, shape["μ"].value, None)


def _reference(run: Run, assumed: Assumed, initial_gap: float | None) -> Reference | None:
    """The minimizer where it is known, else where the run ended."""
    if assumed.minimizer is not None:
        return Reference(_squared(run.w0 - assumed.minimizer), 0.0, "w*")
    fall = float(run.trace["value"][0]) - run.value
    if initial_gap is None or not math.isfinite(fall):
        return None
    # f(u) − f* = (f(w₀) − f*) − (f(w₀) − f(u)), which rounding may make negative.
    return Reference(_squared(run.w0 - run.w), max(0.0, initial_gap - fall), "u")


def _squared(vector: np.ndarray) -> float:
    return float(vector @ vector)


def _from_one(scale: float, t: np.ndarray, shift: float, power: int) -> np.ndarray:
    """scale/(t + shift)ᵖ from t = 1 on."""
    later = np.where(t >= 1, t, np.nan)
    return scale / (later + shift) ** power
