"""`fold`: batch norms made part of the layers before them, for inference.

In use a batch norm is an affine map of every channel, with fixed μ and σ², and so is what comes
before it. The two are one:

    y = γ(Wx + b − μ)/√(σ² + ε) + β = W′x + b′
    s = γ/√(σ² + ε)          W′ = sW (every output channel by its own s)          b′ = s(b − μ) + β

A norm can be folded into a Linear, ConvNd or ConvTransposeNd that runs right before it and for it
alone (`predecessors` finds out). Others stay: `network.folding` says which, and why.

The answer is a copy, in `eval` mode, of the user's own class, with an Identity in the place of a
folded norm. It is compared with the original on a batch: one that is given, or a random one where
the first layer tells its size. Outputs must agree to `tol`, relative to the largest.

Cost: one copy of the network and two passes over a batch. Ioffe & Szegedy, 2015, Algorithm 2.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd, _ConvTransposeNd
from torch.nn.utils import parametrize

from thalweg.core.checks import check_number
from thalweg.core.errors import InputError, ThalwegError
from thalweg.nets.model import check_model
from thalweg.nets.norms.predecessors import predecessors

SIDES = (32, 28, 64, 224)  # pixels a side that are tried where no batch is given


@dataclass
class Folding:
    """Which norms became part of which layer, and which did not; prints as a list."""

    folded: dict[str, str] = field(default_factory=dict)  # norm: layer
    kept: dict[str, str] = field(default_factory=dict)  # norm: why
    difference: float = 0.0  # of outputs, relative to the largest

    def __str__(self) -> str:
        lines = [f"folded {norm!r} into {layer!r}" for norm, layer in self.folded.items()]
        lines += [f"kept {norm!r}: {why}" for norm, why in self.kept.items()]
        return "\n".join([*lines, f"outputs differ by {self.difference:.1e} at most"])

    __repr__ = __str__


@torch.no_grad()
def fold(model: nn.Module, batch: Any = None, *, tol: float = 1e-5) -> Any:
    """A copy of `model` for inference, its batch norms folded; `folding` on it says which.

    `batch`: an input, or a tuple of inputs, on which the two are compared.
    """
    check_number("tol", tol, above=0.0)
    _check_precision(check_model(model))
    network: Any = copy.deepcopy(model).eval()
    inputs, before, axes = _run(network, batch)
    folding = Folding()
    names = _names(network)
    for norm, layer, why in list(predecessors(network)):
        why = why or _obstacle(layer, norm, axes.get(norm, 2))
        if why:
            folding.kept[names[norm][0]] = why
            continue
        _fold_into(layer, norm)
        for name in names[norm]:
            parent, _, last = name.rpartition(".")
            setattr(network.get_submodule(parent), last, nn.Identity())
        folding.folded[names[norm][0]] = names[layer][0]
    folding.difference = _difference(before, network(*inputs))
    if not folding.difference <= tol:
        raise ThalwegError(
            f"folding must not change outputs by more than {tol:g}, got {folding.difference:.1e}: "
            "a variance near zero or a layer that forward uses in ways that tracing does not see; "
            f"raise tol, or keep the norms ({', '.join(folding.folded)})"
        )
    network.folding = folding
    return network


def _check_precision(model: nn.Module) -> None:
    for name, parameter in model.named_parameters():
        if parameter.dtype not in (torch.float32, torch.float64):
            raise InputError(
                "model must be in float32 or float64 for outputs to be compared, got "
                f"{parameter.dtype} in {name!r}: fold model.float(), and convert what comes back"
            )


def _obstacle(layer: Any, norm: Any, axes: int) -> str:
    """What else stands in the way of folding; empty if nothing."""
    channels = layer.out_features if isinstance(layer, nn.Linear) else layer.out_channels
    if norm.running_mean is None:
        return "it keeps no statistics (track_running_stats=False)"
    if parametrize.is_parametrized(layer) or "weight" not in layer._parameters:
        return "the weight of the layer before it is parametrized"
    if channels != norm.num_features or (isinstance(layer, nn.Linear) and axes != 2):
        return "its channels are not the units of the layer before it"
    return ""


def _fold_into(layer: Any, norm: Any) -> None:
    """W′ and b′ in place of W and b, computed in double."""
    mean, variance = norm.running_mean.double(), norm.running_var.double()
    ones, zeros = torch.ones_like(mean), torch.zeros_like(mean)
    gamma = ones if norm.weight is None else norm.weight.double()
    beta = zeros if norm.bias is None else norm.bias.double()
    b = zeros if layer.bias is None else layer.bias.double()
    s = gamma / torch.sqrt(variance + norm.eps)
    W = layer.weight
    if isinstance(layer, _ConvTransposeNd):
        # [in, out/g, k…]: rows of one group feed that group's outputs.
        g = layer.groups
        by_group = W.double().reshape(g, W.shape[0] // g, W.shape[1], -1)
        scaled = by_group * s.reshape(g, 1, W.shape[1], 1)
    else:
        scaled = W.double().reshape(len(s), -1) * s[:, None]
    # New parameters: a weight that another layer shares keeps its old values there.
    layer.weight = nn.Parameter(scaled.reshape(W.shape).to(W.dtype), W.requires_grad)
    layer.bias = nn.Parameter((s * (b - mean) + beta).to(W.dtype), W.requires_grad)


def _names(network: nn.Module) -> dict[Any, list[str]]:
    """All names of every module."""
    names: dict[Any, list[str]] = {}
    for name, module in network.named_modules(remove_duplicate=False):
        names.setdefault(module, []).append(name)
    return names


def _run(network: nn.Module, batch: Any) -> tuple[tuple[Any, ...], Any, dict[Any, int]]:
    """Inputs, outputs, and how many axes the input of every norm has."""
    axes: dict[Any, int] = {}
    hooks = [
        module.register_forward_pre_hook(lambda norm, given: axes.update({norm: given[0].ndim}))
        for module in network.modules()
        if isinstance(module, _BatchNorm)
    ]
    try:
        if batch is not None:
            inputs = batch if isinstance(batch, tuple) else (batch,)
            return inputs, network(*inputs), axes
        for x in _guesses(network):
            try:
                return (x,), network(x), axes
            except (RuntimeError, TypeError, ValueError, IndexError):
                continue
    finally:
        for hook in hooks:
            hook.remove()
    raise InputError(
        "batch must be given, got None: the first layer does not tell the shape of the input"
    )


def _guesses(network: nn.Module) -> Iterator[torch.Tensor]:
    """Random inputs that the first layer takes."""
    generator = torch.Generator().manual_seed(0)
    for module in network.modules():
        shapes: list[tuple[int, ...]]
        if isinstance(module, nn.Linear):
            shapes = [(8, module.in_features)]
        elif isinstance(module, _ConvNd):
            sides = module.weight.ndim - 2
            shapes = [(2, module.in_channels) + (side,) * sides for side in SIDES]
        elif isinstance(module, _BatchNorm):
            shapes = [(8, module.num_features)]
        else:
            continue
        like = next(network.parameters(), torch.zeros(()))
        for shape in shapes:
            yield torch.randn(shape, generator=generator).to(like.device, like.dtype)
        return


def _difference(before: Any, after: Any) -> float:
    """The largest difference between two outputs, relative to the largest entry or 1."""
    if isinstance(before, torch.Tensor):
        if not before.is_floating_point() or before.numel() == 0:
            return 0.0 if torch.equal(before, after) else float("inf")
        gap = (before.double() - after.double()).abs().max()
        return float(gap / before.double().abs().max().clamp(min=1.0))
    if isinstance(before, dict):
        return max((_difference(before[key], after[key]) for key in before), default=0.0)
    if isinstance(before, list | tuple):
        return max((_difference(a, b) for a, b in zip(before, after, strict=True)), default=0.0)
    return 0.0
