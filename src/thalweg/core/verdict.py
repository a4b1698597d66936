"""The verdict on a run: one word on what it came to, and the sentence behind it.

    CERTIFIED       the distance from the optimum is proved to be within the tolerance
    CONVERGED       the point is stationary within the tolerance, which proves no more
    FINISHED        a training was done as it was asked to, which proves nothing
    STOPPED         a training was ended before that, by a limit or by its user
    NOT CERTIFIED   a proof was asked for, and something came first: a limit, no minimum
    SADDLE          the run stands at a point from which f falls in both directions of a line
    DIVERGED        the iterates left

The outcome says why a run ended, the verdict what that is worth. Reports, `result.json`, the
terminal, lists and exit codes say this word and no other; how it looks is theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from thalweg.core.outcome import Outcome

if TYPE_CHECKING:  # the command knows these words before it loads NumPy
    from thalweg.core.run import Run

CERTIFIED, CONVERGED, FINISHED, STOPPED = "CERTIFIED", "CONVERGED", "FINISHED", "STOPPED"
NOT_CERTIFIED, SADDLE, DIVERGED = "NOT CERTIFIED", "SADDLE", "DIVERGED"
WORDS = (CERTIFIED, CONVERGED, FINISHED, STOPPED, NOT_CERTIFIED, SADDLE, DIVERGED)  # best first
DONE = (CERTIFIED, CONVERGED, FINISHED)  # what was asked for has been reached


class Point(Protocol):
    """What is known of the point where a run ended, as `tw.classify` tells it."""

    @property
    def kind(self) -> str:
        """Minimum, saddle, …"""

    @property
    def explanation(self) -> str:
        """Why."""


class Verdict(NamedTuple):
    """A word and the sentence behind it."""

    word: str  # one of WORDS
    sentence: str


def verdict_of(run: Run, point: Point | None = None) -> Verdict:
    """What a run came to; `point` is the one where it ended, if that has been looked at."""
    if run.outcome is Outcome.DIVERGED:
        return Verdict(DIVERGED, run.reason)
    if point is not None and point.kind == "saddle":
        return Verdict(SADDLE, f"{point.explanation[:1].upper()}{point.explanation[1:]}.")
    if run.certificate.holds:
        return Verdict(CONVERGED if run.certificate.gap is None else CERTIFIED, run.reason)
    if run.outcome.is_planned:
        return Verdict(FINISHED, run.reason)
    return Verdict(STOPPED if run.is_training else NOT_CERTIFIED, run.reason)
