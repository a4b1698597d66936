"""Which modules of a network are layers, what they are, and in which order they run.

A layer is a module that has parameters of its own, or an activation: one of PyTorch's, or a module
without parameters or parts that is not PyTorch's (a person's own activation). Functions such as
torch.relu are no modules and cannot be seen; the layer before them can.

Their order is that in which they end in the first forward pass. A layer that did not run (the
output projection inside `MultiheadAttention`, whose weights are used but not called) stands behind
the one that precedes it in the model.

Where the units of an output are:

    Linear, LayerNorm, Embedding, attention       last axis
    convolutions, batch, group, instance norm     axis 1
    an activation                                 as in the layer that ran before it

with axis 1 for outputs of four axes and more, when nothing is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from torch import nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.conv import _ConvNd
from torch.nn.parallel import DataParallel, DistributedDataParallel

from thalweg.core.record import Layer
from thalweg.nets.initializers.fans import fans

_ROLES: tuple[tuple[str, tuple[type[nn.Module], ...]], ...] = (
    ("linear", (nn.Linear, nn.Bilinear, _ConvNd)),
    (
        "relu",
        (
            nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.PReLU, nn.RReLU, nn.ELU, nn.CELU, nn.SELU, nn.GELU,
            nn.SiLU, nn.Mish, nn.Hardswish, nn.Threshold,
        ),
    ),
    ("sigmoid", (nn.Sigmoid, nn.Hardsigmoid)),
    ("tanh", (nn.Tanh, nn.Hardtanh, nn.Softsign)),
    ("softmax", (nn.Softmax, nn.Softmax2d, nn.Softmin)),
    ("norm", (_NormBase, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm, nn.LocalResponseNorm)),
)  # fmt: skip
_BY_CHANNEL = (_ConvNd, _NormBase, nn.GroupNorm)
_BY_FEATURE = (nn.Linear, nn.LayerNorm, nn.RMSNorm, nn.Embedding, nn.MultiheadAttention)


def bare(model: nn.Module) -> nn.Module:
    """The network itself, out of what `torch.compile` and DDP put around it."""
    while True:
        inner = getattr(model, "_orig_mod", None)
        if isinstance(inner, nn.Module):
            model = inner
        elif isinstance(model, DataParallel | DistributedDataParallel):
            model = model.module
        else:
            return model


def is_compiled(model: nn.Module) -> bool:
    """Whether the model, or a part of it, runs compiled, where hooks are not called."""
    return any(
        isinstance(getattr(module, "_orig_mod", None), nn.Module)
        or getattr(module, "_compiled_call_impl", None) is not None
        for module in model.modules()
    )


def layers_of(model: nn.Module) -> dict[str, nn.Module]:
    """The layers by name, in the order of `named_modules`; a shared one once."""
    return {
        name or type(model).__name__: module
        for name, module in model.named_modules()
        if _is_layer(module)
    }


def _is_layer(module: nn.Module) -> bool:
    if any(True for _ in module.parameters(recurse=False)):
        return True
    if any(True for _ in module.children()):
        return False
    home, kind = type(module).__module__, type(module).__name__
    if home.startswith("torch.nn."):
        return home == "torch.nn.modules.activation"
    return "Dropout" not in kind  # ours too


def role_of(module: nn.Module) -> str:
    """What a layer does, in one word."""
    return next((role for role, kinds in _ROLES if isinstance(module, kinds)), "other")


def describe_layer(name: str, module: nn.Module) -> Layer:
    """A layer as it stands in the record."""
    own = list(module.parameters(recurse=False))
    weight = weight_of(module)
    return Layer(
        name,
        type(module).__name__,
        role_of(module),
        math.nan if weight is None else float(fans(module, weight).n_in),
        () if weight is None else tuple(weight.shape),
        sum(p.numel() for p in own),
        sum(p.numel() for p in own if p.requires_grad),
    )


def weight_of(module: nn.Module) -> nn.Parameter | None:
    """The parameter whose entries are multiplied: the first with two axes or more."""
    return next((p for p in module.parameters(recurse=False) if p.ndim > 1), None)


def unit_axis(module: nn.Module, before: int | None) -> int | None:
    """1 or −1; `before` is that of the layer that ran before, None where nothing is known."""
    if isinstance(module, _BY_CHANNEL):
        return 1
    if isinstance(module, _BY_FEATURE):
        return -1
    return before


def forward_order(names: Sequence[str], called: Sequence[str]) -> list[int]:
    """Positions in `names` in the order of `called`, the others behind their predecessors."""
    position = {name: k for k, name in enumerate(names)}
    order: list[Any] = [position[name] for name in called]
    seen = set(order)
    for k in range(len(names)):
        if k not in seen:
            order.insert(order.index(k - 1) + 1 if k else 0, k)
            seen.add(k)
    return order
