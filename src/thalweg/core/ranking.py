"""Which of several runs is best, decided here for races, reports and whoever else compares.

    1  certified      the quickest first: all of them are at the same optimum, so time is left
    2  converged      likewise
    3  trainings      by their score on held-out rows, then by the loss on them; a network is wanted
                      for rows that it has not seen, and no limit or certificate speaks of those
    4  not certified  the lowest value first: runs on one objective differ from f* by what they
                      differ from each other, while a gap is a bound that may be loose
    5  saddle         likewise
    6  diverged       in the order given, as all equals are

The score is mean recall or R², of training rows where none are held out; the loss is the last that
the trace has of held-out rows, else the value. Runs on different objectives can be put in this
order, which then says nothing about what they reached.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from thalweg.core.run import Run
from thalweg.core.verdict import DIVERGED, DONE, FINISHED, WORDS, Point, Verdict, verdict_of

HELD_OUT, TRAINING = "held out", "training"  # rows that are scored
MEASURES = ("mean recall", "R²")  # that decide, 1 being perfect

Scores = Mapping[str, Mapping[str, float]]  # rows → measure → number


class Score(NamedTuple):
    """The number that decides between trainings."""

    rows: str
    measure: str
    value: float


class Contender(NamedTuple):
    """A run, and what else is known of it."""

    run: Run
    point: Point | None = None  # where it ended, if that has been looked at
    scores: Scores = MappingProxyType({})

    @property
    def verdict(self) -> Verdict:
        """What it came to."""
        return verdict_of(self.run, self.point)

    @property
    def score(self) -> Score | None:
        """Of held-out rows, else of training rows; None where nothing was scored."""
        rows = next((name for name in (HELD_OUT, TRAINING) if self.scores.get(name)), "")
        measures = self.scores.get(rows, {})
        return next((Score(rows, name, measures[name]) for name in MEASURES if name in measures),
                    None)  # fmt: skip


def ranked(contenders: Iterable[Contender]) -> list[Contender]:
    """Best first; equals keep their order."""
    return sorted(contenders, key=place)


def held_out_loss(run: Run) -> float | None:
    """The last loss on held-out rows that the trace has; None where there is none."""
    return last_seen(run, "validation_loss")


def last_seen(run: Run, column: str) -> float | None:
    """The last number in a column of the trace that is finite."""
    if column not in run.trace.columns:
        return None
    seen = run.trace[column]
    seen = seen[np.isfinite(seen)]
    return float(seen[-1]) if seen.size else None


def place(contender: Contender) -> tuple[float, ...]:
    """What is compared, number by number, less being better."""
    run, word = contender.run, contender.verdict.word
    if word == DIVERGED:
        return (WORDS.index(DIVERGED),)
    if run.is_training:
        loss, score = held_out_loss(run), contender.score
        return (
            WORDS.index(FINISHED),
            math.inf if score is None else _finite(-score.value),
            _finite(run.value if loss is None else loss),
        )
    return (WORDS.index(word), run.seconds if word in DONE else _finite(run.value))


def _finite(number: float) -> float:
    """The number; what is none comes last."""
    return number if math.isfinite(number) else math.inf
