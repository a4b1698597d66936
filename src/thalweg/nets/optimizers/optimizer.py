"""What all optimizers that follow a rule share: the options, their order, and how a step is run.

In one step, in this order:

    g ← −g                         `maximize`
    g ← g·min(1, u/‖g‖)            `clip_norm` u, over all parameters that share it
    g ← g + δw                     `weight_decay` δ
    w ← w − ηδw                    instead of the line before, with `decoupled_weight_decay`
    w, … ← rule(w, g, …)
    w ← S(w, ηλ)                   `l1` λ: the proximal step, with exact zeros
    w ← w·min(1, c/‖w_unit‖)       `max_norm` c, of each unit's incoming weights

`kl_sparsity` enters before all of it: a `KLSparsity` adds to the gradients while they are computed.
A group of parameters may have each of them for itself. As in PyTorch, u/‖g‖ is u/(‖g‖ + 10⁻⁶), and
a gradient without a finite norm is left as it is, for the loss to show.

float32 and float64 on the CPU run as one compiled call over a table of addresses (`AddressTable`);
anything else runs the same rule on tensors.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Iterable
from operator import is_
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from thalweg import rules
from thalweg.core.checks import check_number
from thalweg.core.errors import InputError
from thalweg.nets.optimizers.part import Form, Part
from thalweg.nets.optimizers.units import parameter_groups, project_units

PRODUCT = "mu_product"  # PyTorch's name of Nadam's Π μᵢ in a parameter's state
SMALL_NORM = 1e-6  # PyTorch's, beside ‖g‖ where it divides


class RuleOptimizer(torch.optim.Optimizer):
    """An optimizer whose step is a rule: what a subclass gives is its form and its numbers."""

    fast: ClassVar[bool] = True  # whether compiled calls are used where they can be
    remembers: ClassVar[bool] = False  # whether a step leaves numbers for the next one
    _parts: dict[int, Part]  # of the last step, by group
    _known: tuple[list[Any], list[Any]]  # parameters that had states then, and those
    _numbers: np.ndarray  # the settings of that step

    def __init__(
        self,
        params: Any,
        defaults: dict[str, Any],
        *,
        weight_decay: float = 0.0,
        decoupled_weight_decay: bool = False,
        clip_norm: float | None = None,
        l1: float = 0.0,
        max_norm: float | None = None,
        kl_sparsity: Any = None,
        maximize: bool = False,
    ) -> None:
        shared = {
            "weight_decay": weight_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "clip_norm": clip_norm,
            "l1": l1,
            "max_norm": max_norm,
            "maximize": maximize,
            "unit_axis": 0,
            "unit_groups": 1,
        }
        self._forget()
        if kl_sparsity is not None:
            if not isinstance(params, nn.Module):
                raise InputError(
                    "kl_sparsity needs the model, whose activations it holds, got parameters: "
                    f"give {type(self).__name__}(model, …), or leave it out here and call "
                    "kl_sparsity.attach(model)"
                )
            kl_sparsity.attach(params)
        super().__init__(groups_of(params), {**defaults, **shared})

    def form(self, group: dict[str, Any]) -> Form:
        """The rule of a group."""
        raise NotImplementedError

    def numbers(self, group: dict[str, Any], t: int, product: float) -> tuple[float, ...]:
        """η of step t, counted from 1, and the rule's other numbers; `product` is Nadam's Π μᵢ."""
        raise NotImplementedError

    def first(self, name: str, parameter: torch.Tensor, group: dict[str, Any]) -> torch.Tensor:
        """A buffer before the first step."""
        return torch.zeros_like(parameter, memory_format=torch.preserve_format)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters, which may come late."""
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        try:
            self._check(group)
        except InputError:
            self.param_groups.pop()
            raise

    def _check(self, group: dict[str, Any]) -> None:
        refuse_complex(group["params"])
        check_number("lr", float(group["lr"]), at_least=0.0)
        for name in ("weight_decay", "l1"):
            check_number(name, float(group[name]), at_least=0.0)
        for name in ("clip_norm", "max_norm"):
            if group[name] is not None:
                check_number(name, float(group[name]), above=0.0, advice="None is no limit")

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step; `closure`, if given, computes the loss and its gradients first."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        settings: list[list[float]] = []
        same = self._has_same_states()
        found = {
            k: self._part(k, group, settings, same) for k, group in enumerate(self.param_groups)
        }
        self._parts = {k: part for k, part in found.items() if part is not None}
        if not same:
            self._known = list(self.state), list(self.state.values())
        _clip(self._parts.values(), settings)
        numbers = self._numbers_of(settings)
        for part in self._parts.values():
            part.run(numbers, functools.partial(_step_tensor, part, settings))
        return loss

    def _numbers_of(self, settings: list[list[float]]) -> np.ndarray:
        """The settings as one array, that of the last step where it fits."""
        shape = len(settings), max(map(len, settings), default=0)
        if self._numbers.shape != shape:
            self._numbers = np.zeros(shape)
        for row, setting in zip(self._numbers, settings, strict=True):
            row[: len(setting)] = setting
        return self._numbers

    def _has_same_states(self) -> bool:
        """Whether every parameter has the state that it had; looking each up would take longer."""
        parameters, states = self._known
        return (
            len(parameters) == len(self.state)
            and all(map(is_, self.state, parameters))
            and all(map(is_, self.state.values(), states))
        )

    def _part(
        self, k: int, group: dict[str, Any], settings: list[list[float]], same: bool
    ) -> Part | None:
        """The parameters of group k that have gradients; appends the numbers that they need."""
        parameters, form, part = group["params"], self.form(group), self._parts.get(k)
        gradients = [parameter.grad for parameter in parameters]
        present = [gradient for gradient in gradients if gradient is not None]
        if not present:
            return None
        if len(present) < len(gradients):
            parameters = [p for p, g in zip(parameters, gradients, strict=True) if g is not None]
        if not same or part is None or not part.is_of(form, parameters, fast=self.fast):
            states = [self.state[parameter] for parameter in parameters]
            for parameter, state in zip(parameters, states, strict=True):
                # torch's SGD does not count: whatever it has learnt, it was not the first step.
                state.setdefault("step", int(bool(state)))
                for name in form.buffers:
                    if name not in state:  # a momentum that was switched on late begins here
                        state[name] = self.first(name, parameter, group)
            part = Part(group, form, list(parameters), states, fast=self.fast)
        part.aim(part.plain(present), self._count(group, part.states, settings))
        return part

    def _count(
        self, group: dict[str, Any], states: list[dict[str, Any]], settings: list[list[float]]
    ) -> list[int]:
        """Count the step in every state, in place; the row of numbers for each, appended if new."""
        before = [state["step"] for state in states]
        if type(before[0]) is int and before.count(before[0]) == len(before) and not self.remembers:
            t = before[0] + 1
            for state in states:
                state["step"] = t
            settings.append(self._setting(group, t, 1.0))
            return [len(settings) - 1] * len(states)
        rows: dict[tuple[int, float], int] = {}
        which = []
        for state in states:
            t = state["step"] = int(state["step"]) + 1
            product = float(state.get(PRODUCT, 1.0))
            row = rows.get((t, product))
            if row is None:
                row = rows[t, product] = len(settings)
                settings.append(self._setting(group, t, product))
            if self.remembers:
                self.remember(state, settings[row])
            which.append(row)
        return which

    def remember(self, state: dict[str, Any], setting: list[float]) -> None:
        """Keep numbers of this step for the next one, in place."""

    def _setting(self, group: dict[str, Any], t: int, product: float) -> list[float]:
        """A row of numbers for the kernels: what acts around the rule, then the rule's own."""
        lr, *own = self.numbers(group, t, product)
        decay = float(group["weight_decay"])
        coupled, beside = (0.0, decay) if group["decoupled_weight_decay"] else (decay, 0.0)
        radius = math.inf if group["max_norm"] is None else float(group["max_norm"])
        sign = -1.0 if group["maximize"] else 1.0
        return [sign, coupled, beside, lr * float(group["l1"]), radius, lr, *own]

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._forget()

    def _forget(self) -> None:
        """Look at all tensors again in the next step."""
        self._parts = {}
        self._known = [], []
        self._numbers = np.empty((0, 0))


def groups_of(params: Any) -> Any:
    """What `torch.optim.Optimizer` takes: the groups of a model, or what was given."""
    return parameter_groups(params) if isinstance(params, nn.Module) else params


def refuse_complex(parameters: Iterable[torch.Tensor]) -> None:
    """Raise if a parameter is complex."""
    for parameter in parameters:
        if parameter.is_complex():
            raise InputError(
                f"params must be real, got a parameter of {parameter.dtype}: "
                "use torch.view_as_real(parameter), whose two parts are stepped by themselves"
            )


def _clip(parts: Collection[Part], settings: list[list[float]]) -> None:
    """Multiply the scales of `settings` by what clipping asks for, in place."""
    limits = {part.group["clip_norm"] for part in parts} - {None}
    for limit in limits:
        theirs = [part for part in parts if part.group["clip_norm"] == limit]
        norm = math.sqrt(sum(part.squares() for part in theirs))
        if not math.isfinite(norm):
            continue
        factor = rules.clip_factor(norm + SMALL_NORM, float(limit))
        for row in {row for part in theirs for row in part.settings}:
            settings[row][0] *= factor


def _step_tensor(
    part: Part,
    settings: list[list[float]],
    w: torch.Tensor,
    g: torch.Tensor,
    buffers: tuple[torch.Tensor, ...],
    row: int,
) -> None:
    """One step of one parameter by tensor operations, in place."""
    scale, coupled, beside, threshold, radius, lr, *own = settings[row]
    if scale != 1.0:
        g = scale * g
    if coupled:
        g = g + coupled * w
    new = rules.weight_decay(w, lr, beside) if beside else w
    new, *fresh = part.form.rule(new, g, *buffers, lr, *own)
    for old, now in zip(buffers, fresh, strict=True):
        old.copy_(now)
    w.copy_(rules.soft_threshold(new, threshold) if threshold else new)
    if math.isfinite(radius):
        project_units(w, part.group["unit_axis"], part.group["unit_groups"], radius)
