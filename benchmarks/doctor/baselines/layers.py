"""The layers of a network as Keras counts them: weights together with what follows them.

A layer begins at a module with a matrix of weights. Norm and activation behind it belong to it,
and its output is theirs; dropout, pooling and the like belong to nobody. The detectors were
written for such layers, so a linear map and its ReLU are one here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from doctor.nets import Attention, Detach, Gain, LastState

WHOLE = (nn.Linear, nn.Conv2d, LastState, Attention)
# What may follow and is no activation.
LINEAR = (nn.BatchNorm1d, nn.BatchNorm2d, nn.LayerNorm, nn.GroupNorm, nn.Identity, Gain)
NOBODY = (nn.Flatten, nn.Dropout, nn.MaxPool2d, Detach)
RECTIFIED = (nn.ReLU,)
BOUNDED = (nn.Sigmoid, nn.Tanh, nn.Hardtanh)


@dataclass
class Layer:
    """Weights and what follows them."""

    start: nn.Module  # has the weights
    end: nn.Module  # its output is the layer's
    weights: list[nn.Parameter]  # matrices; biases and norms are left out
    is_trained: bool  # whether the optimizer moves it
    activation: nn.Module | None = None


def layers_of(model: nn.Module) -> list[Layer]:
    """From the input to the output."""
    found: list[Layer] = []
    for module in _parts(model):
        if isinstance(module, WHOLE):
            weights = [p for p in module.parameters() if p.ndim > 1]
            found.append(Layer(module, module, weights, any(p.requires_grad for p in weights)))
        elif found and not isinstance(module, NOBODY):
            found[-1].end = module
            if not isinstance(module, LINEAR):
                found[-1].activation = module
    return found


def _parts(module: nn.Module) -> Iterator[nn.Module]:
    """Modules without children, but recurrent layers and attention in one piece."""
    children = list(module.children())
    if isinstance(module, WHOLE) or not children:
        yield module
    else:
        for child in children:
            yield from _parts(child)


def together(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """All their numbers in a row."""
    return tensors[0].flatten() if len(tensors) == 1 else torch.cat([t.flatten() for t in tensors])


def gradients(layer: Layer) -> torch.Tensor:
    """Of its weights, in a row; zero where none arrived."""
    return together([torch.zeros_like(p) if p.grad is None else p.grad for p in layer.weights])
