"""`treat`: name the fault, try remedies as paired experiments, keep the smallest that is proved.

    examine      train the recipe under a `watch`; findings that ask for action name causes
    screen       each remedy of the first cause, smallest change first, in one pair; those that are
                 clearly behind are ended half-way, and no more are tried once none could be better
    choose       the smallest change with 95 % of the best gain
    prove        the difference over k pairs of other seeds: `thalweg.doctor.treatment.proof`
    confirm      once more on fresh seeds; what is not confirmed is reverted, and the next is chosen
    again        examine what came of it, and go on while something asks for action
    drop         of several kept changes, those without which nothing is lost

Nothing is tried at random: without a finding there is no remedy, and every remedy belongs to a
cause. With the same seed the verdict is the same.

Cost: one training to examine, one for each remedy screened, 4k for one that is kept (2k from the
second on, whose first arms are there already).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import torch

from thalweg.core.checks import check_callable, check_count, check_number, describe
from thalweg.core.errors import InputError
from thalweg.core.finding import Finding, Severity
from thalweg.core.outcome import Outcome
from thalweg.doctor.causes import WRONG_LOSS
from thalweg.doctor.remedies.loss import fitting_loss
from thalweg.doctor.remedies.registry import remedies_for
from thalweg.doctor.remedies.remedy import Remedy
from thalweg.doctor.score import Pair, has_classes
from thalweg.doctor.treatment.arms import Arm, Arms, OutOfBudgetError
from thalweg.doctor.treatment.hold_out import hold_out
from thalweg.doctor.treatment.interval import Interval, paired_interval
from thalweg.doctor.treatment.proof import MINIMUM, PAIRS, helps, prove, reserve
from thalweg.doctor.treatment.verdict import Trial, Verdict, judged
from thalweg.doctor.watch import watch
from thalweg.nets.recipes.recipe import Recipe, Trained
from thalweg.nets.training.batches import as_tensor
from thalweg.nets.training.inputs import Inputs
from thalweg.nets.training.losses import loss_of

BUDGET = 40.0
ENOUGH = 0.95  # of the best gain: a smaller change that brings this much is preferred
LOOKS = 50  # at layers, in the training that is watched
ROWS = 256  # for its curvature

Diagnose = Callable[[Recipe, Pair, Pair], Sequence[Finding]]
Choose = Callable[[str], Sequence[Remedy]]  # remedies for a cause


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
) -> Verdict:
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
    begun = time.perf_counter()
    arms = Arms(recipe, training, held, 1.0 if limit is None else limit)
    course = _Course(arms, pairs, seed, diagnose or _examined, remedies)
    findings = course.examine(recipe)
    if limit is None:
        arms.budget = 1.0 + _seconds(str(budget)) / max(1e-3, time.perf_counter() - begun)
    course.run(findings)
    kind = "mean recall of the classes" if has_classes(recipe, held[1]) else "R²"
    return Verdict(
        recipe=recipe,
        treated=course.current,
        findings=tuple(findings),
        accepted=tuple(course.accepted),
        rejected=tuple(course.rejected),
        gain=course.gain(),
        left=tuple(course.left),
        trainings=arms.spent,
        budget=arms.budget,
        seconds=time.perf_counter() - begun,
        measure=f"{kind} on {rows}",
    )


def examine(recipe: Recipe, data: Pair, validation: Pair) -> tuple[list[Finding], Trained]:
    """Train `recipe` once under a watch: what is wrong, worst first, and what came of it.

    A loss that does not take the labels is a finding too: nothing could be trained to see it.
    """
    ready = recipe.prepare(data, validation)
    model, (x, y) = ready.model, ready.data
    inputs, loss = Inputs(model), loss_of(recipe.loss)
    steps = recipe.epochs * -(-len(x) // (recipe.batch_size or len(x)))

    def closure() -> torch.Tensor:
        return loss(model(inputs(x[:ROWS])), inputs.labels(y[:ROWS], loss))

    # Looks at fixed steps, not by the clock: a seed replays.
    with watch(model, closure=closure, every=max(1, steps // LOOKS)) as w:
        run = recipe.fit(ready, probes=[w], progress=False)
    if run.outcome is Outcome.INTERRUPTED:
        raise KeyboardInterrupt  # `fit` has ended well; the treatment is to end too
    return w.diagnose(), Trained(model, run)


def _examined(recipe: Recipe, data: Pair, validation: Pair) -> list[Finding]:
    try:
        return examine(recipe, data, validation)[0]
    except InputError as problem:
        fitting = fitting_loss(recipe, data)
        if fitting is None or fitting == recipe:
            raise
        claim = str(problem)
    return [Finding(WRONG_LOSS, Severity.ACT, claim, float("nan"), float("nan"))]


class _Course:
    """A treatment under way: the recipe as it is now, and all that was tried."""

    def __init__(
        self, arms: Arms, pairs: int, seed: int, diagnose: Diagnose, remedies: Choose
    ) -> None:
        self.arms, self.diagnose, self.remedies = arms, diagnose, remedies
        self.first = seed  # of the screening
        count = 2 * pairs
        self.proof_seeds = range(seed + 1, seed + 1 + count)
        self.fresh_seeds = range(seed + 1 + count, seed + 1 + 2 * count)
        self.pairs = pairs
        self.current = arms.recipe
        self.accepted: list[Trial] = []
        self.kept: list[dict[str, Any]] = []  # fields that each accepted trial changed
        self.rejected: list[Trial] = []
        self.left: list[Finding] = []
        self.tried: set[str] = set()

    def examine(self, recipe: Recipe) -> list[Finding]:
        """Findings that ask for action; a training is charged for them."""
        self.arms.charge(self.arms.length(recipe))
        found = self.diagnose(recipe, self.arms.data, self.arms.validation)
        self.left = [finding for finding in found if finding.severity is Severity.ACT]
        return self.left

    def run(self, findings: Sequence[Finding]) -> None:
        """Treat and examine again until nothing is found, nothing helps, or the budget is spent."""
        try:
            while findings and self._treat(findings):
                findings = self.examine(self.current)
            self._drop()
        except OutOfBudgetError:
            pass

    def gain(self) -> Interval | None:
        """Of the current recipe over the first, on the fresh seeds that both were trained on."""
        done, first = self.arms, self.arms.recipe
        if not self.accepted:
            return None
        return paired_interval([
            done.train(self.current, seed).score - done.train(first, seed).score
            for seed in self.fresh_seeds
            if done.has(self.current, seed) and done.has(first, seed)
        ])  # fmt: skip

    def _treat(self, findings: Sequence[Finding]) -> bool:
        """Whether a remedy was kept, of the first cause for which one helps."""
        for cause in dict.fromkeys(finding.name for finding in findings):
            candidates = self._screen(cause)
            while candidates:
                chosen = _smallest(candidates)
                candidates = [each for each in candidates if each is not chosen]
                if self._test(*chosen):
                    for _, trial, _ in candidates:
                        self._reject(trial, f"{chosen[1].remedy} was preferred")
                    return True
        return False

    def _screen(self, cause: str) -> list[_Candidate]:
        """The remedies for `cause` that gain something in one pair."""
        arms, found = self.arms, []
        ahead: list[Arm] = []
        for remedy in self.remedies(cause):
            after = remedy.change(self.current, arms.data)
            if after is None or after == self.current or after.to_toml() in self.tried:
                continue
            self.tried.add(after.to_toml())
            trial = Trial(remedy.name, cause, self.current.difference(after), 0.0)
            proof = self._reserve(after)
            before = 0.0 if arms.has(self.current, self.first) else arms.length(self.current)
            if arms.length(after) + before + proof > arms.left():
                self._reject(trial, "no budget to prove it")
                continue
            now = arms.train(self.current, self.first)
            arm = arms.train(after, self.first, [now, *ahead])
            gain = arm.score - now.score
            trial = judged(trial, "", screened=gain)
            if arm.note or gain < MINIMUM:
                self._reject(trial, arm.note or f"{gain:+.3f} in one pair")
                continue
            ahead.append(arm)
            found.append((remedy.size, trial, after))
            # Later ones are larger changes: to be chosen they would have to gain more than can be.
            if gain >= ENOUGH * (1.0 - now.score):
                break
        return found

    def _reserve(self, after: Recipe) -> float:
        """What proof and confirmation of `after` take."""
        seeds = [*self.proof_seeds[: self.pairs], *self.fresh_seeds[: self.pairs]]
        return reserve(self.arms, self.current, after, seeds)

    def _test(self, size: int, trial: Trial, after: Recipe) -> bool:
        """Prove and confirm; keep the change, or leave things as they were."""
        if self._reserve(after) > self.arms.left():
            self._reject(trial, "no budget to prove it")
            return False
        proof = prove(self.arms, self.current, after, self.proof_seeds)
        trial = judged(trial, "", proof=proof)
        if not helps(proof):
            self._reject(trial, f"not proved: {proof}")
            return False
        confirmation = prove(self.arms, self.current, after, self.fresh_seeds)
        trial = judged(trial, "", confirmation=confirmation)
        if not helps(confirmation):
            self._reject(trial, f"not confirmed: {confirmation}")
            return False
        self.accepted.append(judged(trial, "kept"))
        self.kept.append(_changes(self.current, after))
        self.current = after
        return True

    def _drop(self) -> None:
        """Of several kept changes, take back those without which nothing is lost."""
        for trial in list(self.accepted):
            if len(self.accepted) < 2:
                return
            at = self.accepted.index(trial)
            others = [change for number, change in enumerate(self.kept) if number != at]
            without = self.arms.recipe
            for change in others:
                without = without.changed(**change)
            lost = self._lost(without)
            if lost is not None and lost.mean < MINIMUM and not helps(lost):
                self._reject(trial, f"not needed beside the others: {lost}")
                del self.accepted[at], self.kept[at]
                self.current = without

    def _lost(self, without: Recipe) -> Interval | None:
        """What `without` scores less than the current recipe; None where nobody can afford to know.

        The same recipe, as where a later change replaced all of an earlier one, costs nothing.
        """
        seeds = self.fresh_seeds[: self.pairs]
        if reserve(self.arms, self.current, without, seeds) > self.arms.left():
            return None
        return paired_interval([
            self.arms.train(self.current, seed).score - self.arms.train(without, seed).score
            for seed in seeds
        ])  # fmt: skip

    def _reject(self, trial: Trial, why: str) -> None:
        self.rejected.append(judged(trial, why))


_Candidate = tuple[int, Trial, Recipe]  # size of the change, what is known of it, what it gives


def _smallest(candidates: Sequence[_Candidate]) -> _Candidate:
    """The smallest change with most of the best gain."""
    best = max(trial.screened for _, trial, _ in candidates)
    enough = [each for each in candidates if each[1].screened >= ENOUGH * best]
    return min(enough, key=lambda each: each[0])


def _changes(before: Recipe, after: Recipe) -> dict[str, Any]:
    names = [each.name for each in fields(Recipe)]
    return {n: getattr(after, n) for n in names if getattr(after, n) != getattr(before, n)}


def _rows(recipe: Recipe, data: Any, validation: Any, seed: int) -> tuple[Pair, Pair, str]:
    """Training and validation rows, and the latter in words."""
    given = _pair("data", data)
    if validation is not None:
        held = _pair("validation", validation)
        return given, held, f"{len(held[0])} rows given for validation"
    training, held = hold_out(given, classes=has_classes(recipe, given[1]), seed=seed)
    return training, held, f"{len(held[0])} of {len(given[0])} rows, held out of the data"


def _pair(name: str, data: Any) -> Pair:
    if not (isinstance(data, tuple | list) and len(data) == 2):
        raise InputError(f"{name} must be a pair (x, y), got {describe(data)}: pass arrays")
    x, y = (as_tensor(part, name, letter) for part, letter in zip(data, "xy", strict=True))
    if x.ndim == 0 or y.ndim == 0 or len(x) == 0 or len(x) != len(y):
        raise InputError(
            f"{name} must have at least one row and as many labels, got {list(x.shape)} samples "
            f"and {list(y.shape)} labels"
        )
    return x, y


def _budget(budget: float | str) -> float | None:
    """Trainings; None where a time was given."""
    if isinstance(budget, str):
        _seconds(budget)
        return None
    least = "a diagnosis is one, and less than that names nothing"
    return check_number("budget", budget, at_least=1.0, advice=least)


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+\.?\d*)\s*([smh])", text.strip())
    if found is None:
        raise InputError(
            f"budget must be a number of trainings, or a time like '90s', '2m', got {text!r}"
        )
    return float(found[1]) * {"s": 1.0, "m": 60.0, "h": 3600.0}[found[2]]
