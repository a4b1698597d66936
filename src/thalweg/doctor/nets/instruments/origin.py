"""Where numbers ended: the first layer that is not finite, forwards or backwards.

The moment a gradient that is not finite reaches a sentinel, weights and batch are still those that
made it. The batch is passed through the network once more, without gradients, and the first module
whose output is not finite is named. Where all outputs are finite the slopes are not, and the layer
is the last one in forward order with such a gradient: backwards, it was reached first.

The second pass leaves nothing behind: buffers (the averages of batch norms) and PyTorch's
generators are as before. Dropout draws other masks than in the step itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.func import functional_call

from thalweg.nets.training.divergence import is_finite


class Place(NamedTuple):
    """Where something is not finite."""

    where: str  # "inputs", "forward", "gradient" or "loss"
    layer: str  # name in the model; empty where it is not known


@contextmanager
def generators_kept(model: nn.Module) -> Iterator[None]:
    """PyTorch's generators are put back at the end of the block."""
    devices = sorted({t.device.index or 0 for t in model.parameters() if t.device.type == "cuda"})
    with torch.random.fork_rng(devices=devices):
        yield


@contextmanager
def nothing_left(model: nn.Module) -> Iterator[None]:
    """Buffers too are put back; not within a backward pass, which would notice."""
    buffers = [(b, b.detach().clone()) for b in model.buffers()]
    try:
        with generators_kept(model):
            yield
    finally:
        with torch.no_grad():
            for buffer, before in buffers:
                if not torch.equal(buffer, before):
                    buffer.copy_(before)


def first_bad_output(
    model: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Place | None:
    """The first module of `model` whose output on this batch is not finite; None if all are."""
    given = [x for x in (*args, *kwargs.values()) if isinstance(x, torch.Tensor)]
    if not all(is_finite(x) for x in given):
        return Place("inputs", "")
    found: list[str] = []
    handles = [
        module.register_forward_hook(_note(name, found))
        for name, module in model.named_modules()
        if name and not any(True for _ in module.children())
    ]
    try:
        with torch.no_grad(), generators_kept(model):
            # On copies of the buffers: the backward pass under way would notice a write into them.
            buffers = {name: b.clone() for name, b in model.named_buffers()}
            output = functional_call(model, buffers, tuple(args), dict(kwargs))
    finally:
        for handle in handles:
            handle.remove()
    if not found and isinstance(output, torch.Tensor) and not is_finite(output):
        found.append(type(model).__name__)
    return Place("forward", found[0]) if found else None


def last_bad_gradient(layers: Mapping[str, Sequence[torch.Tensor]]) -> Place | None:
    """The last layer, of layers in forward order, with a gradient that is not finite."""
    for name, parameters in reversed(list(layers.items())):
        gradients = [p.grad for p in parameters if p.grad is not None]
        if not all(is_finite(g.coalesce().values() if g.is_sparse else g) for g in gradients):
            return Place("gradient", name)
    return None


def _note(name: str, found: list[str]) -> Callable[..., None]:
    def hook(module: nn.Module, inputs: Any, output: Any) -> None:
        first = output[0] if isinstance(output, tuple) and output else output
        if not found and isinstance(first, torch.Tensor) and not is_finite(first):
            found.append(name)

    return hook
