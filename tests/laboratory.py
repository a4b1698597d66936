"""Halving takes log₂(1/ε) steps.

Each step halves the distance, so that after T of them it is

    2⁻ᵀ
"""

from thalweg.labbook import (
    Break,
    Check,
    Findings,
    Lab,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)
from thalweg.labbook.result import result_of

FIGURE = figure("A line", panel("x", "y", [curve("gd", [0, 1], [1, 2])]), "It rises from 1 to 2.")


def experiment(setting: Setting, *, factor: float = 0.5) -> Findings:
    """Ten steps from 1."""
    ends = factor**10
    return Findings(
        [Check("2⁻¹⁰ after ten steps", ends == 2.0**-10, f"{ends:.3g}")],
        [Sheet("Ends", ("T", "distance"), ((10, ends),))],
        [FIGURE],
        ["by hand"],
    )


LAB = Lab(
    name="halving",
    claim="Halving comes within ε in log₂(1/ε) steps.",
    formula="|xₜ| = 2⁻ᵗ|x₀|",
    places=("A, Somewhere", "B, Elsewhere"),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(Break("factor", "steps that shrink to 0.9", {"factor": 0.9}),),
    fails_if="ten steps that end anywhere else than at 2⁻¹⁰",
    code="print(0.5**10)\n",
    seconds=0.1,
)


def result(*, checks=None, figures=(FIGURE,), tables=(), **known):
    """A result written down by hand."""
    return result_of(
        Findings(checks or [Check("s", True, "m")], tables, figures, ["a note"]),
        **{
            "name": "gd-rate", "title": "A title", "claim": "A claim.", "budget": "quick",
            "expected": Ruling.HOLDS, "seed": 0, "seconds": 1.5, **known,
        },
    )  # fmt: skip
