"""What a network is given: batches in its own precision, on its own device.

    uint8      x/255 in [0, 1], as images are
    floats     the precision of the model
    integers   as they are: they are indices, as of words

Labels become what the loss wants. With precision "bfloat16" the forward pass runs under
`torch.autocast`, and its outputs come back in the model's precision.
"""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch import nn

from thalweg.core.checks import describe
from thalweg.core.errors import InputError
from thalweg.nets.training.losses import Loss


class Inputs:
    """Makes the batches of one model."""

    def __init__(self, model: nn.Module, precision: str | None = None) -> None:
        floats = [p for p in model.parameters() if p.is_floating_point()]
        if not floats:
            raise InputError(
                f"model must have at least one parameter, got {type(model).__name__} with none"
            )
        self.like = floats[0]
        if precision not in (None, "bfloat16"):
            raise InputError(
                f"precision must be None or 'bfloat16', got {describe(precision)}: "
                "None computes in the model's own"
            )
        self.precision = precision

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """`x` as the model takes it."""
        like = self.like
        if x.dtype == torch.uint8:
            return x.to(like.device).to(like.dtype).div_(255.0)
        return x.to(like.device, like.dtype if x.is_floating_point() else None)

    def labels(self, y: torch.Tensor, loss: Loss) -> torch.Tensor:
        """`y` as the loss takes it."""
        return loss.labels(y.to(self.like.device), self.like)

    def run(self, model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        """The outputs of `model`."""
        with self._cast():
            output: Any = model(x)
        if not isinstance(output, torch.Tensor):
            raise InputError(
                f"model must return one tensor, got {describe(output)}: wrap it in a module "
                "that returns the scores"
            )
        return output if self.precision is None else output.to(self.like.dtype)

    def look(self, model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        """The outputs on a first batch; samples that do not fit the model are bad input."""
        try:
            return self.run(model, x)
        except (RuntimeError, TypeError) as problem:  # TypeError: it takes more than one tensor
            shape = ", ".join(["n", *map(str, x.shape[1:])])
            raise InputError(
                f"model cannot take samples of shape [{shape}]: {str(problem).splitlines()[0]}"
            ) from problem

    def _cast(self) -> Any:
        if self.precision is None:
            return contextlib.nullcontext()
        return torch.autocast(self.like.device.type, dtype=torch.bfloat16)
