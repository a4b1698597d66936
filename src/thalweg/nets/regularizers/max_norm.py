"""Max-norm: no unit's incoming weights may be longer than c.

    w_unit ← w_unit·min(1, c/‖w_unit‖)        after every step

is the projection onto the ball of radius c. A unit's incoming weights are a row of a Linear, all of
an output channel's kernel in a convolution, and, in a transposed convolution, the slices that feed
the output channel: `units` says where they lie. Biases are free.

c/s(t) is the radius under a schedule s: none while s is 0, c once it is 1.

It comes after the optimizer's step and leaves its momentum as it is. The option `max_norm` of the
optimizers does the same within their pass; this one goes with any optimizer.

Srebro & Shraibman, COLT 2005; beside dropout: Srivastava et al., JMLR 15 (2014), c between 3 and 4.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from thalweg.core.checks import check_number
from thalweg.nets.optimizers.units import parameter_groups, project_units
from thalweg.nets.regularizers.regularizer import Regularizer


class MaxNorm(Regularizer):
    """‖w_unit‖ ≤ `radius` for every unit."""

    def __init__(self, radius: float = 3.0, schedule: Any = "constant") -> None:
        super().__init__(1.0, schedule)
        self.radius = check_number("radius", radius, above=0.0)

    @torch.no_grad()
    def after_step(self, model: nn.Module, progress: float, lr: float) -> None:
        """The projection."""
        strength = self.strength_at(progress)
        if strength == 0.0:
            return
        for group in parameter_groups(model):
            axis, groups = group["unit_axis"], group["unit_groups"]
            for weight in group["params"]:
                if weight.requires_grad:
                    # A weight in another memory order, such as channels_last, has no rows to view.
                    rows = weight.contiguous()
                    project_units(rows, axis, groups, self.radius / strength)
                    if rows is not weight:
                        weight.copy_(rows)
