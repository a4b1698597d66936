"""When to look: as often as what looks cost leaves a given share of the training's time.

    c    seconds that the last look took
    s    seconds of a typical step, own costs taken out
    a    seconds that standing by costs a step
    φ    share of the training's time that may be spent

A look every k steps costs (a + c/k)/s of the training, so that k is doubled while c > k(φs − a),
and halved while k/2 would still do. Both c and s are measured at every look: a larger batch,
another machine or a busy one move k within one look. Besides, no look begins that would bring what
was spent in all above φ times what training took in all, so that the first looks, which are many on
purpose (the start is where most goes wrong), are paid for before others come.

Standing by, too, may take no more than half of the share: where it does (a network whose step takes
some hundred microseconds), instruments rest for all but every r-th step, r a power of two.

s is a running mean in which one step counts at most for three, so that a pause (a validation, a
checkpoint) is no reason to look more often. With `every`, looks come at steps 1, 1 + every, … and
nothing adapts: the record of one seed is then the same every time.
"""

from __future__ import annotations

import math
from collections.abc import Collection

# Of the share that is spent: what the clock does not see, as caches that a look has emptied, has to
# fit as well.
MARGIN = 0.6
LONGEST = 2**20  # steps between looks
SMOOTHING = 0.1  # weight of the newest step in a running mean
PAUSE = 3.0  # times s that one step may count for
LONGEST_REST = 64  # steps


class Budget:
    """Decides at which steps to look."""

    def __init__(self, share: float, every: int | None = None, first: Collection[int] = ()) -> None:
        self.share, self.every = MARGIN * share, every
        self.first = frozenset(first)  # steps at which to look whatever it costs
        self.interval = 1 if every is None else every  # k
        self.next = 1  # the earliest step to look at
        self.spent = 0.0  # seconds, of all looks and of standing by
        self.last = 0.0  # c
        self.trained = 0.0  # seconds, pauses cut
        self.typical = math.nan  # s
        self.awake, self.asleep = math.nan, 0.0  # seconds of standing by, and of resting
        self.rest = 1  # r

    def is_due(self, step: int) -> bool:
        """Whether to look at `step`."""
        if self.every is not None:
            return (step - 1) % self.every == 0
        if step in self.first:
            return True
        return step >= self.next and self.spent + self.last <= self.share * self.trained

    def is_awake(self, step: int) -> bool:
        """Whether to stand by at `step`, if there is no look."""
        return step % self.rest == 0

    def took(self, seconds: float) -> None:
        """A step of the training took this long."""
        if math.isnan(self.typical):
            self.typical = seconds
        seconds = min(seconds, PAUSE * self.typical)
        self.typical = _mixed(self.typical, seconds)
        self.trained += seconds

    def stood_by(self, step: int, seconds: float) -> None:
        """A step without a look cost this much."""
        self.spent += seconds
        if self.is_awake(step):
            self.awake = seconds if math.isnan(self.awake) else _mixed(self.awake, seconds)
        else:
            self.asleep = _mixed(self.asleep, seconds)
        if self.every is None and not math.isnan(self.typical):
            self.rest = 1
            while self.standing > 0.5 * self.share * self.typical and self.rest < LONGEST_REST:
                self.rest *= 2

    @property
    def standing(self) -> float:
        """a: what a step without a look costs on average."""
        if math.isnan(self.awake):
            return 0.0
        return self.asleep + max(self.awake - self.asleep, 0.0) / self.rest

    def looked(self, step: int, seconds: float) -> None:
        """A look at `step` took this long: when the next one may come."""
        self.spent += seconds
        self.last = seconds
        if self.every is None and not math.isnan(self.typical):
            # Where standing by alone takes more than the share, looks are rare, but not none.
            each = max(self.share * self.typical - self.standing, 0.1 * self.share * self.typical)
            while seconds > each * self.interval and self.interval < LONGEST:
                self.interval *= 2
            while self.interval > 1 and seconds <= each * self.interval / 2:
                self.interval //= 2
        self.next = step + self.interval

    @property
    def overhead(self) -> float:
        """Seconds spent by seconds of training; NaN before the first step is over."""
        return self.spent / self.trained if self.trained else math.nan


def _mixed(mean: float, newest: float) -> float:
    return mean + SMOOTHING * (newest - mean)
