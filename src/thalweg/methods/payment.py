"""When to pay for a duality gap, which costs passes over the data.

Near the optimum the gap falls like the square of the gradient norm, so after a gap G at norm g the
gap at norm g′ is about G(g′/g)²; and with a lower bound on F* from an earlier gap it is at most F −
that bound. A gap is paid for when one of these forecasts is within the limit, or when the passes
since the last one have grown by a quarter. Within `SPACING` passes of the last one it is not,
unless the forecast is well inside the limit. A method that keeps up a lower bound of its own says
itself when it is time.

And never beyond the budget: the gaps paid for so far, none of which ended the run, take at most a
fifth of its passes, their own included. Only counters decide, no clock, so that a resumed run pays
at the same iterations.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from thalweg.certificates.duality import Gap

SPACING = 10  # passes between two gaps at least
SURE = 0.1  # of the limit: a forecast below this is worth a gap at once
GROWTH = 0.25  # and of all passes so far, where the forecast says nothing
BUDGET = 0.25  # of the method's own passes, which is a fifth of all


class Payment(NamedTuple):
    """The last gap that was paid for, and what all of them have cost and shown."""

    passes: float = -SPACING  # of the run at the last gap
    norm: float = 0.0  # the gradient norm there
    gap: float = float("inf")
    floor: float = float("-inf")  # the highest lower bound on F* so far
    spent: float = 0.0  # passes of all gaps

    def is_due(
        self, passes: float, norm: float, value: float, limit: float, floor: float = -math.inf
    ) -> bool:
        """Whether to pay now; at the point of the last payment, always.

        A method that has a lower bound of its own, `floor`, needs no forecast.
        """
        since = passes - self.passes
        if since == 0:
            return True
        if floor > -math.inf:
            return value - floor <= limit and self.affords(passes)
        forecast = self.gap * (norm / self.norm) ** 2 if self.norm > 0 else 0.0
        forecast = min(forecast, value - self.floor)
        if since < SPACING:
            return forecast <= SURE * limit
        is_worth_it = forecast <= limit or since >= GROWTH * passes
        return is_worth_it and self.affords(passes)

    def affords(self, passes: float, more: float = 0.0) -> bool:
        """Whether the budget bears what was spent and as much `more`."""
        return self.spent + more <= BUDGET * passes

    def after(self, passes: float, norm: float, found: Gap) -> Payment:
        """With `found` paid for as well; a second look at the same point changes nothing."""
        if passes == self.passes:
            return self
        floor = max(self.floor, found.floor)
        return Payment(passes, norm, found.gap, floor, self.spent + found.passes)
