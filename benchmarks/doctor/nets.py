"""Networks of the zoo, in plain PyTorch, from a line of words as a recipe has it.

    "linear"             one linear map
    "mlp:32x16"          hidden layers of 32 and 16 units
    "conv:8x16/32"       3 × 3 convolutions of 8 and 16 channels, each with pooling, then 32 units
    "residual:6x32"      6 blocks x + W₂φ(W₁x) of width 32 between two linear maps
    "rnn:16", "gru:16", "lstm:16"    a recurrent layer of 16 units; its last state is read out
    "attention:16"       one head of self-attention of width 16 over the steps of a sequence

A hidden layer is: linear map or convolution, norm, activation, dropout.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from thalweg.nets.recipes.layers import ACTIVATIONS as RECIPES


@dataclass(frozen=True)
class Net:
    """A network, in words and numbers."""

    layers: str = "mlp:32x32"
    activation: str = "relu"
    initializer: str = "default"  # PyTorch's own, or a scheme by name
    bias: float = 0.0  # to begin with, where a scheme is named
    norm: str = "none"  # or "batch", "layer"
    keep: float = 1.0  # dropout's share of units that stay
    output: str = "none"  # what follows the last linear map
    gain: float = 1.0  # a factor of the scores
    detached: int | None = None  # the hidden layer behind which no gradient passes, from 1
    frozen: int = 0  # layers, from the input, that are not trained


class Exp(nn.Module):
    """x ↦ exp(x)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Element by element."""
        return x.exp()


class SquareRoot(nn.Module):
    """x ↦ √x, which has no value below zero."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Element by element."""
        return x.sqrt()


class Detach(nn.Module):
    """The identity, through which no gradient passes."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The same numbers without their history."""
        return x.detach()


class Gain(nn.Module):
    """x ↦ cx."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scaled."""
        return self.factor * x


class Residual(nn.Module):
    """x ↦ x + W₂φ(norm(W₁x))."""

    def __init__(self, net: Net, width: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(
            nn.Linear(width, width), *after(net, width), nn.Linear(width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """One block."""
        return x + self.inner(x)


class LastState(nn.Module):
    """A recurrent layer over [n, steps, features]; what it knows after the last step."""

    def __init__(self, kind: str, features: int, width: int) -> None:
        super().__init__()
        self.cell = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}[kind](
            features, width, batch_first=True
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The last output, [n, width]."""
        return self.cell(x)[0][:, -1]


class Attention(nn.Module):
    """One head of self-attention with learnt positions and a residual, averaged over the steps."""

    def __init__(self, steps: int, features: int, width: int) -> None:
        super().__init__()
        self.embed = nn.Linear(features, width)
        self.place = nn.Parameter(0.1 * torch.randn(steps, width))
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.norm = nn.LayerNorm(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[n, steps, features] to [n, width]."""
        h = self.embed(x) + self.place
        looked = functional.scaled_dot_product_attention(self.query(h), self.key(h), self.value(h))
        return self.norm(h + looked).mean(1)


ACTIVATIONS: dict[str, type[nn.Module]] = {
    **RECIPES,
    "selu": nn.SELU,
    "silu": nn.SiLU,
    "softplus": nn.Softplus,
    "hard-tanh": nn.Hardtanh,
    "exp": Exp,
    "square-root": SquareRoot,
}
OUTPUTS: dict[str, list[Callable[[], nn.Module]]] = {
    "none": [],
    "softmax": [lambda: nn.Softmax(1)],
    "double-softmax": [lambda: nn.Softmax(1), lambda: nn.Softmax(1)],
    "log-softmax": [lambda: nn.LogSoftmax(1)],
    "sigmoid": [nn.Sigmoid],
    "tanh": [nn.Tanh],
    "relu": [nn.ReLU],
}


def build(net: Net, input_shape: Sequence[int], outputs: int) -> nn.Sequential:
    """The network for inputs [n, *input_shape], drawn from PyTorch's generator."""
    kind, _, sizes = net.layers.partition(":")
    if kind in ("linear", "mlp"):
        blocks, size = _mlp(net, sizes, [[nn.Flatten()]], math.prod(input_shape))
    elif kind == "conv":
        blocks, size = _conv(net, sizes, input_shape)
    elif kind == "residual":
        depth, size = map(int, sizes.split("x"))
        blocks = [[nn.Flatten()], [nn.Linear(math.prod(input_shape), size)]]
        blocks += [[Residual(net, size)] for _ in range(depth)]
    elif kind == "attention":
        size = int(sizes)
        blocks = [[], [Attention(input_shape[0], input_shape[1], size)]]
    else:
        size = int(sizes)
        blocks = [[], [LastState(kind, input_shape[-1], size)]]
    if net.detached is not None:
        blocks[net.detached].append(Detach())
    parts = [module for block in blocks for module in block] + [nn.Linear(size, outputs)]
    if net.gain != 1.0:
        parts.append(Gain(net.gain))
    model = nn.Sequential(*parts, *(make() for make in OUTPUTS[net.output]))
    if net.initializer != "default":
        _initialize(model, net)
    layers = [m for m in model.modules() if isinstance(m, nn.Linear | nn.Conv2d)]
    for layer in layers[: net.frozen]:
        layer.requires_grad_(False)
    return model


def after(net: Net, width: int, is_image: bool = False) -> list[nn.Module]:
    """What follows a linear map or a convolution."""
    parts: list[nn.Module] = []
    if net.norm == "batch":
        parts.append(nn.BatchNorm2d(width) if is_image else nn.BatchNorm1d(width))
    elif net.norm == "layer":
        parts.append(nn.GroupNorm(1, width) if is_image else nn.LayerNorm(width))
    parts.append(ACTIVATIONS[net.activation]())
    return parts if net.keep == 1.0 else [*parts, nn.Dropout(1.0 - net.keep)]


def _mlp(
    net: Net, sizes: str, blocks: list[list[nn.Module]], size: int
) -> tuple[list[list[nn.Module]], int]:
    for width in map(int, filter(None, sizes.split("x"))):
        blocks.append([nn.Linear(size, width, bias=net.norm == "none"), *after(net, width)])
        size = width
    return blocks, size


def _conv(net: Net, sizes: str, input_shape: Sequence[int]) -> tuple[list[list[nn.Module]], int]:
    channels, height, width = input_shape
    convolutions, _, top = sizes.partition("/")
    blocks: list[list[nn.Module]] = [[]]
    for filters in map(int, convolutions.split("x")):
        layer = nn.Conv2d(channels, filters, 3, padding=1, bias=net.norm == "none")
        blocks.append([layer, *after(net, filters, is_image=True), nn.MaxPool2d(2)])
        channels, height, width = filters, height // 2, width // 2
    blocks[-1].append(nn.Flatten())
    return _mlp(net, top, blocks, channels * height * width)


@torch.no_grad()
def _initialize(model: nn.Module, net: Net) -> None:
    """Draw weights by the scheme and set biases, as `tw.nets.initialize` does."""
    form = re.fullmatch(r"([\w-]+)(?:\[\w+=(.+)\])?", net.initializer)
    assert form is not None, net.initializer
    scheme, number = form[1], float(form[2] or 0.0)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d | nn.LayerNorm | nn.GroupNorm):
            continue
        for name, tensor in module.named_parameters(recurse=False):
            if "weight" in name:
                _draw(tensor, scheme, number)
            elif "bias" in name:
                tensor.fill_(net.bias)


def _draw(weight: torch.Tensor, scheme: str, number: float) -> None:
    field = math.prod(weight.shape[2:])
    n_in, n_out = weight.shape[1] * field, weight.shape[0] * field
    if scheme in ("zeros", "constant"):
        weight.fill_(number)
    elif scheme == "orthogonal":
        nn.init.orthogonal_(weight)
    else:
        sigma = {
            "normal": number,
            "lecun": n_in**-0.5,
            "xavier": (2.0 / (n_in + n_out)) ** 0.5,
            "he": (2.0 / n_in) ** 0.5,
        }[scheme]
        weight.normal_(0.0, sigma)
