"""TheDeepChecker's checks at every tenth step, each of which must fail five times in a row.

Of a layer:
    ReLU units whose 95th percentile is below 1e-5: more than 50 %   → dead ReLUs
    bounded units with ρ > 0.85: more than 50 %                      → saturated units
    deviation of unbounded activations outside [0.5, 2]              → covariate shift
    |w| < 1e-5: more than 95 %                                       → zero initialization
    w < 0: more than 95 %                                            → dead ReLUs
    mean |w| > 1e8, or doubling each time                            → exploding
    mean |g| < 1e-6, or halving each time                            → vanishing
    mean |g| > 1e6, or doubling each time                            → exploding
    log₁₀(mean |Δw| / mean |w|) outside [−4, −1]                     → rate too small, too large
    gradient of the penalty / of the loss more than doubling         → too strong regularization
Of the loss, as its mean over ten steps:
    not a number                                                     → not a number
    falls by less than 5 % each time                                 → plateau, rate too small
    at least twice its minimum                                       → rate too large, exploding
    its differences change sign in more than 50 % of 50              → rate too large
    |correlation with the accuracy| < 0.5, at the end                → wrong output or loss

Read in its favour: all is asked five times in a row. Rules on the loss are silent once at most
5 % of the samples are wrong, the tool's own limit for "fitted": what is done needs not fall. Ten
steps are averaged, so that the noise of batches is no fluctuation. The spread is asked of unbounded
activations; bounded ones have ρ, the mean of |output| scaled to [−1, 1]. Layers that are not
trained are looked at like the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from doctor.baselines.observer import PERIOD
from doctor.baselines.record import Probe, Record
from thalweg.doctor.causes import (
    COVARIATE_SHIFT,
    DEAD,
    EXPLODING,
    NAN,
    PLATEAU,
    RATE_LARGE,
    RATE_SMALL,
    REGULARIZATION,
    SATURATED,
    SYMMETRIC,
    VANISHING,
    WRONG_LOSS,
)

PATIENCE = 5
UNITS, ENTRIES = 0.5, 0.95
SPREAD = (0.5, 2.0)
LARGEST_WEIGHT, GROWTH, SHRINKAGE = 1e8, 2.0, 0.5
SMALLEST_SLOPE, LARGEST_SLOPE = 1e-6, 1e6
UPDATE = (-4.0, -1.0)
DROP, DIVERGED, FITTED = 0.05, 2.0, 0.05
TURNS, TURNING_WINDOW = 0.5, 50
CORRELATION = 0.5

Rule = Callable[[Probe, Probe | None], bool]  # of a layer now and a period before


def _grew(what: str, factor: float) -> Rule:
    def rule(now: Probe, last: Probe | None) -> bool:
        before = getattr(last, what) if last is not None else 0.0
        return before > 0 and getattr(now, what) > factor * before

    return rule


def _halved(now: Probe, last: Probe | None) -> bool:
    return last is not None and now.gradient < SHRINKAGE * last.gradient


RULES: list[tuple[Rule, str]] = [
    (lambda now, _: (now.dead or 0.0) > UNITS, DEAD),
    (lambda now, _: (now.saturated or 0.0) > UNITS, SATURATED),
    (
        lambda now, _: (
            now.spread is not None
            and now.saturated is None
            and not SPREAD[0] <= now.spread <= SPREAD[1]
        ),
        COVARIATE_SHIFT,
    ),
    (lambda now, _: now.tiny > ENTRIES, SYMMETRIC),
    (lambda now, _: now.negative > ENTRIES, DEAD),
    (lambda now, _: now.weight > LARGEST_WEIGHT, EXPLODING),
    (_grew("weight", GROWTH), EXPLODING),
    (lambda now, _: now.gradient < SMALLEST_SLOPE, VANISHING),
    (_halved, VANISHING),
    (lambda now, _: now.gradient > LARGEST_SLOPE, EXPLODING),
    (_grew("gradient", GROWTH), EXPLODING),
    (lambda now, _: now.update < UPDATE[0], RATE_SMALL),
    (lambda now, _: now.update > UPDATE[1], RATE_LARGE),
    (_grew("penalty", GROWTH), REGULARIZATION),
]


def in_training(record: Record) -> Iterator[str]:
    """What the steps show, by time, and by the order of the rules at one time."""
    found = [*_of_layers(record.probes), *_of_loss(record.losses, record.accuracies)]
    for _, _, causes in sorted(found, key=lambda each: each[:2]):
        yield from causes


def _of_layers(probes: Sequence[Sequence[Probe]]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """For each rule the first period at which some layer has broken it long enough."""
    for number, (rule, cause) in enumerate(RULES):
        times = []
        for layer in zip(*probes, strict=True):
            pairs = zip(layer, [None, *layer[:-1]], strict=True)
            time = lasting([rule(now, last) for now, last in pairs])
            times += [time] if time is not None else []
        if times:
            yield min(times), number, (cause,)


def _of_loss(
    losses: Sequence[float], accuracies: Sequence[float]
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    loss, accuracy = means(losses), means(accuracies)
    open_ = [not 1.0 - each <= FITTED for each in accuracy]  # so is what is not known
    least = [min(loss[: place + 1]) for place in range(len(loss))]
    slow = [place > 0 and each > (1 - DROP) * loss[place - 1] for place, each in enumerate(loss)]
    turns = [turning(loss[max(0, k + 1 - TURNING_WINDOW) : k + 1]) for k in range(len(loss))]
    rules: list[tuple[list[bool], tuple[str, ...]]] = [
        (slow, (PLATEAU, RATE_SMALL)),
        ([each >= DIVERGED * low > 0 for each, low in zip(loss, least, strict=True)],
         (RATE_LARGE, EXPLODING)),
        (turns, (RATE_LARGE,)),
    ]  # fmt: skip
    broken = [place for place, each in enumerate(loss) if not math.isfinite(each)]
    if broken:
        yield broken[0], len(RULES), (NAN,)
    for number, (says, causes) in enumerate(rules, len(RULES) + 1):
        both = [a and b for a, b in zip(says, open_, strict=True)]
        if (time := lasting(both)) is not None:
            yield time, number, causes
    if len(loss) >= 2 * PATIENCE and abs(correlation(loss, accuracy)) < CORRELATION:
        yield len(loss), len(RULES) + 4, (WRONG_LOSS,)


def lasting(says: Sequence[bool]) -> int | None:
    """The place of the fifth in a row that is true, the first time this happens."""
    run = 0
    for place, each in enumerate(says):
        run = run + 1 if each else 0
        if run == PATIENCE:
            return place
    return None


def turning(values: Sequence[float]) -> bool:
    """Whether differences of a full window change sign in more than half of the places."""
    if len(values) < TURNING_WINDOW:
        return False
    steps = [after - before for before, after in pairwise(values)]
    turns = sum(a * b < 0 for a, b in pairwise(steps))
    return turns > TURNS * TURNING_WINDOW


def means(values: Sequence[float]) -> list[float]:
    """Of every ten steps; what is left over at the end is left out."""
    full = len(values) - len(values) % PERIOD
    return [sum(values[k : k + PERIOD]) / PERIOD for k in range(0, full, PERIOD)]


def correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Pearson's; 1 where it has no value, so that nothing is said."""
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    joint = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    size = math.sqrt(sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b))
    return joint / size if size > 0 and math.isfinite(joint / size) else 1.0
