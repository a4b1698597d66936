"""A network that a recipe built as ONNX, layer by layer, in float32 as it was trained.

    Scaling                  (x − shift)·factor
    Linear, Conv2d           Gemm, Conv
    BatchNorm                γ(x − r)/√(v + ε) + β, r and v the running averages
    MaxPool2d, activations   their namesakes
    Dropout, Identity        nothing: it answers, and does not train

A network from its user's code may hold anything: torch exports that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from thalweg.core.errors import InputError
from thalweg.exports.onnx_graph import Graph, answer, features
from thalweg.nets.norms.batch_norm import BatchNorm
from thalweg.nets.recipes.scaling import Scaling
from thalweg.nets.regularizers.dropout import Dropout
from thalweg.runs.network_input import Shape
from thalweg.runs.prediction import IDENTITY, LINKS
from thalweg.runs.saved import Saved
from thalweg.tables.column import has_names


def onnx_bytes(saved: Saved) -> bytes:
    """The file."""
    if saved.job.builder:
        raise InputError(
            f"{saved.folder} has a network from code, which torch exports: torch.onnx.export("
            f"tw.load({str(saved.folder)!r}).module(builder={saved.job.builder!r}), …)"
        )
    model: Any = saved.model()
    graph, encoding = Graph(), saved.encoding
    x = graph.cast(features(graph, encoding.columns, has_names(encoding.columns)), "FLOAT")
    for layer in model.module:
        x = _layer(graph, x, layer)
    target = encoding.target.name if encoding.target else "y"
    answer(graph, graph.cast(x, "DOUBLE"), LINKS.get(model.loss, IDENTITY), model.classes)
    return graph.to_bytes(f"A network for {target}, exported by Thalweg.")


def _layer(graph: Graph, x: str, layer: nn.Module) -> str:
    for kind, convert in CONVERSIONS.items():
        if isinstance(layer, kind):
            return convert(graph, x, layer)
    raise InputError(
        f"a network must be made of layers of recipes to be exported, got {type(layer).__name__}: "
        "use torch.onnx.export on tw.load(run).module()"
    )


def _shape(graph: Graph, x: str, layer: Any) -> str:
    return graph.node("Reshape", x, graph.constant([-1, *layer.shape], np.int64))


def _flatten(graph: Graph, x: str, layer: Any) -> str:
    return graph.node("Flatten", x, axis=1)


def _unflatten(graph: Graph, x: str, layer: Any) -> str:
    """Of images without channels: [n, height, width] to [n, 1, height, width]."""
    return graph.node("Unsqueeze", x, graph.constant([1], np.int64))


def _scaling(graph: Graph, x: str, layer: Any) -> str:
    centred = graph.node("Sub", x, _weights(graph, layer.shift))
    return graph.node("Mul", centred, _weights(graph, layer.factor))


def _linear(graph: Graph, x: str, layer: Any) -> str:
    inputs = [x, _weights(graph, layer.weight)]
    if layer.bias is not None:
        inputs.append(_weights(graph, layer.bias))
    return graph.node("Gemm", *inputs, transB=1)


def _conv(graph: Graph, x: str, layer: Any) -> str:
    inputs = [x, _weights(graph, layer.weight)]
    if layer.bias is not None:
        inputs.append(_weights(graph, layer.bias))
    pads = [*layer.padding, *layer.padding]
    return graph.node("Conv", *inputs, kernel_shape=list(layer.kernel_size), pads=pads)


def _pool(graph: Graph, x: str, layer: Any) -> str:
    size = [layer.kernel_size, layer.kernel_size]
    return graph.node("MaxPool", x, kernel_shape=size, strides=size)


def _norm(graph: Graph, x: str, layer: Any) -> str:
    parts = (layer.weight, layer.bias, layer.running_mean, layer.running_var)
    inputs = [_weights(graph, part) for part in parts]
    return graph.node("BatchNormalization", x, *inputs, epsilon=layer.eps)


def _dropout(graph: Graph, x: str, layer: Any) -> str:
    """Nothing, but where weights and not units were to be scaled."""
    if layer.scaling == "inverted":
        return x
    return graph.node("Mul", x, graph.constant(layer.keep, np.float32))


def _nothing(graph: Graph, x: str, layer: Any) -> str:
    return x


def _named(kind: str, **attributes: Any) -> Callable[[Graph, str, Any], str]:
    def convert(graph: Graph, x: str, layer: Any) -> str:
        return graph.node(kind, x, **attributes)

    return convert


def _weights(graph: Graph, tensor: torch.Tensor) -> str:
    return graph.constant(tensor.detach().cpu().numpy(), np.float32)


CONVERSIONS: dict[type[nn.Module], Callable[[Graph, str, Any], str]] = {
    Shape: _shape, nn.Flatten: _flatten, nn.Unflatten: _unflatten, Scaling: _scaling,
    nn.Linear: _linear, nn.Conv2d: _conv, nn.MaxPool2d: _pool, BatchNorm: _norm,
    Dropout: _dropout, nn.Identity: _nothing,
    nn.ReLU: _named("Relu"), nn.Tanh: _named("Tanh"), nn.Sigmoid: _named("Sigmoid"),
    nn.LeakyReLU: _named("LeakyRelu", alpha=0.01), nn.ELU: _named("Elu"), nn.GELU: _named("Gelu"),
}  # fmt: skip
