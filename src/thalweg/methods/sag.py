"""SAG: step along the mean of the last gradient seen at every sample.

    minimise  F(w) = (1/n) Σᵢ aᵢℓ(xᵢᵀw, yᵢ) + (l2/2)‖w‖² + l1‖w‖₁

SAG remembers the last slope sᵢ = aᵢℓ′(xᵢᵀw, yᵢ) of every sample and the sum g = Σᵢ sᵢxᵢ. Visiting
sample i refreshes both and moves, S the soft threshold:

    g ← g + (aᵢℓ′(xᵢᵀw, yᵢ) − sᵢ)xᵢ        w ← S(w − η(g/m + l2·w), η·l1)

where m counts the samples seen so far (each npᵢ times, where they are drawn with probabilities pᵢ),
so that the first pass is not damped by slopes that are still zero. The error of g falls as w
settles, so that a constant step converges:

    η = 1/16L, uniform sampling      E F(wᵗ) − F* ≤ (1 − min(μ/16L, 1/8n))ᵗ C,  see `theory.sag`

Practice takes 1/2L_eff, for which no proof is known; nor is one for l1, Lipschitz sampling or m.

Cost: one sample's gradient a step, O(p), or O(nnz of the row) where X is sparse; memory O(n·K + p).
Schmidt, Le Roux & Bach, Math. Program. 162 (2017). The kernel is `kernels.incremental`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from thalweg.kernels import incremental as kernels
from thalweg.methods.incremental import Incremental
from thalweg.theory import sag


@dataclass(frozen=True)
class SAG(Incremental):
    """Stochastic average gradient."""

    name: ClassVar[str] = "sag"
    kind: ClassVar[int] = kernels.SAG
    factor: ClassVar[float] = 1.0 / 2.0
    theory_factor: ClassVar[float] = sag.step(1.0)
