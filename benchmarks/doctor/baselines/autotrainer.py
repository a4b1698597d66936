"""AutoTrainer (ICSE 2021): five problems of the training, three of its settings.

Asked after every third epoch and after the last, of gradients ∇ of the weights of layers:

    GV  vanishing      ‖∇first‖/‖∇last‖ < β₁ and ‖∇first‖ < β₂, and no convergence
    GE  exploding      ‖∇first‖/‖∇last‖ > β₃, and no convergence; or the loss is not finite or at
                       least 1000, and a weight or gradient is not finite
    DR  dying ReLU     at least a share γ of all entries of gradients is 0
    OL  oscillating    the training accuracy falls by ζ from a local maximum to the next minimum,
                       η·epochs times
    SC  slow           no training and validation accuracy reached Θ, and none gained δ in an epoch
    IO  output         Σ|output| over the classes > ω₂ + 0.1 or not a number, or last activation and
                       loss do not match
    IL  loss           not the binary loss for two classes and the categorical one for more, or < 0
    AD  data           mean |output| of a layer ≥ ω₁

    β₁ = 1e-3, β₂ = 1e-4, β₃ = 70, γ = 0.7, ζ = 0.03, η = 0.2, δ = 0.01, Θ = 0.6, ω₁ = 10, ω₂ = 1

OL and SC wait for 30 % of the epochs. "No convergence": the accuracies are below Θ, or SC.

Read in its favour: Θ is the 0.6 of the program, not the 0.7 of the paper. OL counts against all
epochs, so that an early wobble is none. Cross-entropy of two scores is a binary loss. Accuracy of a
regression is R²; IO and IL (but for a loss below 0) are asked of classifications only.

Not as in Keras: PyTorch's losses take scores, so Σ|output| is asked of the probabilities that the
loss makes of them. The gradient is that of the last batch of the epoch. Repair is left out.

GV → vanishing, GE → exploding (and not a number), DR → dead ReLUs, OL → learning rate too large,
SC → learning rate too small (and underfitting), IO and IL → wrong output or loss, AD → unscaled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from doctor.baselines.matching import activation_matches, loss_matches
from doctor.baselines.record import Epoch, Inspection, Record
from doctor.baselines.verdict import Verdict, verdict
from thalweg.doctor.causes import (
    DEAD,
    EXPLODING,
    NAN,
    RATE_LARGE,
    RATE_SMALL,
    UNDERFITTING,
    UNSCALED,
    VANISHING,
    WRONG_LOSS,
)

BETA1, BETA2, BETA3 = 1e-3, 1e-4, 70.0
GAMMA, ZETA, ETA, DELTA, THETA = 0.7, 0.03, 0.2, 0.01, 0.6
OMEGA1, OMEGA2 = 10.0, 1.0
LARGE_LOSS = 1e3
WAIT = 0.3  # share of the epochs before the loss is judged


def autotrainer(record: Record) -> Verdict:
    """Everything that it would have said, the earliest first."""
    return verdict(
        cause for inspection in record.inspections for cause in _causes(record, inspection)
    )


def _causes(record: Record, now: Inspection) -> Iterator[str]:
    epochs, program = record.epochs[: now.epoch], record.program
    stuck = not_converged(epochs) or is_slow(epochs)
    if stuck and vanishes(now):
        yield VANISHING
    if is_broken(now, epochs[-1].loss):
        yield from (EXPLODING, NAN)
    elif stuck and explodes(now):
        yield EXPLODING
    if now.zeros >= GAMMA:
        yield DEAD
    if now.epoch >= WAIT * program.epochs:
        if oscillates([epoch.accuracy for epoch in epochs], program.epochs):
            yield RATE_LARGE
        if is_slow(epochs):
            yield from (RATE_SMALL, UNDERFITTING)
    if record.data.classes and not (now.sums <= OMEGA2 + 0.1 and activation_matches(program)):
        yield WRONG_LOSS
    if epochs[-1].loss < 0 or not loss_matches(program, record.data.classes):
        yield WRONG_LOSS
    if now.outputs >= OMEGA1:
        yield UNSCALED


def vanishes(now: Inspection) -> bool:
    """GV, without the question of convergence."""
    return now.first_norm < BETA1 * now.last_norm and now.first_norm < BETA2


def explodes(now: Inspection) -> bool:
    """GE by the ratio, without the question of convergence."""
    return now.first_norm > BETA3 * now.last_norm


def is_broken(now: Inspection, loss: float) -> bool:
    """GE by numbers that are none."""
    return (not math.isfinite(loss) or loss >= LARGE_LOSS) and not now.is_finite


def not_converged(epochs: Sequence[Epoch]) -> bool:
    """Whether no accuracy has reached Θ."""
    reached = [value for e in epochs for value in (e.accuracy, e.validation_accuracy)]
    return not any(value >= THETA for value in reached)


def is_slow(epochs: Sequence[Epoch]) -> bool:
    """SC: low accuracies that did not grow."""
    if len(epochs) < 2 or not not_converged(epochs):
        return False
    curves = ([e.accuracy for e in epochs], [e.validation_accuracy for e in epochs])
    gains = [after - before for curve in curves for before, after in pairwise(curve)]
    return max((gain for gain in gains if not math.isnan(gain)), default=0.0) < DELTA


def oscillates(accuracies: Sequence[float], epochs: int) -> bool:
    """OL: enough falls from a local maximum to the next local minimum."""
    falls, top = 0, accuracies[0]
    for place, (before, after) in enumerate(pairwise(accuracies)):
        if after > before:
            top = after
        following = accuracies[place + 2] if place + 2 < len(accuracies) else math.inf
        if after < before and following >= after:
            falls += top - after >= ZETA
            top = after
    return falls >= ETA * epochs
