"""`treat`: name the fault, try remedies as paired experiments, keep the smallest that is proved.

    examine      train the recipe under a `watch`; findings that ask for action name causes
    screen       each remedy of the first cause, smallest change first, in one pair; those that are
                 clearly behind are ended half-way, and no more are tried once none could be better
    choose       the smallest change with 95 % of the best gain
    prove        the difference over k pairs of other seeds: `thalweg.doctor.nets.treatment.proof`
    confirm      once more on fresh seeds; what is not confirmed is reverted, and the next is chosen
    again        examine what came of it, and go on while something asks for action
    drop         of several kept changes, those without which nothing is lost

Nothing is tried at random: without a finding there is no remedy, and every remedy belongs to a
cause. With the same seed the treatment is the same.

Cost: one training to examine, one for each remedy screened, 4k for one that is kept (2k from the
second on, whose first arms are there already).
"""

from __future__ import annotations

import math
from typing import Any

from thalweg.core import clock
from thalweg.core.checks import check_callable, check_count, check_number, describe
from thalweg.core.duration import seconds_in
from thalweg.core.errors import InputError
from thalweg.core.finding import Finding, Severity
from thalweg.core.outcome import Outcome
from thalweg.doctor.causes import WRONG_LOSS
from thalweg.doctor.nets.remedies.loss import fitting_loss
from thalweg.doctor.nets.remedies.registry import remedies_for
from thalweg.doctor.nets.score import has_classes
from thalweg.doctor.nets.treatment.arms import Arms
from thalweg.doctor.nets.treatment.hold_out import hold_out
from thalweg.doctor.nets.treatment.proof import PAIRS
from thalweg.doctor.nets.treatment.rounds import Choose, Diagnose, Rounds
from thalweg.doctor.nets.treatment.treatment import Treatment
from thalweg.doctor.nets.watch import watch
from thalweg.nets.recipes.recipe import Recipe, Trained
from thalweg.nets.training.batches import Pair, pair_of

BUDGET = 40.0
LOOKS = 50  # at layers, in the training that is watched


def treat(
    recipe: Recipe,
    data: Any,
    budget: float | str = BUDGET,
    *,
    validation: Any = None,
    pairs: int = PAIRS,
    seed: int | None = None,
    diagnose: Diagnose | None = None,
    remedies: Choose = remedies_for,
) -> Treatment:
    """Find out what is wrong with `recipe` on `data`, and a change that is proved to help.

    Parameters
    ----------
    data, validation
        Pairs (x, y). Without `validation`, one row of five is held out of `data`, of each class its
        share; then all trainings are on the rest.
    budget
        Trainings of the recipe's length that may be spent, or a time: "90s", "2m", "1h", which
        counts as many trainings as the first one, watched, fits into it.
    pairs
        Pairs of an experiment, at least three.
    seed
        Where the seeds of the pairs count from, and of the rows held out; None: the recipe's.
    diagnose
        Another doctor: a function of recipe, data and validation that returns findings, of which
        those that ask for action are treated in their order. `examine` where none is given.
    remedies
        What is tried against a cause: a function from its name to remedies.
    """
    if not isinstance(recipe, Recipe):
        raise InputError(
            f"recipe must be a tw.nets.Recipe, got {describe(recipe)}: for a loop of your own, "
            "tw.doctor.suggestion(finding) says what to change"
        )
    pairs = check_count("pairs", pairs, at_least=PAIRS, advice="fewer have no interval to speak of")
    seed = recipe.seed if seed is None else check_count("seed", seed, at_least=0)
    if diagnose is not None:
        check_callable("diagnose", diagnose, signature="of recipe, data and validation")
    training, held, rows = _rows(recipe, data, validation, seed)
    limit = _budget(budget)
    begun = clock.now()
    arms = Arms(recipe, training, held, 1.0 if limit is None else limit)
    rounds = Rounds(arms, pairs, seed, diagnose or _examined, remedies)
    findings = rounds.examine(recipe)
    if limit is None:
        arms.budget = 1.0 + _seconds(str(budget)) / max(1e-3, clock.now() - begun)
    rounds.run(findings)
    kind = "mean recall of the classes" if has_classes(recipe, held[1]) else "R²"
    return Treatment(
        recipe=recipe,
        treated=rounds.current,
        findings=tuple(findings),
        accepted=tuple(rounds.accepted),
        rejected=tuple(rounds.rejected),
        gain=rounds.gain(),
        left=tuple(rounds.left),
        trainings=arms.spent,
        budget=arms.budget,
        seconds=clock.now() - begun,
        measure=f"{kind} on {rows}",
    )


def examine(recipe: Recipe, data: Pair, validation: Pair) -> tuple[list[Finding], Trained]:
    """Train `recipe` once under a watch: what is wrong, worst first, and what came of it.

    A loss that does not take the labels is a finding too: nothing could be trained to see it.
    """
    ready = recipe.prepare(data, validation)
    # Looks at fixed steps, not by the clock: a seed replays.
    with watch(
        ready.model,
        loss=recipe.loss,
        data=ready.data,
        validation=ready.validation,
        every=max(1, recipe.steps(len(ready.data[0])) // LOOKS),
    ) as w:
        run = recipe.fit(ready, probes=[w], progress=False)
    if run.outcome is Outcome.INTERRUPTED:
        raise KeyboardInterrupt  # `fit` has ended well; the treatment is to end too
    return w.diagnose(), Trained(ready.model, run)


def _examined(recipe: Recipe, data: Pair, validation: Pair) -> list[Finding]:
    try:
        return examine(recipe, data, validation)[0]
    except InputError as problem:
        fitting = fitting_loss(recipe, data)
        if fitting is None or fitting == recipe:
            raise
        claim = str(problem)
    return [
        Finding(
            WRONG_LOSS,
            Severity.ACT,
            claim,
            measured=math.nan,
            limit=math.nan,
            cause=f"{recipe.loss} does not take these labels, so that nothing can be trained",
            advice=f"use {fitting.loss}",
            rests_on="classes are told apart by cross-entropy, quantities by the squared loss",
        )
    ]


def _rows(recipe: Recipe, data: Any, validation: Any, seed: int) -> tuple[Pair, Pair, str]:
    """Training and validation rows, and the latter in words."""
    given = pair_of("data", data, "pass arrays")
    if validation is not None:
        held = pair_of("validation", validation, "pass arrays")
        return given, held, f"{len(held[0])} rows given for validation"
    training, held = hold_out(given, classes=has_classes(recipe, given[1]), seed=seed)
    return training, held, f"{len(held[0])} of {len(given[0])} rows, held out of the data"


def _budget(budget: float | str) -> float | None:
    """Trainings; None where a time was given."""
    if isinstance(budget, str):
        _seconds(budget)
        return None
    least = "a diagnosis is one, and less than that names nothing"
    return check_number("budget", budget, at_least=1.0, advice=least)


def _seconds(text: str) -> float:
    try:
        return seconds_in(text.strip(), needs_unit=True)
    except InputError as problem:
        raise InputError(
            f"budget must be a number of trainings, or a time like '90s', '2m', got {text!r}"
        ) from problem
