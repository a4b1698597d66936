"""Does a remedy help? A paired experiment, and another one on fresh seeds.

Two recipes, as it is (A) and remedied (B), are trained with the same seeds: dᵢ = score of B − score
of A (see `thalweg.doctor.nets.score`). B helps if

    the interval of the mean of dᵢ excludes zero      (95 %, Student's t)
    the mean is at least 0.01                          one point in a hundred

with k pairs, at least three. If all pairs agree and the interval is still too wide, as it is where
A is erratic, another k are trained and judged together. A pair that does not agree ends the
experiment: with three or four pairs the interval could not exclude zero any more.

What was proved is confirmed by the same experiment on seeds that had no part in it. A change that
does nothing passes one experiment by chance in at most 2·2.5 % of cases (two looks, one side), and
both in a quarter of a per cent.
"""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.doctor.nets.treatment.arms import Arms
from thalweg.doctor.nets.treatment.interval import Interval, paired_interval
from thalweg.nets.recipes.recipe import Recipe

PAIRS = 3  # at least
MINIMUM = 0.01  # of the score: less is not worth a change


def helps(interval: Interval) -> bool:
    """Whether the interval excludes zero, with a mean that is worth it."""
    return interval.low > 0.0 and interval.mean >= MINIMUM


def prove(
    arms: Arms, before: Recipe, after: Recipe, seeds: Sequence[int], spare: float = 0.0
) -> Interval:
    """The interval of `after` − `before`, from the first half of `seeds`, or from all.

    All are used where the pairs of the first half agree, the interval includes zero, and the budget
    has room for more, `spare` trainings left for what comes after.
    """
    differences: list[float] = []
    half = len(seeds) // 2
    for number, seed in enumerate(seeds):
        if number == half and (
            helps(paired_interval(differences))
            or reserve(arms, before, after, seeds[half:]) + spare > arms.left()
        ):
            break
        gain = arms.train(after, seed).score - arms.train(before, seed).score
        differences.append(gain)
        if gain <= 0.0:
            break
    return paired_interval(differences)


def reserve(arms: Arms, before: Recipe, after: Recipe, seeds: Sequence[int]) -> float:
    """What it takes to prove `after` on `seeds`, in trainings."""
    return sum(
        arms.length(recipe)
        for seed in seeds
        for recipe in (before, after)
        if not arms.has(recipe, seed)
    )
