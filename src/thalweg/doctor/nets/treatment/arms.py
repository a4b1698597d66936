"""Arms: trainings of recipes by seed, each done once, within a budget.

The seed decides first weights, order of the rows, dropout and augmentation, so that two recipes
trained with one seed are a pair. The budget counts trainings: one is as many steps as the recipe
that is treated takes. A training that was ended early counts by its share of them. Nothing is begun
that could go beyond the budget.

An arm is hopeless, and ended, if at half or at three quarters of its way it is clearly behind where
another arm of its seed was by then. An arm whose recipe does not take the data, or whose
training diverged, has the floor of the score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from thalweg.core import clock
from thalweg.core.errors import InputError
from thalweg.core.outcome import Outcome
from thalweg.doctor.nets.score import floor, score
from thalweg.nets.recipes.recipe import Recipe
from thalweg.nets.training.batches import Pair

LOOKS = (0.5, 0.75)  # shares of a training after which it may be ended
BEHIND = 0.1  # in score: clearly behind, at a look


class OutOfBudgetError(Exception):
    """What was to be trained next does not fit any more."""


@dataclass(frozen=True)
class Arm:
    """What came of one recipe with one seed."""

    score: float
    curve: tuple[float, ...]  # the score at each of LOOKS that was reached
    note: str = ""  # why it is not what it might have been

    @property
    def is_ended(self) -> bool:
        """Whether it was hopeless."""
        return self.note.startswith("ended")


@dataclass
class Arms:
    """Trains what is asked for, remembers it and counts."""

    recipe: Recipe  # whose length is one training
    data: Pair
    validation: Pair
    budget: float
    spent: float = 0.0
    seconds: float = 0.0
    done: dict[str, Arm] = field(default_factory=dict)

    def length(self, recipe: Recipe) -> float:
        """Steps of `recipe`, in trainings."""
        return self._steps(recipe) / self._steps(self.recipe)

    def left(self) -> float:
        """What may still be spent."""
        return self.budget - self.spent

    def charge(self, trainings: float) -> None:
        """Count `trainings`; raise where they are more than is left."""
        if trainings > self.left() + 1e-9:
            raise OutOfBudgetError
        self.spent += trainings

    def has(self, recipe: Recipe, seed: int) -> bool:
        """Whether this was trained already."""
        return _key(recipe, seed) in self.done

    def train(self, recipe: Recipe, seed: int, ahead: Sequence[Arm] = ()) -> Arm:
        """The arm of `recipe` and `seed`, ended when clearly behind those `ahead`."""
        key = _key(recipe, seed)
        if key not in self.done:
            whole = self.length(recipe)
            self.charge(whole)
            begun = clock.now()
            arm, share = self._run(recipe.changed(seed=seed), ahead)
            self.seconds += clock.now() - begun
            self.spent -= (1.0 - share) * whole
            if arm.is_ended:
                return arm
            self.done[key] = arm
        return self.done[key]

    def _run(self, recipe: Recipe, ahead: Sequence[Arm]) -> tuple[Arm, float]:
        """The arm, and the share of its steps that was taken."""
        lowest = floor(self.recipe, self.validation[1])
        look = _Look(recipe, self.validation, ahead)
        held = self.validation if recipe.patience is not None else None
        try:
            model, run = recipe.train(self.data, held, probes=[look], progress=False)
        except InputError as problem:
            return Arm(lowest, (), f"refused: {problem}"), 0.0
        if run.outcome is Outcome.INTERRUPTED and not look.is_behind:
            raise KeyboardInterrupt  # `fit` has ended well; the treatment is to end too
        share = min(1.0, float(run.trace.last["iteration"]) / self._steps(recipe))
        curve = tuple(look.curve)
        if run.outcome is Outcome.DIVERGED:
            return Arm(lowest, curve, "diverged"), share
        if look.is_behind:
            note = f"ended at {100 * LOOKS[len(curve) - 1]:.0f} % of its way, clearly behind"
            return Arm(curve[-1], curve, note), share
        return Arm(score(recipe, model, self.validation), curve), share

    def _steps(self, recipe: Recipe) -> int:
        return recipe.steps(len(self.data[0]))


class _Look:
    """A probe of `fit`: the score at LOOKS, and whether to go on."""

    def __init__(self, recipe: Recipe, validation: Pair, ahead: Sequence[Arm]) -> None:
        self.recipe, self.validation, self.ahead = recipe, validation, ahead
        self.curve: list[float] = []
        self.is_behind = False

    def __call__(self, moment: Any) -> bool:
        at = len(self.curve)
        if at == len(LOOKS) or moment.progress < LOOKS[at]:
            return False
        self.curve.append(score(self.recipe, moment.model, self.validation))
        best = max((arm.curve[at] for arm in self.ahead if len(arm.curve) > at), default=-math.inf)
        self.is_behind = self.curve[-1] < best - BEHIND
        return self.is_behind


def _key(recipe: Recipe, seed: int) -> str:
    return recipe.changed(seed=seed).to_toml()
