"""What a forward pass keeps for the backward pass: activations, in bytes a sample.

Autograd tells every tensor that it saves. Those that belong to the model or to the batch are there
anyway; each other piece of memory counts once, however often it is saved. Where activations are
many, they and not the weights are what memory and time are spent on: an image of 28 × 28 leaves 784
numbers a channel, a hidden unit leaves one or two.
"""

from __future__ import annotations

import copy

import torch
from torch import nn

from thalweg.nets.training.batches import Pair
from thalweg.nets.training.inputs import Inputs
from thalweg.nets.training.losses import loss_of

ROWS = 16


def activation_bytes(model: nn.Module, loss: str, data: Pair) -> float:
    """Bytes a sample, in training mode, measured on a few; the model is left as it is."""
    model = copy.deepcopy(model).train()
    inputs, measure = Inputs(model), loss_of(loss)
    n = min(ROWS, len(data[0]))
    x, y = inputs(data[0][:n]), inputs.labels(data[1][:n], measure)
    there = {_place(t) for t in (x, y, *model.parameters(), *model.buffers())}
    kept: dict[int, torch.Tensor] = {}  # the tensors too, so that no place is used twice

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if _place(tensor) not in there:
            kept[_place(tensor)] = tensor
        return tensor

    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            value = measure(inputs.run(model, x), y)
        total = sum(tensor.untyped_storage().nbytes() for tensor in kept.values())
        del value
    return total / n


def _place(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
