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

import math
from collections.abc import Callable, Iterator

import torch
from torch import nn

from thalweg.doctor.nets.instruments.layers import role_of

ENTRIES = 4096  # for percentiles
CALLS = 4  # of one layer in one step
MOST = 0.95  # of the batch on which a saturated unit is at an end
SURE = 0.99  # the largest entry of a softmax that is no longer in doubt
NAMES = ("mean", "std", "p15", "p50", "p85", "dead", "saturated", "saturation", "not_finite")


class Statistics:
    """What the calls of one layer in one step add up to."""

    def __init__(self, module: nn.Module) -> None:
        self.has_dead = role_of(module) in ("relu", "linear")
        self.flat = saturation_of(module)
        self.calls: list[tuple[torch.Tensor, ...]] = []  # mean, spread, percentiles of each
        self.size: list[int] = []  # entries of each
        self.peak: torch.Tensor | None = None  # largest output of each unit
        self.at_end: torch.Tensor | None = None  # share of the batch that a unit is at an end, Σ

    def add(
        self, a: torch.Tensor, axis: int | None, entries: Callable[[int], torch.Tensor]
    ) -> None:
        """One output; `entries` gives the positions of percentiles for a number of entries."""
        if len(self.calls) == CALLS or a.numel() == 0:
            return
        a = a.detach()
        if a.dtype in (torch.float16, torch.bfloat16):
            a = a.float()
        if a.ndim < 2:
            a = a.reshape(1, -1)
        some = a.reshape(-1)
        mean = some.mean()
        # Two vectorized passes: var_mean, in one, takes five times as long on a CPU.
        spread = torch.linalg.vector_norm(some - mean)
        if some.numel() > ENTRIES:
            some = some.index_select(0, entries(some.numel()).to(a.device))
        ranks = [1 + round(p * (some.numel() - 1)) for p in (0.15, 0.5, 0.85)]
        self.calls.append((mean, spread, *(some.kthvalue(rank).values for rank in ranks)))
        self.size.append(a.numel())
        if self.has_dead or self.flat is not None:
            self._by_unit(a, axis)

    def _by_unit(self, a: torch.Tensor, axis: int | None) -> None:
        if axis is None:
            axis = 1 if a.ndim > 3 else -1
        others = [d for d in range(a.ndim) if d != axis % a.ndim]
        if self.has_dead:
            peak = a.amax(others)
            same = self.peak is not None and self.peak.shape == peak.shape
            self.peak = torch.maximum(self.peak, peak) if same else peak  # type: ignore[arg-type]
        if self.flat is not None:
            share = self.flat(a).to(a.dtype).mean(others)
            same = self.at_end is not None and self.at_end.shape == share.shape
            self.at_end = self.at_end + share if same else share  # type: ignore[operator]

    def tensors(self) -> list[torch.Tensor]:
        """Single numbers on the device, for `numbers` to be given back."""
        found = [number for call in self.calls for number in call]
        if self.peak is not None:
            found.append((self.peak <= 0).to(self.peak.dtype).mean())
        if self.at_end is not None:
            share = self.at_end / len(self.calls)
            found += [(share >= MOST).to(share.dtype).mean(), share.mean()]
        return found

    def numbers(self, read: Iterator[float]) -> list[float]:
        """The numbers of `NAMES`, from what `tensors` were."""
        calls = [[next(read) for _ in call] for call in self.calls]
        means = [call[0] for call in calls]
        mean = sum(means) / len(means)
        # Within calls, and between them.
        within = sum(call[1] ** 2 / n for call, n in zip(calls, self.size, strict=True))
        between = sum((m - mean) ** 2 for m in means)
        std = math.sqrt((within + between) / len(calls))
        percentiles = [sum(column) / len(calls) for column in list(zip(*calls, strict=True))[2:]]
        dead = math.nan if self.peak is None else next(read)
        saturated, saturation = [next(read) if self.at_end is not None else math.nan for _ in "ab"]
        bad = float(not math.isfinite(mean))
        return [mean, std, *percentiles, dead, saturated, saturation, bad]


def saturation_of(module: nn.Module) -> Callable[[torch.Tensor], torch.Tensor] | None:
    """A test of outputs for slopes near zero; None where there are none."""
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
        return lambda a: a.amax(-1 if module.dim is None else module.dim, keepdim=True) > SURE
    return None


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
        found = {name: each for name, each in self.by_layer.items() if each.calls}
        tensors = [tensor for each in found.values() for tensor in each.tensors()]
        if not tensors:
            return {}
        read = iter(torch.stack([t.to(tensors[0].device) for t in tensors]).tolist())
        return {name: each.numbers(read) for name, each in found.items()}

    def _positions(self, count: int) -> torch.Tensor:
        if count not in self._entries:
            if len(self._entries) > 64:  # outputs of ever new sizes, as of sentences
                self._entries.clear()
            self._entries[count] = torch.randint(count, (ENTRIES,), generator=self._generator)
        return self._entries[count]
