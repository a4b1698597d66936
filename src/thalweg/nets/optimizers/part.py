"""The parameters of one group in a step: those that go through tables, and those that go alone.

What stays the same from one step to the next, which tensors there are, where they lie and of which
type, is looked at once; then a step only makes sure that nothing was replaced, which for 300
tensors takes a tenth of a millisecond, and points to its gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any, NamedTuple

import numpy as np
import torch

from thalweg.nets.optimizers.address_table import DTYPES, AddressTable, Tensors, places_of
from thalweg.nets.optimizers.units import Units, units_of

STRIDED = torch.strided


class Form(NamedTuple):
    """A rule as an optimizer runs it."""

    kernel: Any  # of `kernels.tensors`
    rule: Callable[..., tuple[torch.Tensor, ...]]  # (w, g, *buffers, lr, *numbers) → w, *buffers
    buffers: tuple[str, ...]  # names in a parameter's state, PyTorch's


class Part:
    """Parameters of one group, with their states, that have gradients."""

    def __init__(
        self,
        group: dict[str, Any],
        form: Form,
        parameters: list[torch.Tensor],
        states: list[dict[str, Any]],
        *,
        fast: bool,
    ) -> None:
        self.group, self.form, self.fast = group, form, fast
        self.parameters, self.states = parameters, states
        self.places = places_of(parameters)
        self.dtypes = [parameter.dtype for parameter in parameters]
        self.buffers = _buffers(form, states)
        self.has_units = group["max_norm"] is not None
        self.gradients: list[torch.Tensor] = []
        self.settings: list[int] = []
        self.tables, self.alone = self._sorted()

    def is_of(self, form: Form, parameters: Sequence[torch.Tensor], *, fast: bool) -> bool:
        """Whether it was made for just these tensors, where they are now."""
        return (
            form is self.form
            and fast == self.fast
            and len(parameters) == len(self.parameters)
            and (self.group["max_norm"] is not None) == self.has_units
            and all(map(is_, parameters, self.parameters))
            and places_of(parameters) == self.places
            and all(map(is_, _buffers(self.form, self.states), self.buffers))
        )

    def plain(self, gradients: list[torch.Tensor]) -> list[torch.Tensor]:
        """The gradients as plain memory; copies of those that are sparse or otherwise laid out."""
        if (
            [gradient.layout for gradient in gradients].count(STRIDED) == len(gradients)
            and all(map(torch.Tensor.is_contiguous, gradients))
            and [gradient.dtype for gradient in gradients] == self.dtypes
        ):
            return gradients
        return [
            gradient.to_dense().to(dtype).contiguous()
            for gradient, dtype in zip(gradients, self.dtypes, strict=True)
        ]

    def aim(self, gradients: list[torch.Tensor], settings: list[int]) -> None:
        """Point to this step's gradients, and give every tensor its row of numbers."""
        self.gradients, self.settings = gradients, settings
        for table, members in self.tables:
            if len(members) == len(gradients):
                table.aim(gradients, settings)
            else:
                table.aim([gradients[i] for i in members], [settings[i] for i in members])

    def squares(self) -> float:
        """Σg²."""
        total = sum(table.squares() for table, _ in self.tables)
        norms = (
            torch.linalg.vector_norm(self.gradients[i], dtype=torch.float64) for i in self.alone
        )
        return total + sum(norm.item() ** 2 for norm in norms)

    def run(self, numbers: np.ndarray, step: Callable[..., None]) -> None:
        """Step all tensors in place; those that go alone by `step`."""
        for table, _ in self.tables:
            table.run(self.form.kernel, numbers)
        for i in self.alone:
            step(self.parameters[i], self.gradients[i], self._buffers_of(i), self.settings[i])
        self.gradients = []  # not kept alive until the next step

    def _buffers_of(self, i: int) -> tuple[torch.Tensor, ...]:
        return tuple(self.states[i][name] for name in self.form.buffers)

    def _sorted(self) -> tuple[list[tuple[AddressTable, list[int]]], list[int]]:
        """Tables by float type, each with its members, and who goes alone."""
        kinds: dict[torch.dtype, list[int]] = {}
        alone = []
        for i, parameter in enumerate(self.parameters):
            if self.fast and _is_simple(parameter, self._buffers_of(i)):
                kinds.setdefault(parameter.dtype, []).append(i)
            else:
                alone.append(i)
        tables = [
            (AddressTable([self._tensors(i) for i in members]), members)
            for members in kinds.values()
        ]
        return tables, alone

    def _tensors(self, i: int) -> Tensors:
        units: Units | None = None
        if self.has_units:
            axis, groups = self.group["unit_axis"], self.group["unit_groups"]
            units = units_of(self.parameters[i], axis, groups)
        return Tensors(self.parameters[i], self._buffers_of(i), units)


def _buffers(form: Form, states: list[dict[str, Any]]) -> list[torch.Tensor | None]:
    return [state.get(name) for name in form.buffers for state in states]


def _is_simple(w: torch.Tensor, buffers: tuple[torch.Tensor, ...]) -> bool:
    """Whether the tensors are plain memory of one float type, element beside element."""
    return (
        w.dtype in DTYPES
        and w.device.type == "cpu"
        and w.is_contiguous()
        and w.numel() > 0
        and all(t.dtype == w.dtype and t.is_contiguous() for t in buffers)
    )
