"""Which penalty of a grid: the one with the best mean score, or the strongest that is as good.

    m(λ) = mean over folds of the score, higher is better        s(λ) = its standard error

    "best"                  λ* = the first with the largest m
    "one-standard-error"    the strongest λ with m(λ) ≥ m(λ*) − s(λ*)

The mean is known to within its error alone: what is simpler and no worse than that is the choice of
Breiman et al., Classification and Regression Trees (1984), §3.4.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.core.errors import InputError

BEST, ONE_ERROR = "best", "one-standard-error"
RULES = (BEST, ONE_ERROR)


@dataclass(frozen=True)
class Choice:
    """A penalty that was chosen, and how good it is known to be."""

    penalty: Mapping[str, float]
    score: float  # its mean, higher is better
    error: float  # the standard error of that; NaN where there is no more than one score
    best_penalty: Mapping[str, float]  # that of the largest mean
    best_score: float
    best_error: float
    scores: int  # how many there were of each penalty
    measure: str  # what the scores are, and of what
    rule: str
    index: int  # of the penalty among the points of the grid

    def __str__(self) -> str:
        said = f"{_named(self.penalty)}: {self.measure} {_with_error(self.score, self.error)}"
        if self.rule == BEST:
            return f"{said}, the best of the grid"
        best = f"{_named(self.best_penalty)} has {_with_error(self.best_score, self.best_error)}"
        return f"{said}, the strongest penalty within one standard error of the best: {best}"


def choose(
    scores: np.ndarray,
    strengths: np.ndarray,
    penalties: Sequence[Mapping[str, float]],
    measure: str,
    rule: str,
) -> Choice:
    """The choice among points with `scores`, float64[folds, K], and penalties of these strengths.

    Of penalties that are equally strong the better one is simpler than none.
    """
    means = scores.mean(axis=0)
    count = len(scores)
    spreads = scores.std(axis=0, ddof=1) if count > 1 else np.full_like(means, np.nan)
    errors = spreads / count**0.5
    best = _first_best(means)
    chosen = best
    if rule == ONE_ERROR:
        if not np.isfinite(errors[best]):
            raise InputError(
                f"rule='one-standard-error' needs the scores of two folds or more, got {count}: "
                "use rule='best', or give cv=5"
            )
        is_as_good = np.flatnonzero(means >= means[best] - errors[best])
        order = np.lexsort((-means[is_as_good], -strengths[is_as_good]))
        chosen = int(is_as_good[order[0]])
    return Choice(
        penalty=penalties[chosen],
        score=float(means[chosen]),
        error=float(errors[chosen]),
        best_penalty=penalties[best],
        best_score=float(means[best]),
        best_error=float(errors[best]),
        scores=count,
        measure=measure,
        rule=rule,
        index=chosen,
    )


def _first_best(means: np.ndarray) -> int:
    """The first of the largest; a NaN is the worst."""
    return int(np.argmax(np.where(np.isnan(means), -np.inf, means)))


def _named(penalty: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in penalty.items())


def _with_error(score: float, error: float) -> str:
    return f"{score:.4g}" if np.isnan(error) else f"{score:.4g} ± {error:.2g}"
