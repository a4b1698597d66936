"""The outputs of layers over a batch: where they lie, and how many units do nothing.

For an output a with units j and samples n (for a channel, every place of every sample):

    mean, std         over all entries
    p15, p50, p85     percentiles, of at most 4,096 entries drawn once (standard error of the
                      median: 2 % of the spread)
    dead              share of units with max_n a_nj ≤ 0
    saturation        share of entries whose slope is below 4 % of its largest:

        sigmoid   a(1 − a) < 0.01      that is a < 0.01 or a > 0.99
        tanh      1 − a² < 0.04        the same inputs, as tanh x = 2σ(2x) − 1
        softsign  (1 − |a|)² < 0.04
        hard …    at an end, where the slope is 0
        softmax   samples whose largest entry is above 0.99

    saturated         share of units for which that holds on 95 % of the batch

Several calls of one layer in a step (micro-batches, a shared module) are one batch in parts:
moments add up, a unit is dead if it is in all of them, percentiles are averaged. Only passes with
gradients on count. Those in eval mode give way to those in training mode: a validation that forgot
no_grad is no training.

Cost: a few passes over each output. Nothing is read back from the device before the look ends.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from thalweg.nets.probes.layers import role_of

ENTRIES = 4096  # for percentiles
CALLS = 4  # of one layer in one step
MOST = 0.95  # of the batch on which a saturated unit is at an end
SURE = 0.99  # the largest entry of a softmax that is no longer in doubt
NAMES = ("mean", "std", "p15", "p50", "p85", "dead", "saturated", "saturation", "not_finite")

_NAN = float("nan")


class Statistics:
    """What the calls of one layer in one step add up to."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.has_dead = role_of(module) in ("relu", "linear")
        self.flat = saturation_of(module)
        self.calls = 0
        self.moments: list[torch.Tensor] = []  # mean, variance, percentiles; float[5] a call
        self.peak: torch.Tensor | None = None  # largest output of each unit
        self.at_end: list[torch.Tensor] = []  # share of the batch on which a unit is saturated

    def add(
        self, a: torch.Tensor, axis: int | None, entries: Callable[[int], torch.Tensor]
    ) -> None:
        """One output; `entries` gives the positions of percentiles for a number of entries."""
        if self.calls == CALLS or a.numel() == 0:
            return
        a = a.detach()
        if a.dtype in (torch.float16, torch.bfloat16):
            a = a.float()
        variance, mean = torch.var_mean(a, correction=0)
        some = a.reshape(-1)
        if some.numel() > ENTRIES:
            some = some[entries(some.numel()).to(a.device)]
        ordered = some.sort().values
        ranks = [round(p * (ordered.numel() - 1)) for p in (0.15, 0.5, 0.85)]
        self.moments.append(torch.stack([mean, variance, *ordered[ranks]]))
        if self.has_dead or self.flat is not None:
            units = _by_unit(a, axis)
            if self.has_dead:
                peak = units.amax(0)
                same = self.peak is not None and self.peak.shape == peak.shape
                self.peak = torch.maximum(self.peak, peak) if same else peak  # type: ignore[arg-type]
            if self.flat is not None:
                self.at_end.append(self.flat(units).to(a.dtype).mean(0))
        self.calls += 1

    def vector(self) -> torch.Tensor:
        """The numbers of `NAMES`, float[9], on the output's device."""
        moments = torch.stack(self.moments)
        mean, within, *percentiles = moments.mean(0)
        std = (within + moments[:, 0].var(correction=0)).sqrt()  # within calls, and between them
        nothing = mean.new_full((), _NAN)
        dead = nothing if self.peak is None else (self.peak <= 0).to(mean.dtype).mean()
        saturated = saturation = nothing
        if self.at_end and all(each.shape == self.at_end[0].shape for each in self.at_end):
            share = torch.stack(self.at_end).mean(0)
            saturated, saturation = (share >= MOST).to(mean.dtype).mean(), share.mean()
        bad = (~torch.isfinite(mean)).to(mean.dtype)
        return torch.stack([mean, std, *percentiles, dead, saturated, saturation, bad])


def saturation_of(module: nn.Module) -> Callable[[torch.Tensor], torch.Tensor] | None:
    """A test of outputs [samples, units] for slopes near zero; None where there are none."""
    if isinstance(module, nn.Sigmoid):
        return lambda a: a * (1 - a) < 0.01
    if isinstance(module, nn.Tanh):
        return lambda a: 1 - a * a < 0.04
    if isinstance(module, nn.Softsign):
        return lambda a: (1 - a.abs()) ** 2 < 0.04
    if isinstance(module, nn.Hardsigmoid):
        return lambda a: (a <= 0) | (a >= 1)
    if isinstance(module, nn.ReLU6):  # its lower end is being off
        return lambda a: a >= 6
    if isinstance(module, nn.Hardtanh):
        return lambda a: (a <= module.min_val) | (a >= module.max_val)
    if isinstance(module, nn.Softmax):
        return lambda a: a.amax(1, keepdim=True) > SURE
    return None


def _by_unit(a: torch.Tensor, axis: int | None) -> torch.Tensor:
    """`a` as [samples and places, units]."""
    if a.ndim < 2:
        return a.reshape(1, -1)
    if axis is None:
        axis = 1 if a.ndim > 3 else -1
    return a.movedim(axis, -1).reshape(-1, a.shape[axis])


class Collector:
    """Statistics of all layers in one step, in the order in which they ran."""

    def __init__(self, generator: torch.Generator) -> None:
        self.by_layer: dict[str, Statistics] = {}
        self.in_training: bool | None = None  # mode of the passes that count
        self.axis: int | None = None  # of the units of the layer that ran last
        self._generator = generator
        self._entries: dict[int, torch.Tensor] = {}

    def clear(self) -> None:
        """Begin a step."""
        self.by_layer, self.in_training, self.axis = {}, None, None

    def add(self, name: str, module: nn.Module, output: torch.Tensor, in_training: bool) -> None:
        """One call of a layer."""
        if self.in_training and not in_training:
            return
        if in_training and self.in_training is False:
            self.clear()
        self.in_training = in_training
        if name not in self.by_layer:
            self.by_layer[name] = Statistics(module)
        self.by_layer[name].add(output, self.axis, self._positions)

    def numbers(self) -> dict[str, list[float]]:
        """Name of a layer to the numbers of `NAMES`, read back at once."""
        found = {name: each for name, each in self.by_layer.items() if each.moments}
        if not found:
            return {}
        vectors = [each.vector() for each in found.values()]
        rows = torch.stack([v.to(vectors[0].device) for v in vectors]).tolist()
        return dict(zip(found, rows, strict=True))

    def _positions(self, count: int) -> torch.Tensor:
        if count not in self._entries:
            if len(self._entries) > 64:  # outputs of ever new sizes, as of sentences
                self._entries.clear()
            self._entries[count] = torch.randint(count, (ENTRIES,), generator=self._generator)
        return self._entries[count]
