"""How many more iterations a run would take: as it went lately, and as κ allows.

The gradient norm of the last half of the trace is fitted by a line in the logarithm. Where it went
up and down, or stopped falling, there is no rate, and no forecast is made from one.
"""

from __future__ import annotations

import math

import numpy as np

from thalweg.certificates.decrement import DECREMENT
from thalweg.certificates.duality import DUALITY_GAP
from thalweg.curvature.extent import Extent
from thalweg.methods.ending import Ending

FORECAST_FROM = 6  # iterations; fewer say nothing of the rate
SQUARES = (DUALITY_GAP, DECREMENT)  # kinds of certificates that fall like a norm's square
HOPELESS = 100.0  # times the iterations so far: a forecast this far is no progress


def forecast(ending: Ending, ends: Extent | None) -> str:
    """How many more iterations it would take: as the run went lately, and as κ allows."""
    last = ending.trace.last
    per_iteration = last["seconds"] / max(1.0, last["iteration"])
    if last["iteration"] < FORECAST_FROM:
        return ""
    more = iterations_to_go(ending)
    if more is None:
        return "The gradient norm did not fall in the last half of the run."
    text = f"At the rate of the last half it needs about {more:,.0f} more "
    text += f"({more * per_iteration:.2g} s)"
    power = ending.method.kappa_power
    if power and ends and ends.smallest > ends.rounding:
        kappa = ends.largest / ends.smallest
        worst = kappa**power * math.log(ending.certificate.measured / ending.certificate.limit)
        if worst > 2 * more:
            law = "κ" if power == 1.0 else "√κ"
            text += f", at the worst that {law} allows about {worst:,.0f} "
            text += f"({worst * per_iteration:.2g} s)"
    return f"{text}."


def iterations_to_go(ending: Ending) -> float | None:
    """Iterations until the gradient norm is small enough, if it goes on falling as it did."""
    norms, iterations = ending.trace["gradient_norm"], ending.trace["iteration"]
    half = len(norms) // 2
    if len(norms) - half < 3 or not np.all(norms[half:] > 0):
        return None
    third, fourth = np.array_split(norms[half:], 2)
    if not np.median(fourth) < (1.0 - 1e-9) * np.median(third):
        return None  # it fell before, and has stopped since
    slope, offset = np.polyfit(iterations[half:], np.log(norms[half:]), 1)
    scatter = np.std(np.log(norms[half:]) - offset - slope * iterations[half:])
    if not -slope * (iterations[-1] - iterations[half]) > scatter:
        return None  # up and down, with no rate to forecast from
    now = offset + slope * iterations[-1]
    certificate = ending.certificate
    if certificate.limit == 0.0:
        return None  # F(w = 0, best b) = 0: nothing but the optimum itself will do
    goal = math.log(certificate.limit)
    if certificate.kind in SQUARES:
        goal = now + 0.5 * math.log(certificate.limit / certificate.measured)
    return max(1.0, (goal - now) / slope)


def circles(ending: Ending) -> bool:
    """Whether steps of a given length gained nothing in the last half: not f, not the gradient."""
    if "lr" not in ending.method.options or ending.trace.last["iteration"] < FORECAST_FROM:
        return False
    values = ending.trace["value"]
    third, fourth = np.array_split(values[len(values) // 2 :], 2)
    more = iterations_to_go(ending)
    is_hopeless = more is None or more > HOPELESS * ending.trace.last["iteration"]
    return bool(fourth.max() >= np.median(third)) and is_hopeless
