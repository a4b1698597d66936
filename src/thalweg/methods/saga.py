"""SAGA: SAG without bias.

    minimise  F(w) = (1/n) Σᵢ aᵢℓ(xᵢᵀw, yᵢ) + (l2/2)‖w‖² + l1‖w‖₁

It remembers what SAG does, the last slope sᵢ of every sample and g = Σᵢ sᵢxᵢ. Visiting sample i,
drawn with probability pᵢ, with the news δᵢ = aᵢℓ′(xᵢᵀw, yᵢ) − sᵢ,

    w ← S(w − η(δᵢxᵢ/(npᵢ) + g/m + l2·w), η·l1)        then  sᵢ ← sᵢ + δᵢ,  g ← g + δᵢxᵢ

Once all samples are seen, m = n, the mean of the step over i is the gradient's, whereas SAG divides
the news by n as well. So the proximal step has a proof here, with L = max Lᵢ:

    η = 1/3L, uniform sampling      E‖wᵗ − w*‖² falls by 1 − min(1/4n, μ/3L) a step

Practice takes 1/2L_eff.

Cost: as SAG. Defazio, Bach & Lacoste-Julien, NIPS 2014. The kernel is `kernels.incremental`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from thalweg.kernels import incremental as kernels
from thalweg.methods.incremental import Incremental


@dataclass(frozen=True)
class SAGA(Incremental):
    """Unbiased stochastic average gradient, with a proximal step."""

    name: ClassVar[str] = "saga"
    kind: ClassVar[int] = kernels.SAGA
    factor: ClassVar[float] = 1.0 / 2.0
    theory_factor: ClassVar[float] = 1.0 / 3.0
