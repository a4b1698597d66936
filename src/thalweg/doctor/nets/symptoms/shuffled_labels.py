"""Shuffled labels: do labels still belong to their samples?

    batch_moved       the label of a row in a batch is another than in the data
    batch_skill       neighbours in the data disagree with the labels of augmented rows, though
                      among themselves they agree, and training failed
    data_signal       no simple model can tell training labels of rows that were left out, though
                      it can within the validation rows

Labels in another order can still be learnt by heart: training loss falls, and nothing else does.
"""

from __future__ import annotations

import math
from functools import partial

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import SHUFFLED
from thalweg.doctor.nets.facts.measured import above, below
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

MOVED = 0.1  # of the rows of batches
APART = 0.3  # skills
SIGMAS = 3.0
RARE = 0.2  # of a fair share: the skill of a class with so few rows says nothing

_finding = partial(
    Finding,
    SHUFFLED,
    Severity.ACT,
    rests_on="the loss is a mean over pairs (x, y); T(x) must keep the label of x",
)


def shuffled_labels(facts: NetworkFacts) -> list[Finding]:
    """The first of three signs that pairs were torn apart."""
    known = facts.measured
    moved = known.batch_moved
    if above(moved, MOVED):
        return [
            _finding(
                f"{moved:.0%} of the rows in batches had another label than in the data",
                moved,
                MOVED,
                "the loop draws samples by one order and labels by another",
                "index samples and labels by the same permutation: x[rows], y[rows]",
            )
        ]
    near, among = known.batch_skill, known.data_neighbours
    if among is not None and below(near, among - APART) and facts.course.failed:
        return [
            _finding(
                f"near rows tell the labels of augmented rows with skill {near:.2f}, and those "
                f"of rows as they are with {among:.2f}",
                near,
                among - APART,
                "augmentation makes another class of a sample, and its label stays",
                "leave this augmentation out, or change the label with the sample",
            )
        ]
    here, there = known.data_signal, known.data_signal_validation
    share, classes = known.data_smallest_share, known.data_classes
    is_rare = share is not None and classes is not None and share * classes < RARE
    noise = math.nan if known.data_signal_error is None else SIGMAS * known.data_signal_error
    if below(here, noise) and above(there, here + APART) and not is_rare:
        return [
            _finding(
                f"simple models tell training labels with skill {here:.2f}, no better than by "
                f"chance, and those of validation rows with {there:.2f}",
                here,
                noise,
                "training labels are in another order than their samples",
                "shuffle samples and labels together, and look at a few pairs by eye",
            )
        ]
    return []
