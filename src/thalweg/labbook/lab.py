"""A lab: a claim of the lectures, the experiment that tries it, and what would make it fail.

A lab's module is its page. The first line of the docstring is the title, what follows is the
derivation: paragraphs, with formulas indented. `LAB` says the rest. The experiment's subject is an
argument of it, the real thing by default, so that a `Break` can put a wrong one in its place: a lab
that would pass with a step of 3/L shows nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg.core import clock
from thalweg.core.environment import environment
from thalweg.core.errors import InputError, suggest
from thalweg.core.extra import optional
from thalweg.labbook.result import Findings, Result, result_of
from thalweg.labbook.ruling import Ruling
from thalweg.labbook.setting import FULL, QUICK, Setting, silent


@dataclass(frozen=True)
class Break:
    """A wrong subject, with which the lab must fail."""

    name: str  # "step"
    what: str  # "a step of 3/L"
    changes: Mapping[str, Any]  # arguments of the experiment


@dataclass(frozen=True)
class Lab:
    """One claim and how it is tried."""

    name: str  # the claim's id
    claim: str  # in one sentence
    formula: str  # in Unicode, a line or a few
    places: tuple[str, ...]  # "A, Step II: Convergence Rate"
    expected: Ruling
    experiment: Callable[..., Findings]
    breaks: tuple[Break, ...]
    fails_if: str  # what it takes for the claim to fail
    code: str  # ten lines of Python that show it
    seconds: float  # of a quick run on one core, about
    condition: str = ""  # of a claim that holds if
    correction: str = ""  # of a claim that fails as written
    needs_full: bool = False  # whether a quick run cannot tell
    needs_torch: bool = False
    remark: str = ""  # where the verdict is another than one would think, why

    @property
    def title(self) -> str:
        """The first line of the module's docstring."""
        return self._doc.partition("\n")[0].rstrip(".")

    @property
    def derivation(self) -> str:
        """The rest of it."""
        return self._doc.partition("\n")[2].strip("\n")

    @property
    def lectures(self) -> tuple[str, ...]:
        """The letters of the lectures it is from."""
        return tuple(dict.fromkeys(place[0] for place in self.places))

    def expected_at(self, budget: str) -> Ruling:
        """The verdict that a run of that budget should give."""
        return Ruling.NEEDS_FULL if self.needs_full and budget != FULL else self.expected

    def run(
        self,
        budget: str = QUICK,
        *,
        seed: int = 0,
        broken: str = "",
        folder: str | Path = "labs",
        tell: Callable[[str], None] = silent,
    ) -> Result:
        """Try the claim.

        Parameters
        ----------
        budget
            "glance", "quick" or "full".
        seed
            Decides all that is drawn.
        broken
            The name of one of `breaks`: the lab then fails, and shows how that looks.
        folder
            Where an experiment of many pieces keeps them.
        tell
            Is told the progress of a long one.
        """
        setting = Setting(budget, seed, Path(folder), tell)
        changes = self._break(broken).changes if broken else {}
        if self.needs_torch:
            optional("torch", f"the lab {self.name}", extra="nets", instead="run the others")
        begun = clock.now()
        findings = self.experiment(setting, **changes)
        return result_of(
            findings,
            name=self.name,
            title=self.title,
            claim=self.claim,
            expected=self.expected_at(budget),
            budget=budget,
            seed=seed,
            seconds=clock.now() - begun,
            broken=self._break(broken).what if broken else "",
            environment=environment(),
        )

    def _break(self, name: str) -> Break:
        known = {each.name: each for each in self.breaks}
        if name not in known:
            raise InputError(
                f"broken must be a way to break {self.name}, got {name!r}: {suggest(name, known)}"
            )
        return known[name]

    @property
    def _doc(self) -> str:
        return (sys.modules[self.experiment.__module__].__doc__ or "").strip()
