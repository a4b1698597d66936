"""A network as an argument: a module whose tensors all exist."""

from __future__ import annotations

from itertools import chain
from typing import Any

from torch import nn

from thalweg.core.checks import describe
from thalweg.core.errors import InputError


def check_model(model: Any) -> nn.Module:
    """`model` if it is a module with shapes and storage, else a sentence."""
    if not isinstance(model, nn.Module):
        raise InputError(f"model must be a torch.nn.Module, got {describe(model)}")
    for name, tensor in chain(model.named_parameters(), model.named_buffers()):
        if nn.parameter.is_lazy(tensor):
            raise InputError(
                f"model must know its sizes, got {name!r} without a shape: "
                "run one batch through the model first"
            )
        if tensor.is_meta:
            raise InputError(
                f"model must have storage, got {name!r} on the meta device: "
                "call model.to_empty(device=…) first"
            )
    return model
