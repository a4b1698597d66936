"""What scikit-learn's tests say of Thalweg's estimators: passed, refused, failed, stale."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from peers.refusals import Refusal

EXPECTED = "xskipped"  # a test that scikit-learn marks to fail, and that does


@dataclass(frozen=True)
class Result:
    """What became of a test."""

    id: str
    outcome: str  # passed, failed, skipped; with an x before where it was marked to fail
    used: tuple[str, ...] = ()  # classes that it made or fitted
    error: str = ""

    @property
    def has_passed(self) -> bool:
        """Whether it passed, marked or not."""
        return self.outcome in ("passed", "xpassed")

    @property
    def said(self) -> str:
        """Its error in a line: what it begins with, and by how much numbers differ."""
        lines = [line for line in self.error.splitlines() if line]
        differ = [line for line in lines if line.startswith("Max ")]
        return " ".join([*lines[:1], *(lines[1:2] if differ else []), *differ])


@dataclass
class Verdict:
    """All tests, judged."""

    passed: list[Result] = field(default_factory=list)
    refused: dict[Refusal, list[Result]] = field(default_factory=dict)
    expected: list[Result] = field(default_factory=list)  # marked to fail there
    failed: list[tuple[Result, str]] = field(default_factory=list)  # and what is wrong
    stale: list[tuple[Refusal, str]] = field(default_factory=list)
    skipped: int = 0
    unused: int = 0  # passed or marked, without one of the classes

    @property
    def holds(self) -> bool:
        """Whether every failure is one of design, and every refusal is needed."""
        return not self.failed and not self.stale


def read(path: Path) -> list[Result]:
    """The results that a run wrote; a test that failed twice, also in its teardown, is one."""
    found: dict[str, Result] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        result = Result(record["id"], record["outcome"], tuple(record["used"]), record["error"])
        if result.id not in found or result.outcome == "failed":
            found[result.id] = result
    return list(found.values())


def judge(
    results: Iterable[Result], eased: Iterable[Result], refusals: Iterable[Refusal]
) -> Verdict:
    """Sort the results; `eased` are those of tests in the circumstances that refusals name."""
    refusals = tuple(refusals)
    with_ease = {result.id: result for result in eased}
    verdict = Verdict()
    covered: dict[Refusal, list[Result]] = {refusal: [] for refusal in refusals}
    for result in results:
        refusal = next((each for each in refusals if each.covers(result.id)), None)
        if refusal is not None:
            covered[refusal].append(result)
        if result.outcome == "failed":
            objection = objected(result, refusal, with_ease.get(result.id))
            if refusal is not None and not objection:
                verdict.refused.setdefault(refusal, []).append(result)
            else:
                verdict.failed.append((result, objection))
        elif result.outcome == "skipped":
            verdict.skipped += 1
        elif not result.used:
            verdict.unused += 1
        elif result.has_passed:
            verdict.passed.append(result)
        else:
            verdict.expected.append(result)
    for refusal, tests in covered.items():
        if why := staleness(refusal, tests):
            verdict.stale.append((refusal, why))
    return verdict


def objected(result: Result, refusal: Refusal | None, eased: Result | None) -> str:
    """Why a failure is not the one that a refusal is for; nothing if it is."""
    if refusal is None:
        return result.said
    if refusal.shows and not re.search(refusal.shows, result.error, re.MULTILINE):
        return f"refused for another reason: {result.said}"
    if not refusal.is_eased:
        return ""
    if eased is None:
        return "refused, but not tried in the circumstances that its refusal names"
    if eased.has_passed or eased.outcome == EXPECTED:
        return ""
    circumstances = f"tol={refusal.tol:g}" if refusal.tol else "Thalweg's words"
    return f"fails with {circumstances} too: {eased.said}"


def staleness(refusal: Refusal, tests: list[Result]) -> str:
    """Why a refusal is not needed, or not as it is; nothing if it is."""
    ran = [result for result in tests if result.outcome != "skipped"]
    passed = [result for result in ran if result.has_passed]
    if not ran:
        return "no test of that name ran"
    # Whether a fit ends far within its tolerance is a matter of luck, and of the method chosen.
    if refusal.tol and len(passed) < len(ran):
        return ""
    return f"passes: {passed[0].id}" if passed else ""


def told(verdict: Verdict) -> Iterable[str]:
    """The verdict, line by line."""
    marked = sum(result.outcome == "xpassed" for result in verdict.passed)
    yield f"passed             {len(verdict.passed):6,d}"
    if marked:
        yield f"      {marked} of them where scikit-learn's own is marked to fail"
    yield f"refused by design  {sum(map(len, verdict.refused.values())):6,d}"
    for refusal, results in verdict.refused.items():
        yield f"  {refusal.reason}"
        yield from (f"      {name}" for name in _grouped(results))
    if verdict.expected:
        yield f"fails there too    {len(verdict.expected):6,d}   (so marked by scikit-learn)"
        yield from (f"      {name}" for name in _grouped(verdict.expected))
    yield f"failed             {len(verdict.failed):6,d}"
    for result, objection in verdict.failed:
        yield f"  {_short(result.id)}"
        yield f"      {objection}"
    for refusal, why in verdict.stale:
        yield f"stale refusal: {refusal.reason}"
        yield f"      {why}"
    yield (f"not counted: {verdict.skipped:,d} skipped, {verdict.unused:,d} using none of them")


def _short(name: str) -> str:
    return name.removeprefix("sklearn/")


def _grouped(results: list[Result]) -> list[str]:
    """Names of tests without their parameters, with how often each is there."""
    counts = Counter(_short(result.id).partition("[")[0] for result in results)
    return [name if count == 1 else f"{name} ({count})" for name, count in counts.items()]
