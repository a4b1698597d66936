"""Internal covariate shift: do the inputs of saturating units wander while training gets nowhere?

A sigmoid or tanh behind a trained layer, with other trained layers below, gets inputs whose
distribution changes with every step below it. As in figure 1 of Ioffe & Szegedy (ICML 2015) it is
followed by its 15th, 50th and 85th percentile over training, here those of all units of a layer:

    shift = max over times t, t′ of |m_t − m_t′| / √(s_t s_t′)      m = p50,  s = (p85 − p15)/2

m and s are medians over eighths of the looks, so that the noise of batches does not count. At a
shift of 1 the middle of the inputs has wandered as far as the edge of their band: a unit that was
fitted to the middle is now fitted to the tail. Bands that only widen have no shift: units that
learn do that.

It asks for action at a shift above 1 (and above 0.1 in the units of the activation, which does not
notice less) where there is no norm, and training suffers: the loss is still within 0.7 and 1.5 of
its first value, and a layer below has an elasticity ‖g‖‖w‖/f under 0.02 (see `standing_still`).
A network that learns may have such a shift too, and has no need of a remedy; in one that diverges
everything wanders.

Ioffe & Szegedy blame the shift for slow training; others hold that batch norm helps by making the
loss smoother (Santurkar et al., NeurIPS 2018). The remedy is the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.core.finding import Finding, Severity
from thalweg.core.record import Record
from thalweg.doctor.causes import COVARIATE_SHIFT
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

PARTS = 8  # of the looks
WANDERS = 1.0  # shift
NOTICED = 0.1  # movement of the median, in units of the activation's input
SUFFERS = (0.7, 1.5)  # of the first loss
WEAK = 0.02  # elasticity


class Shift(NamedTuple):
    """How far the outputs of a layer wandered over training."""

    shift: float  # in half widths of their band
    moved: float  # max m − min m
    spread: tuple[float, float]  # s in the first eighth of the looks and in the last


def shift(record: Record, layer: str) -> Shift:
    """The score of the outputs of one layer; NaN where there are too few looks at them."""
    if len(record["look"]) < 2 * PARTS:
        return Shift(np.nan, np.nan, (np.nan, np.nan))
    p15, p50, p85 = (record.of(layer, name) for name in ("p15", "p50", "p85"))
    m, s = _parts(p50), _parts((p85 - p15) / 2)
    distance = np.abs(m[:, None] - m)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = float(np.max(np.where(distance > 0, distance / np.sqrt(s[:, None] * s), 0.0)))
    return Shift(found, float(np.ptp(m)), (float(s[0]), float(s[-1])))


def covariate_shift(facts: NetworkFacts) -> list[Finding]:
    """The layer whose outputs wander most on their way into sigmoids or tanhs, if that harms."""
    record = facts.record
    loss = record["loss"]
    scores = {k: shift(record, record.layers[k].name) for k in _feeding(record)}
    found = {k: s for k, s in scores.items() if s.shift > WANDERS and s.moved > NOTICED}
    if not found or not np.isfinite(loss).all() or loss.min() <= 0:
        return []
    first, now = np.median(loss[: max(5, len(loss) // 50)]), np.median(loss[len(loss) // 2 :])
    worst = max(found, key=lambda k: found[k].shift)
    weakest = _weakest(record, worst, float(now))
    if not SUFFERS[0] < now / first < SUFFERS[1] or weakest >= WEAK:
        return []
    name, score = record.layers[worst].name, found[worst]
    return [
        Finding(
            name=COVARIATE_SHIFT,
            severity=Severity.ACT,
            claim=(
                f"the inputs of the {record.layers[worst + 1].kind} behind {name!r} wandered by "
                f"{score.shift:.2g} half widths of their band, and the loss is at "
                f"{now / first:.0%} of its first value"
            ),
            measured=score.shift,
            limit=WANDERS,
            cause=f"the layers below {name!r} change what it gets faster than it can follow",
            advice="put a BatchNorm between each linear layer and its activation",
            rests_on="internal covariate shift: the inputs of a layer change as those below learn",
            evidence={"layer": name, **score._asdict(), "elasticity": weakest},
        )
    ]


def _feeding(record: Record) -> list[int]:
    """Linear layers that feed sigmoids or tanhs, with trained layers below and above them."""
    return [
        k
        for k, (layer, unit) in enumerate(zip(record.layers, record.layers[1:], strict=False))
        if layer.role == "linear"
        and unit.role in ("sigmoid", "tanh")
        and any(below.trainable for below in record.layers[:k])
        and any(above.trainable for above in record.layers[k + 2 :])
    ]


def _parts(column: np.ndarray) -> np.ndarray:
    return np.array([np.median(part) for part in np.array_split(column, PARTS)])


def _weakest(record: Record, layer: int, loss: float) -> float:
    """The smallest elasticity of the trained layers up to this one, in the second half."""
    looks = slice(len(record["look"]) // 2, None)
    pull = np.median(record["gradient_norm"][looks] * record["weight_norm"][looks], 0) / loss
    return float(min(pull[k] for k in range(layer + 1) if record.layers[k].trainable))
