"""`population_statistics`: what every batch norm shall use for μ and σ² once training is over.

For the norms k = 1, 2, … in the order in which they run, over mini-batches B of m values a channel,

    E[x] = E_B[μ_B]          Var[x] = m/(m − 1)·E_B[σ_B²]

are measured at the input of norm k and stored in it before norm k + 1 is looked at: its inputs are
then those that it will meet in use, where running averages mix the activations of many past
weights. Batches of unequal size count by their size; those of one value a channel are left out.

All modules are in `eval` mode meanwhile (no dropout), and modes are restored. A pass ends at the
norm that it measures. On an error, all statistics are as they were.

Cost: one pass over the data for every norm, as far as that norm; memory of one batch.
Ioffe & Szegedy, ICML 2015, Algorithm 2, lines 7 to 12.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from thalweg.core.errors import InputError
from thalweg.nets.model import check_model
from thalweg.nets.norms.batches import Batches


class Statistics(NamedTuple):
    """E[x] and Var[x] of one norm, float64[C] each, and the number of batches behind them."""

    mean: torch.Tensor
    variance: torch.Tensor
    batches: int


@torch.no_grad()
def population_statistics(
    model: nn.Module, data: Any, *, batch_size: int = 128, seed: int = 0
) -> dict[str, Statistics]:
    """Measure and store the statistics of every batch norm of `model`; returns them by name.

    `data`: training inputs as a tensor or an array, or a tuple (inputs, targets), cut into batches
    in an order drawn by `seed`; or a loader or list of batches (`batches`). Norms that never run
    are left as they are, and out of the answer.
    """
    check_model(model)
    names: dict[Any, str] = {
        m: name for name, m in model.named_modules() if isinstance(m, _BatchNorm)
    }
    if not names:
        raise InputError("model must have a batch norm, got none: there is nothing to measure")
    _check_kept(names)
    # A model in half precision often keeps its norms in single: its first weight tells.
    like = next(model.parameters(), next(iter(names)).running_mean)
    batches = Batches(data, batch_size, seed, like)
    modes = {module: module.training for module in model.modules()}
    before = {norm: [b.clone() for b in norm.buffers(recurse=False)] for norm in names}
    try:
        model.eval()
        calls = _calls(model, names, batches)
        return {names[norm]: _measure(model, norm, names[norm], calls, batches) for norm in calls}
    except BaseException:
        for norm, kept in before.items():
            for buffer, value in zip(norm.buffers(recurse=False), kept, strict=True):
                buffer.copy_(value)
        raise
    finally:
        for module, mode in modes.items():
            module.training = mode


class _Reached(Exception):  # noqa: N818, no error: it ends a pass early
    """The norm in question has had its input."""


def _measure(
    model: nn.Module, norm: Any, name: str, calls: Counter[Any], batches: Batches
) -> Statistics:
    """Statistics of one norm, stored in it."""
    total = _Sum()

    def look(module: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        total.add(inputs[0])
        if calls[norm] == 1:
            raise _Reached

    hook = norm.register_forward_pre_hook(look)
    try:
        for batch in batches:
            try:
                model(batch)
            except _Reached:
                continue
    finally:
        hook.remove()
    found = total.statistics(name)
    norm.running_mean.copy_(found.mean)
    norm.running_var.copy_(found.variance)
    norm.num_batches_tracked.fill_(found.batches)
    return found


@dataclass
class _Sum:
    """Σ m·μ_B, Σ m·m/(m − 1)·σ_B² and Σ m over batches."""

    means: Any = 0.0
    variances: Any = 0.0
    values: int = 0
    batches: int = 0

    def add(self, x: torch.Tensor) -> None:
        m = x.numel() // x.shape[1]
        if m < 2:
            return
        wide = torch.float64 if x.device.type == "cpu" else torch.float32
        over = [axis for axis in range(x.ndim) if axis != 1]
        variance, mean = torch.var_mean(x.to(wide), dim=over, correction=0)
        self.means += m * mean.cpu().double()
        self.variances += m * (m / (m - 1)) * variance.cpu().double()
        self.values += m
        self.batches += 1

    def statistics(self, name: str) -> Statistics:
        if not self.batches:
            raise InputError(
                f"data must have batches of more than one value a channel, got none for {name!r}: "
                "raise batch_size"
            )
        mean, variance = self.means / self.values, self.variances / self.values
        if not bool((mean.isfinite() & variance.isfinite()).all()):
            channel = int((~(mean.isfinite() & variance.isfinite())).nonzero()[0])
            raise InputError(
                f"data must give finite activations, got NaN or infinity in channel {channel} at "
                f"{name!r}: look at the data and at the weights before it"
            )
        return Statistics(mean, variance, self.batches)


def _calls(model: nn.Module, names: dict[Any, str], batches: Batches) -> Counter[Any]:
    """How often each norm runs in one pass, in the order of the first time."""
    calls: Counter[Any] = Counter()
    hooks = [
        norm.register_forward_pre_hook(lambda module, _: calls.update([module])) for norm in names
    ]
    try:
        model(next(iter(batches)))
    finally:
        for hook in hooks:
            hook.remove()
    return calls


def _check_kept(names: dict[Any, str]) -> None:
    for norm, name in names.items():
        if norm.running_mean is None:
            raise InputError(
                f"every norm must keep statistics, got {name!r} with track_running_stats=False: "
                "it uses those of its batch, also in eval mode"
            )
