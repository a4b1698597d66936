"""A network on disk: its weights and buffers in one safetensors file, read back strictly.

What is read must be, name by name, what the network has, in shape and in type; nothing in the file
is executed. The network itself comes from its recipe, or from its user's code.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from thalweg.core.checks import describe
from thalweg.core.errors import InputError, StorageError
from thalweg.nets.initializers.safetensors import read_safetensors, safetensors_bytes


def write_module(model: nn.Module) -> bytes:
    """What a safetensors file of the network holds."""
    state = model.state_dict()
    for name, value in state.items():
        if not isinstance(value, torch.Tensor):
            raise InputError(
                f"model must have a state of tensors alone, got {describe(value)} as {name!r}: "
                "leave get_extra_state out"
            )
    return safetensors_bytes(state)


def read_module(file: str | Path, model: nn.Module) -> None:
    """Give `model` the weights and buffers of a file, in place, if they are its own."""
    try:
        stored = read_safetensors(file)
    except InputError as problem:
        raise StorageError(f"{problem}; restore it from a copy, or train again") from problem
    except OSError as problem:
        raise StorageError(
            f"{file} cannot be read ({problem.strerror or problem}): restore it from a copy, or "
            "train again"
        ) from problem
    if different := _difference(stored, dict(model.state_dict())):
        raise InputError(
            f"{file} must hold the weights of this network: {different}: build it as it was built "
            "when it was trained"
        )
    model.load_state_dict(stored)


def _difference(stored: dict[str, torch.Tensor], own: dict[str, torch.Tensor]) -> str:
    for name, tensor in own.items():
        if name not in stored:
            return f"{name} is not in it"
        for what in ("shape", "dtype"):
            there, here = getattr(stored[name], what), getattr(tensor, what)
            if there != here:
                words = (list(there), list(here)) if what == "shape" else (there, here)
                return f"{name} is {words[0]} there and {words[1]} here"
    strange = next((name for name in stored if name not in own), None)
    return "" if strange is None else f"it has {strange}, which the network has not"
