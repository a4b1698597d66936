"""Where a network's numbers ended: the layer whose output is the first that is not finite.

A loss that is NaN says nothing of its cause. The batch that it came from is passed through the
network once more, with a hook on every module that has none inside it. This costs nothing while
training goes well.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import nn


class Origin(NamedTuple):
    """The first place that is not finite."""

    layer: str  # name in the model; empty where all outputs are finite
    cause: str  # in words


@torch.no_grad()
def origin(model: nn.Module, x: torch.Tensor) -> Origin:
    """The first layer of `model` whose output on `x` is not finite.

    Runs in the model's present mode: batch norms see the batch again. PyTorch's generator is left
    as it was, so that dropout draws other masks than in the step itself.
    """
    if not is_finite(x):
        return Origin("", "the samples that the model was given are not finite")
    found: list[Origin] = []
    handles = [
        module.register_forward_hook(_listener(name or type(model).__name__, found))
        for name, module in model.named_modules()
        if not list(module.children())
    ]
    try:
        with torch.random.fork_rng(devices=_devices(x)):
            model(x)
    finally:
        for handle in handles:
            handle.remove()
    if found:
        return found[0]
    return Origin("", "all layers' outputs are finite, the loss of them is not")


def _listener(name: str, found: list[Origin]) -> Any:
    """A hook that notes a module with finite inputs or none before it, and a bad output."""

    def hook(module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        if found or not isinstance(output, torch.Tensor) or is_finite(output):
            return
        bad = [key for key, p in module.named_parameters(recurse=False) if not is_finite(p)]
        largest = max((float(p.abs().max()) for p in module.parameters() if p.numel()), default=0.0)
        cause = f"the output of layer {name!r} ({module}) is the first that is not finite"
        if bad:
            cause += f", its {' and '.join(bad)} no longer {'is' if len(bad) == 1 else 'are'}"
        elif largest:
            cause += f", its largest weight is {largest:.3g}"
        found.append(Origin(name, cause))

    return hook


def is_finite(tensor: torch.Tensor) -> bool:
    """Whether every entry is a finite number."""
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return True
    # The sum is one pass without a temporary; where it overflows, look at each.
    return bool(torch.isfinite(tensor.detach().sum())) or bool(torch.isfinite(tensor).all())


def first_bad_parameter(model: nn.Module) -> str | None:
    """The name of a parameter that is not finite; None where all are."""
    return next((name for name, p in model.named_parameters() if not is_finite(p)), None)


def _devices(x: torch.Tensor) -> list[int]:
    return [x.device.index or 0] if x.device.type == "cuda" else []
