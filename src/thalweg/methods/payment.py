"""When to pay for a duality gap, which costs about two passes over the data.

Near the optimum the gap falls like the square of the gradient norm, so after a gap G at norm g the
gap at norm g′ is about G(g′/g)². It is paid for when that forecast is within the limit, or when the
passes since the last one have grown by a quarter. Within `SPACING` passes of the last one it is
not, unless the forecast is far inside the limit: at most a fifth of a long run goes into gaps. Only
counters decide, no clock, so that a resumed run pays at the same iterations.
"""

from __future__ import annotations

from typing import NamedTuple

SPACING = 10  # passes between two gaps at least
SURE = 1e-3  # of the limit: a forecast below this is worth a gap at once
GROWTH = 0.25  # and of all passes so far, where the forecast says nothing


class Payment(NamedTuple):
    """The last gap that was paid for."""

    passes: float = -SPACING  # of the run when it was
    norm: float = 0.0  # the gradient norm there
    gap: float = float("inf")

    def is_due(self, passes: float, norm: float, limit: float) -> bool:
        """Whether to pay now; at the point of the last payment, always."""
        since = passes - self.passes
        if since == 0:
            return True
        forecast = self.gap * (norm / self.norm) ** 2 if self.norm > 0 else 0.0
        if since < SPACING:
            return forecast <= SURE * limit
        return forecast <= limit or since >= GROWTH * passes
