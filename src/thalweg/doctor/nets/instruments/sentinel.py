"""Two questions about every step, at the price of a glance at one small parameter.

*Was the gradient zeroed?* A backward pass adds to `.grad`. At the first one since the optimizer's
step, what is in there is the gradient of that step, unless it was cleared:

    first backward since the step, .grad ≠ 0     the gradient holds the last one
    any backward, .grad = 0 or None              it does not, whatever came before

so that the micro-batches of an accumulated gradient are no false alarm, nor is a gradient that
another network's loss left behind and that was cleared later. The hook of a parameter is called
with what is about to be added.

*Is the gradient finite?* NaN spreads: from a layer whose output is not finite through the loss back
to all, from one whose slope is infinite to all before it. So the parameters to look at are a small
one of the first layer and a small one of the last.

Where the parameter is not on the CPU, a look would wait for the device: it is taken at looks only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from thalweg.doctor.nets.instruments.hook import Hook, Meter
from thalweg.nets.training.divergence import is_finite

LARGEST = 65_536  # entries of a parameter that may be glanced at every step


class Sentinel:
    """Stands at one parameter."""

    def __init__(
        self, parameter: torch.Tensor, alarm: Callable[[], None], meter: Meter | None = None
    ) -> None:
        self.parameter = parameter
        self.is_fresh = False  # whether no backward came since the optimizer's step
        self.is_kept: bool | None = None  # whether .grad holds that of the step before
        self.is_armed = False  # whether to look even where that means waiting for the device
        self._is_free = parameter.device.type == "cpu"
        self._alarm = alarm
        self._hook = Hook(self._backward, meter or Meter())
        self._handle = parameter.register_hook(self._hook)

    def remove(self) -> None:
        """Stand there no longer."""
        self._handle.remove()

    def rise(self) -> None:
        """Stand there again, the optimizer having stepped meanwhile."""
        self._handle = self.parameter.register_hook(self._hook)
        self.is_kept, self.is_fresh = None, True

    def stepped(self) -> bool | None:
        """The optimizer takes its step: whether with the last gradient in it, None if unknown."""
        kept, self.is_kept, self.is_fresh = self.is_kept, None, True
        return kept

    def _backward(self, gradient: torch.Tensor) -> None:
        if not (self._is_free or self.is_armed):
            self.is_fresh = False
            return
        held = self.parameter.grad
        if held is None or not held.any():
            self.is_kept = False
        elif self.is_fresh:
            self.is_kept = True
        self.is_fresh = False
        # The sum alone takes a third of the time; where it overflows, each entry is looked at.
        if not (math.isfinite(gradient.sum().item()) or is_finite(gradient)):
            self._alarm()


def posts(layers: Sequence[Sequence[torch.Tensor]]) -> list[torch.Tensor]:
    """A small parameter with a gradient of the first layer that has one, and one of the last."""

    def small(layer: Sequence[torch.Tensor]) -> torch.Tensor | None:
        fit = [p for p in layer if _is_fit(p)]
        return min(fit, key=lambda p: p.numel(), default=None)

    found = [p for p in map(small, layers) if p is not None]
    return list({id(p): p for p in (found[:1] + found[-1:])}.values())


def _is_fit(p: torch.Tensor) -> bool:
    g = p.grad
    return p.requires_grad and g is not None and not g.is_sparse and 0 < p.numel() <= LARGEST
