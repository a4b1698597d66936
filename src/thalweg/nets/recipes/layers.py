"""A network from a line of words.

    "linear"              one linear map
    "mlp:256x128"         hidden layers of 256 and 128 units
    "conv:16x32/128"      3 × 3 convolutions with 16 and 32 channels, each followed by pooling by
                          two, then a hidden layer of 128 units ("/128" may be left out)

A hidden layer is: linear map or convolution, norm, activation, dropout, in this order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from torch import nn

from thalweg.core.errors import InputError, suggest
from thalweg.nets.norms.batch_norm import BatchNorm
from thalweg.nets.regularizers.dropout import Dropout
from thalweg.tables.budget import free
from thalweg.tables.table import size as spelled

ACTIVATIONS: dict[str, type[nn.Module]] = {
    "relu": nn.ReLU,
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
    "leaky-relu": nn.LeakyReLU,
    "elu": nn.ELU,
    "gelu": nn.GELU,
    "identity": nn.Identity,
}
NORMS = ("none", "batch")
_WIDTHS = r"[1-9]\d{0,7}(x[1-9]\d{0,7})*"
_FORM = re.compile(rf"linear|mlp:(?P<mlp>{_WIDTHS})|conv:(?P<conv>{_WIDTHS})(/(?P<top>{_WIDTHS}))?")


def check_layers(text: str) -> None:
    """Raise unless `text` describes a network."""
    if not (isinstance(text, str) and _FORM.fullmatch(text)):
        raise InputError(
            f"layers must read like 'linear', 'mlp:256x128' or 'conv:16x32/128', got {text!r}: "
            "numbers are units or channels, from input to output"
        )


def build(
    layers: str,
    input_shape: Sequence[int],
    outputs: int,
    *,
    activation: str = "relu",
    norm: str = "none",
    keep: float = 1.0,
) -> nn.Sequential:
    """The network that `layers` describes, for inputs [n, *input_shape]."""
    check_layers(layers)
    form = _FORM.fullmatch(layers)
    assert form is not None
    _check_memory(layers, weights_of(layers, input_shape, outputs))
    parts: list[nn.Module] = []
    shape = tuple(input_shape)
    if form["conv"]:
        if len(shape) == 2:
            parts.append(nn.Unflatten(1, (1, shape[0])))
            shape = (1, *shape)
        if len(shape) != 3:
            raise InputError(
                f"convolutions need images, got inputs of shape {list(shape)}: reshape them to "
                "[n, channels, height, width], or use layers='mlp:…'"
            )
        for width in _widths(form["conv"]):
            parts += [nn.Conv2d(shape[0], width, 3, padding=1, bias=norm == "none")]
            parts += _after(width, activation, norm, keep)
            parts += [nn.MaxPool2d(2)]
            shape = (width, shape[1] // 2, shape[2] // 2)
            if min(shape) == 0:
                raise InputError(
                    f"images of {list(input_shape)} are halved to nothing by {layers!r}: "
                    "use fewer convolutions"
                )
    parts.append(nn.Flatten())
    size = math.prod(shape)
    for width in _widths(form["mlp"] or form["top"]):
        parts.append(nn.Linear(size, width, bias=norm == "none"))
        parts += _after(width, activation, norm, keep)
        size = width
    parts.append(nn.Linear(size, outputs))
    return nn.Sequential(*parts)


def weights_of(layers: str, input_shape: Sequence[int], outputs: int) -> int:
    """How many weights the network has, biases and norms left out."""
    form = _FORM.fullmatch(layers)
    assert form is not None
    channels = _widths(form["conv"])
    size = math.prod(input_shape)
    count, before = 0, input_shape[0] if len(input_shape) == 3 else 1
    for width in channels:
        count, before = count + 9 * before * width, width
        size = width * math.prod(max(1, side >> len(channels)) for side in input_shape[-2:])
    for width in (*_widths(form["mlp"] or form["top"]), outputs):
        count, size = count + size * width, width
    return count


def _check_memory(layers: str, weights: int) -> None:
    if 4 * weights > free():
        raise InputError(
            f"layers must fit into memory, got {layers!r}, whose weights take "
            f"{spelled(4 * weights)} where {spelled(free())} are free: use fewer units"
        )


def _after(width: int, activation: str, norm: str, keep: float) -> list[nn.Module]:
    """What follows a linear map or a convolution."""
    if activation not in ACTIVATIONS:
        raise InputError(
            f"activation must be a known name, got {activation!r}: "
            + suggest(str(activation), ACTIVATIONS)
        )
    parts: list[nn.Module] = [] if norm == "none" else [BatchNorm(width)]
    parts.append(ACTIVATIONS[activation]())
    return parts if keep == 1.0 else [*parts, Dropout(keep)]


def _widths(text: str | None) -> list[int]:
    return [int(width) for width in text.split("x")] if text else []
