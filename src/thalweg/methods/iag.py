"""IAG: SAG that visits the samples in turn instead of at random.

    minimise  F(w) = (1/n) Σᵢ aᵢℓ(xᵢᵀw, yᵢ) + (l2/2)‖w‖² + l1‖w‖₁

    i = 1, 2, …, n, 1, 2, …
    g ← g + (aᵢℓ′(xᵢᵀw, yᵢ) − sᵢ)xᵢ,  sᵢ ← aᵢℓ′(xᵢᵀw, yᵢ)        w ← S(w − η(g/m + l2·w), η·l1)

Nothing is drawn, so a run is the same for every seed, and rows are read as they lie in memory. But
the slopes of a pass grow old together, and w can rock with them: on quadratics of equal curvature L
a step from π²/(2nL) on diverges (`theory.stability`), where SAG bears steps of order 1/L. Practice
takes half of that limit, or 1/2L_max if it is less.

Cost: as SAG, in memory order. Blatt, Hero & Gauchman, SIAM J. Optim. 18 (2007). The kernel is
`kernels.incremental`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from thalweg.core.errors import InputError
from thalweg.kernels import incremental as kernels
from thalweg.methods.expectation import Difficulty, Expected
from thalweg.methods.incremental import Incremental
from thalweg.objectives.linear import LinearProblem


@dataclass(frozen=True)
class IAG(Incremental):
    """Incremental aggregated gradient."""

    name: ClassVar[str] = "iag"
    law: ClassVar[str] = ""
    kind: ClassVar[int] = kernels.SAG
    factor: ClassVar[float] = 1.0 / 2.0
    theory_factor: ClassVar[float] = 1.0 / 16.0
    sampling: str = "cyclic"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sampling != "cyclic":
            raise InputError(
                f"iag visits the samples in turn, got sampling={self.sampling!r}: use method='sag'"
            )

    def expected(self, problem: LinearProblem, hard: Difficulty) -> Expected | None:
        """None: its steps are shorter than those of sag, for a pass that costs as much."""
        return None
