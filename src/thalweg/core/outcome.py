"""Why a run ended: an enum whose members are sentences."""

from __future__ import annotations

from enum import Enum


class Outcome(Enum):
    """The reason a run stopped. Stopping early is an outcome, never an exception."""

    CONVERGED = "The tolerance was reached."
    ITERATION_LIMIT = "The iteration limit came before the tolerance."
    TIME_LIMIT = "The time limit came before the tolerance."
    DIVERGED = "The iterates left: the value ran away or stopped being a number."
    NO_MINIMUM = "There is no minimum: the objective falls for ever along one direction."
    STALLED = "No further progress: neither the value nor the gradient norm improves any more."
    INTERRUPTED = "The run was interrupted by the user."
    FINISHED = "All epochs of the training were done."
    EARLY_STOPPED = "The validation measure stopped improving."

    @property
    def succeeded(self) -> bool:
        """Whether the tolerance was reached."""
        return self is Outcome.CONVERGED

    @property
    def is_planned(self) -> bool:
        """Whether a training ended as it was asked to, which proves nothing about its weights."""
        return self in (Outcome.FINISHED, Outcome.EARLY_STOPPED)

    @property
    def can_go_on(self) -> bool:
        """Whether more time or iterations would go on with the run."""
        return self in (Outcome.TIME_LIMIT, Outcome.ITERATION_LIMIT, Outcome.INTERRUPTED)

    @property
    def word(self) -> str:
        """The outcome as one upper-case phrase, for the start of a verdict."""
        return self.name.replace("_", " ")

    def __str__(self) -> str:
        return self.value
