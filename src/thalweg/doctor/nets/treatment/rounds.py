"""The rounds of a treatment: screen, choose, prove, confirm, examine again, drop.

The seeds of the screening, of the proof and of the confirmation are three sets apart: what made a
remedy look good has no part in its proof, and what proved it none in its confirmation. All rounds
use the same sets, so that the arms of a kept change are there already when the next is compared
with it. That is no advantage of the next: what was kept did well on them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.nets.remedies.remedy import Remedy
from thalweg.doctor.nets.treatment.arms import Arm, Arms, OutOfBudgetError
from thalweg.doctor.nets.treatment.interval import Interval, paired_interval
from thalweg.doctor.nets.treatment.proof import MINIMUM, helps, prove, reserve
from thalweg.doctor.nets.treatment.treatment import Trial, judged
from thalweg.nets.recipes.recipe import Recipe
from thalweg.nets.training.batches import Pair

ENOUGH = 0.95  # of the best gain: a smaller change that brings this much is preferred

Diagnose = Callable[[Recipe, Pair, Pair], Sequence[Finding]]
Choose = Callable[[str], Sequence[Remedy]]  # remedies for a cause
Candidate = tuple[int, Trial, Recipe]  # size of the change, what is known of it, what it gives


class Rounds:
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
                chosen = smallest(candidates)
                candidates = [each for each in candidates if each is not chosen]
                if self._test(*chosen[1:]):
                    for _, trial, _ in candidates:
                        self._reject(trial, f"{chosen[1].remedy} was preferred")
                    return True
        return False

    def _screen(self, cause: str) -> list[Candidate]:
        """The remedies for `cause` that gain something in one pair."""
        arms, found = self.arms, []
        ahead: list[Arm] = []
        for remedy in self.remedies(cause):
            after = remedy.change(self.current, arms.data)
            if after is None or after == self.current or after.to_toml() in self.tried:
                continue
            self.tried.add(after.to_toml())
            trial = Trial(remedy.name, cause, self.current.difference(after), 0.0)
            rest = self._reserve(after)
            before = 0.0 if arms.has(self.current, self.first) else arms.length(self.current)
            if arms.length(after) + before + rest > arms.left():
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

    def _test(self, trial: Trial, after: Recipe) -> bool:
        """Prove and confirm; keep the change, or leave things as they were."""
        if self._reserve(after) > self.arms.left():
            self._reject(trial, "no budget to prove it")
            return False
        rest = reserve(self.arms, self.current, after, self.fresh_seeds[: self.pairs])
        proof = prove(self.arms, self.current, after, self.proof_seeds, spare=rest)
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
        self.kept.append(self.current.changes(after))
        self.current, self.left = after, []
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


def smallest(candidates: Sequence[Candidate]) -> Candidate:
    """The smallest change with most of the best gain."""
    best = max(trial.screened for _, trial, _ in candidates)
    enough = [each for each in candidates if each[1].screened >= ENOUGH * best]
    return min(enough, key=lambda each: each[0])
