"""Standing still: is the training held by a saddle or on a plateau?

Close to a saddle the gradient is very small, and gradient descent takes hardly a step. What small
means is told by the elasticity of a layer, the part of the loss f that its gradient g could at most
change if the weights w changed by their own size:

    e = ‖g‖‖w‖/f        |d ln f| ≤ e·‖dw‖/‖w‖

It has no unit, and is the same for large losses and small ones. Trainings that go well, or have
converged on batches, have e between 1 and 100 in every layer but the last.

**Act**: the loss has never left its first value, f(second half) ≥ 0.97 f(first steps) by medians,
and e < 0.02 in all hidden layers, at the first look as in the second half, though steps are taken.
Where the Hessian was measured and λ_min < −λ_max/50 the point is a saddle; else saddle or plateau.

**Warn**: later on, the loss falls in the second half by no more than its noise and 2 %, stays above
half of its first value, e < 0.3, and λ_min < −λ_max/50 at the median look. A training that has
converged has small negative curvatures as well: hence the limit.

λ_min is that of a few steps of Lanczos: the true one is at most that. The last layer is left out,
as its biases are moved by the noise of batches. Linear models have no saddles. Units that are dead
or saturated explain a small gradient themselves, and losses that are negative have no elasticity.
"""

from __future__ import annotations

import numpy as np

from thalweg.core.finding import Finding, Severity
from thalweg.core.record import Record
from thalweg.doctor.causes import PLATEAU
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

STEPS = 100  # fewer say nothing
LEFT = 0.97  # of its first value: above it the loss has not left
HELD = 0.02  # elasticity
CALM = 0.3  # elasticity where curvature speaks too
BENT = -0.02  # λ_min/λ_max
MOVING = 1e-5  # ‖Δw‖/‖w‖, some layer: the learning rate is not to blame
IDLE = 0.95  # share of dead or saturated units that explains all

ADVICE = (
    "leave it along the direction of negative curvature (tw.doctor.escape(model, closure)), and "
    "next time begin from larger weights (tw.nets.initialize(model, 'xavier')), with momentum"
)
RESTS_ON = "saddle points: close to one the gradient is very small, and training ceases"


def standing_still(facts: NetworkFacts) -> list[Finding]:
    """A saddle or a plateau that holds the training, if one does."""
    record = facts.record
    loss = record["loss"]
    trained = [k for k, layer in enumerate(record.layers) if layer.trainable]
    late_looks = record["look"] > record["step"][len(loss) // 2] if len(loss) else np.zeros(0, bool)
    if len(loss) < STEPS or len(trained) < 2 or late_looks.sum() < 2:
        return []
    if not (np.isfinite(loss).all() and loss.min() > 0) or _is_idle(record, late_looks):
        return []
    hidden = trained[:-1]
    late = loss[len(loss) // 2 :]
    first, now = np.median(loss[: max(5, len(loss) // 50)]), np.median(late)
    pull = record["gradient_norm"][:, hidden] * record["weight_norm"][:, hidden]
    held, began = np.median(pull[late_looks], 0).max() / now, pull[0].max() / first
    # NaN where a layer is zero: it has nothing to be compared with.
    moved = np.nan_to_num(record["update_ratio"][late_looks][:, trained])
    if np.median(moved, 0).max() < MOVING:
        return []
    smallest, largest, error = _ends(record)
    is_saddle = smallest < BENT * largest
    numbers = {
        "first_loss": float(first), "loss": float(now), "elasticity": float(held),
        "hessian_smallest": smallest, "hessian_largest": largest, "hessian_error": error,
    }  # fmt: skip
    ends = f", with λ_min = {smallest:.3g} and λ_max = {largest:.3g}" if is_saddle else ""
    if now >= LEFT * first and max(held, began) < HELD:
        kind = "a saddle" if is_saddle else "a saddle or a plateau"
        claim = (
            f"the loss has stayed at its first value ({first:.4g}, now {now:.4g}): hidden layers, "
            f"moved by their own length, would change at most {held:.1g} of it{ends}"
        )
        return [_finding(Severity.ACT, claim, float(held), HELD, kind, numbers)]
    if is_saddle and held < CALM and now > 0.5 * first and _is_flat(late):
        claim = f"the loss stands still at {now:.4g} (first {first:.4g}){ends}"
        return [_finding(Severity.WARN, claim, smallest, BENT * largest, "a saddle", numbers)]
    return []


def _finding(
    severity: Severity, claim: str, measured: float, limit: float, kind: str, numbers: dict
) -> Finding:
    return Finding(
        name=PLATEAU,
        severity=severity,
        claim=claim,
        measured=measured,
        limit=limit,
        cause=f"the weights are beside {kind}, where the gradient is too small to lead away",
        advice=ADVICE,
        rests_on=RESTS_ON,
        evidence=numbers,
    )


def _ends(record: Record) -> tuple[float, float, float]:
    """λ_min and λ_max, medians of the second half, and their largest error; NaN where unknown."""
    late = slice(len(record["loss"]) // 2, None)
    names = ("hessian_smallest", "hessian_largest", "hessian_error")
    columns = np.array([record[name][late] for name in names])
    known = columns[:, np.isfinite(columns[:2]).all(0)]
    if not known.size:
        return np.nan, np.nan, np.nan
    return float(np.median(known[0])), float(np.median(known[1])), float(known[2].max())


def _is_flat(late: np.ndarray) -> bool:
    """Whether a loss falls by at most three standard errors, and by at most 2 %."""
    before, after = np.array_split(late, 2)
    fall = np.median(before) - np.median(after)
    spread = 1.4826 * np.median(np.abs(late - np.median(late)))  # as a standard deviation
    error = 1.2533 * spread * np.sqrt(1 / len(before) + 1 / len(after))  # of two medians
    return bool(fall <= min(3 * error, 0.02 * np.median(late)))


def _is_idle(record: Record, looks: np.ndarray) -> bool:
    """Whether a whole layer of units is dead or saturated at most looks."""
    for name, role in (("dead", "relu"), ("saturated", "sigmoid"), ("saturated", "tanh")):
        layers = [k for k, layer in enumerate(record.layers) if layer.role == role]
        if (np.median(record[name][looks][:, layers], 0) > IDLE).any():
            return True
    return False
