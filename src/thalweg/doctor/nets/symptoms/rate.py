"""The learning rate: too large for the curvature, or too small for the way to go.

Too large. On a quadratic of curvature λ the steps grow instead of shrinking above

    η·λ_max ≤ 2                     gradient descent
    η·λ_max ≤ 2(1 + β)              heavy ball
    η·λ_max ≤ 2(1 + β)/(1 + 2β)     Nesterov
    η·λ_max(D^(−½)HD^(−½)) ≤ 2(1 + β₁)/(1 − β₁)    Adam and its like, D their scaling

Then each step crosses the valley and lands higher on the other side: the loss oscillates. Networks
move to the edge of it by themselves, so that it counts only where training failed. So does a step
that changes weights by a tenth and more of their size each time.

Too small. Relative changes ‖Δw‖/‖w‖, added over all steps, say how far the weights can have got
in the whole training. Where they come to less than one half, and training failed, it did not get
away from where it began. A schedule that lowers the rate to nothing does the same from then on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from thalweg.core.finding import Finding, Severity
from thalweg.core.record import Record
from thalweg.doctor.causes import ADAGRAD, RATE_LARGE, RATE_SMALL
from thalweg.doctor.nets.facts.measured import above, below
from thalweg.doctor.nets.facts.network_facts import NetworkFacts
from thalweg.theory.stability import heavy_ball_limit, nesterov_limit

UPDATE = 0.1  # of the size of the weights, at each step
MOVED = 0.5  # of their size, in all
SCHEDULE = 1e-3  # of the largest rate
OWN, STANDARD = 0.5, 0.1  # what sixteen samples cost with its own optimizer, and with Adam's


def rate_large(facts: NetworkFacts) -> list[Finding]:
    """η·λ_max above its limit, or weights that change by their own size."""
    went, record = facts.course, facts.record
    if not went.failed:
        return []
    edge, limit = _edge(record)
    update = _typical(facts)
    if edge > limit:
        claim, measured = f"η·λ_max = {edge:.3g}, above its limit {limit:.3g}", edge
    elif update > UPDATE:
        claim, measured, limit = f"weights change by {update:.0%} at each step", update, UPDATE
    elif went.diverged and not math.isnan(went.last):
        claim, measured = f"the loss rose from {went.first:.3g} to {went.last:.3g}", went.last
        limit = 2 * went.first
    else:
        return []
    rate = float(np.nanmax(record["rate"]))
    return [
        Finding(
            name=RATE_LARGE,
            severity=Severity.ACT,
            claim=claim,
            measured=measured,
            limit=limit,
            cause=f"steps at the rate {rate:.3g} go past the valley and up the other side",
            advice=f"a learning rate of {_better(rate, edge, limit, update):.1g}",
            rests_on="gradient descent converges for η < 2/L; above it the steps grow",
            evidence={"rate": rate, "edge": edge, "update": update},
        )
    ]


def rate_small(facts: NetworkFacts) -> list[Finding]:
    """Weights that can hardly have moved, in a training that failed."""
    went, known, record = facts.course, facts.measured, facts.record
    if not went.failed or went.diverged or known.steps is None:
        return []
    moved = _typical(facts) * known.steps
    rates = record["rate"][~np.isnan(record["rate"])]
    fell = float(rates[-1] / rates.max()) if len(rates) and rates.max() > 0 else 1.0
    own, standard = known.small_fit, known.small_fit_standard
    if moved < MOVED:
        claim, measured, limit = f"all steps together moved weights by {moved:.2g}", moved, MOVED
    elif fell < SCHEDULE:
        claim, measured, limit = f"the rate fell to {fell:.1g} of what it was", fell, SCHEDULE
    elif above(own, OWN) and below(standard, STANDARD) and not _is_wild(record):
        claim = (
            f"sixteen samples are fitted to {own:.2f} by its own optimizer in 200 steps, and to "
            f"{standard:.2f} by Adam"
        )
        measured, limit = own, OWN
    else:
        return []
    rate = float(rates.max()) if len(rates) else math.nan
    return [
        Finding(
            name=RATE_SMALL,
            severity=Severity.ACT,
            claim=claim,
            measured=measured,
            limit=limit,
            cause="steps are too short for the way that is to go",
            advice="a learning rate ten times as large, again until the loss is unsteady, or "
            "Adam at 0.001",
            rests_on="gradient descent shrinks the distance by 1 − ημ a step: 1/(ημ) steps",
            evidence={"rate": rate, "moved": moved, "fell": fell},
        )
    ]


def adagrad(facts: NetworkFacts) -> list[Finding]:
    """AdaGrad, whose steps have died out before the network has learnt."""
    went, record = facts.course, facts.record
    if not went.failed or went.diverged or not record.optimizers:
        return []
    if str(record.optimizers[0]["name"]).lower() != "adagrad":
        return []
    update = _updates(facts)
    rate = float(np.nanmax(record["rate"]))
    last = float(update[-1]) if len(update) else math.nan
    return [
        Finding(
            name=ADAGRAD,
            severity=Severity.ACT,
            claim=f"AdaGrad's last steps change weights by {last:.1g}, and training has learnt "
            f"{max(went.learnt, 0):.0%} of what there is",
            measured=last,
            limit=1e-3,
            cause=f"the rate {rate:.3g} is divided by the root of a sum that only grows",
            advice="RMSProp or Adam, which forget old gradients; no lr_decay, no initial sum",
            rests_on="AdaGrad: η/√(Σg² + ε), whose steps shrink to nothing",
        )
    ]


def limit_of(settings: Mapping[str, Any]) -> float:
    """The largest η·λ that an optimizer with these settings bears."""
    if "betas" in settings:
        beta = float(settings["betas"][0])
        return 2.0 * (1.0 + beta) / (1.0 - beta)
    # PyTorch takes a momentum of 1 and more, with which nothing is stable; theory does not.
    beta = min(float(settings.get("momentum") or 0.0), math.nextafter(1.0, 0.0))
    if settings.get("nesterov") or settings["name"] == "Nesterov":
        return nesterov_limit(1.0, beta)
    return heavy_ball_limit(1.0, beta)


def _edge(record: Record) -> tuple[float, float]:
    """η·λ_max, as the optimizer sees it, at the first place it was measured; and its limit."""
    if not record.optimizers:
        return math.nan, math.nan
    adaptive = record["hessian_preconditioned"]
    largest = record["hessian_largest"] if np.isnan(adaptive).all() else adaptive
    seen = np.flatnonzero(~np.isnan(largest))
    if not len(seen):
        return math.nan, math.nan
    values = (largest * record["rate"])[seen]
    # An adaptive scaling is not ready after one step.
    value = values[0] if largest is record["hessian_largest"] else np.median(values)
    return float(value), limit_of(record.optimizers[0])


def _updates(facts: NetworkFacts) -> np.ndarray:
    """‖Δw‖/‖w‖ at each look, the median of the layers that are trained."""
    table = facts.record["update_ratio"][:, facts.trained_layers]
    rows = table[~np.isnan(table).all(1)]
    return np.nanmedian(rows, 1) if rows.size else np.empty(0)


def _typical(facts: NetworkFacts) -> float:
    updates = _updates(facts)
    updates = updates[np.isfinite(updates)]
    return float(updates.mean()) if len(updates) else math.nan


def _is_wild(record: Record) -> bool:
    edge, limit = _edge(record)
    return edge > 0.5 * limit


def _better(rate: float, edge: float, limit: float, update: float) -> float:
    """Half of the limit, or a change of 0.1 % at each step."""
    if edge > limit:
        return 0.5 * rate * limit / edge
    if update > UPDATE:
        return rate * 1e-3 / update
    return rate / 10.0
