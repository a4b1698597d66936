"""Many tensors as one vector: w = (w₁, …, w_k), each flattened, one after the other.

`gather` copies the tensors into a vector, `scatter` copies a vector back into them, where they are:
no parameter moves in memory, so that whatever points to it stays right. `split` shows the parts of
a vector in the tensors' shapes, without a copy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch

from thalweg.core.errors import InputError


class Flat:
    """The vector of some tensors, in their order."""

    def __init__(self, tensors: Iterable[torch.Tensor]) -> None:
        self.tensors = tuple(tensors)
        if not self.tensors:
            raise InputError(
                "a model must have at least one parameter that requires a gradient, got none: "
                "unfreeze one with requires_grad_(True)"
            )
        self.shapes = [tuple(tensor.shape) for tensor in self.tensors]
        self.sizes = [math.prod(shape) for shape in self.shapes]
        self.dim = sum(self.sizes)
        self.dtype = self.tensors[0].dtype
        for tensor in self.tensors:
            self.dtype = torch.promote_types(self.dtype, tensor.dtype)
        self.device = self.tensors[0].device

    def gather(self) -> torch.Tensor:
        """w, a fresh vector."""
        return self.join([tensor.detach() for tensor in self.tensors])

    def gradient(self) -> torch.Tensor:
        """Their gradients as a fresh vector, zero where there is none."""
        return self.join(
            [torch.zeros_like(t) if t.grad is None else t.grad.detach() for t in self.tensors]
        )

    def join(self, parts: Sequence[torch.Tensor]) -> torch.Tensor:
        """Tensors of these shapes as one vector; differentiable."""
        if len(parts) == 1:
            return parts[0].reshape(-1).to(self.dtype, copy=True)
        return torch.cat([part.reshape(-1).to(self.device, self.dtype) for part in parts])

    def split(self, w: torch.Tensor) -> list[torch.Tensor]:
        """The parts of `w` in the tensors' shapes: views."""
        if w.shape != (self.dim,):
            raise InputError(f"w must have {self.dim} entries, got shape {tuple(w.shape)}")
        parts = w.split(self.sizes)
        return [part.view(shape) for part, shape in zip(parts, self.shapes, strict=True)]

    @torch.no_grad()
    def scatter(self, w: torch.Tensor) -> None:
        """Copy `w` into the tensors, where they are."""
        for tensor, part in zip(self.tensors, self.split(w), strict=True):
            tensor.copy_(part)


def trainable(model: torch.nn.Module) -> Flat:
    """The parameters of `model` that require gradients, as one vector."""
    return Flat(p for p in model.parameters() if p.requires_grad)
