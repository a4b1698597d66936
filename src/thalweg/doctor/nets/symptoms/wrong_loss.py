"""Wrong output or loss: can the outputs say what the labels ask, and does the loss reward it?

    unbounded     the loss falls below any number as outputs grow: its sign is flipped
    one line      more than two classes, and one output: class numbers are no quantities
    out of reach  no output of the last activation brings the loss near its least value:
                  reachable_loss > 0.4·constant_loss for classes (labels smoothed by a tenth are at
                  0.29 at most, a softmax before cross-entropy at 0.5 or more), 0.1 for numbers
                  (a tenth of the variance)
    units         targets a hundred times as large as the first outputs

A question of its own, as large first weights do the same: are scores scaled up, so that the first
loss is above four times that of a constant? log K is where cross-entropy begins.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import WRONG_LOSS
from thalweg.doctor.nets.facts.measured import above
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

CLASSES, NUMBERS = 0.4, 0.1  # of the constant's loss that must be within reach
UNITS = 100.0
FIRST = 4.0  # times the constant's loss
UNBOUNDED = -1.0


def wrong_loss(facts: NetworkFacts) -> list[Finding]:
    """The first of these that holds."""
    found = (question(facts) for question in _QUESTIONS)
    return [finding for finding in found if finding is not None][:1]


def over_scaled(facts: NetworkFacts) -> list[Finding]:
    """A first loss far above that of a constant, in a training that failed, or has yet to begin."""
    went = facts.course
    ratio = went.first / went.constant if above(went.constant, 0.0) else math.nan
    is_before = facts.measured.steps == 0
    if not ratio > FIRST or not (went.failed or is_before):
        return []
    return [
        _finding(
            f"the first loss is {went.first:.3g}, {ratio:.0f} times the {went.constant:.3g} of a "
            "constant output",
            ratio,
            FIRST,
            "scores are scaled up: probabilities are 0 or 1 from the first step on",
            "no factor behind the last layer, and a smaller scale of its first weights",
            Severity.WARN if is_before else Severity.ACT,
        )
    ]


def _unbounded(facts: NetworkFacts) -> Finding | None:
    went = facts.course
    if went.reachable is None or went.constant is None:
        return None
    least = min(went.reachable, went.constant)
    if not least < UNBOUNDED * max(1.0, abs(went.first)):
        return None
    return _finding(
        f"outputs of a free choice bring the loss to {least:.3g}, far below zero",
        least,
        UNBOUNDED,
        "the loss has no least value: its sign is flipped, or probabilities are expected and "
        "scores are given",
        "minimize the loss, not its negative; cross_entropy instead of nll_loss for scores",
    )


def _one_line(facts: NetworkFacts) -> Finding | None:
    classes, columns = facts.measured.data_classes, facts.measured.output_columns
    if not above(classes, 2.0) or columns != 1.0:
        return None
    return _finding(
        f"{classes:.0f} classes are asked of one output",
        columns,
        classes,
        "class numbers are taken for quantities on a line, or for yes and no",
        f"{classes:.0f} outputs and cross_entropy",
    )


def _out_of_reach(facts: NetworkFacts) -> Finding | None:
    went = facts.course
    limit = CLASSES if above(facts.measured.data_classes, 0.0) else NUMBERS
    if went.reachable is None or not above(went.constant, 0.0):
        return None
    share = went.reachable / went.constant
    if not share > limit:
        return None
    return _finding(
        f"no output brings the loss below {went.reachable:.3g}, {share:.0%} of the "
        f"{went.constant:.3g} that a constant gets",
        share,
        limit,
        "the last activation cannot say what the labels ask, or the loss has it inside already",
        "leave the last activation out: cross_entropy and binary_cross_entropy_with_logits take "
        "scores, a regression takes any number",
    )


def _units(facts: NetworkFacts) -> Finding | None:
    known = facts.measured
    spread, size = known.target_std, known.output_size
    is_wild = above(known.target_wildest, UNITS)  # a few targets, not all of them
    if known.data_classes != 0.0 or is_wild or not above(spread, UNITS) or not above(size, 0.0):
        return None
    ratio = spread / size
    if not ratio > UNITS:
        return None
    return _finding(
        f"targets vary by {spread:.3g}, first outputs are of size {size:.3g}",
        ratio,
        UNITS,
        "targets are in small units: weights would have to grow as much",
        "standardize the targets: (y − mean)/std, and undo it after prediction",
    )


_QUESTIONS: tuple[Callable[[NetworkFacts], Finding | None], ...] = (
    _unbounded,
    _one_line,
    _out_of_reach,
    _units,
)


def _finding(
    claim: str,
    measured: float,
    limit: float,
    cause: str,
    advice: str,
    severity: Severity = Severity.ACT,
) -> Finding:
    return Finding(
        name=WRONG_LOSS,
        severity=severity,
        claim=claim,
        measured=measured,
        limit=limit,
        cause=cause,
        advice=advice,
        rests_on="the loss of the labels' own values is least, and a first guess costs log K",
    )
