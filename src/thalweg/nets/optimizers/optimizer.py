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

float32 and float64 on the CPU run as one compiled call over a table of addresses (`Table`);
anything else runs the same rule on tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import nn

from thalweg import rules
from thalweg.core.checks import check_number
from thalweg.core.errors import InputError
from thalweg.nets.optimizers.table import DTYPES, Table, Tensors
from thalweg.nets.optimizers.units import Units, parameter_groups, project_units, units_of

PRODUCT = "mu_product"  # PyTorch's name of Nadam's Π μᵢ in a parameter's state
SMALL_NORM = 1e-6  # PyTorch's, beside ‖g‖ where it divides


class Form(NamedTuple):
    """A rule as an optimizer runs it."""

    kernel: Any  # of `kernels.tensors`
    rule: Callable[..., tuple[torch.Tensor, ...]]  # (w, g, *buffers, lr, *numbers) → w, *buffers
    buffers: tuple[str, ...]  # names in a parameter's state, PyTorch's


class Job(NamedTuple):
    """One parameter in one step."""

    parameter: torch.Tensor
    gradient: torch.Tensor
    group: dict[str, Any]
    form: Form
    buffers: tuple[torch.Tensor, ...]
    setting: int  # row of the numbers


class RuleOptimizer(torch.optim.Optimizer):
    """An optimizer whose step is a rule: what a subclass gives is its form and its numbers."""

    fast: ClassVar[bool] = True  # whether compiled calls are used where they can be

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
        self._tables: dict[Any, Table] = {}
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
        jobs = [job for group in self.param_groups for job in self._jobs(group, settings)]
        self._run(jobs, settings)
        return loss

    def _jobs(self, group: dict[str, Any], settings: list[list[float]]) -> Iterable[Job]:
        """The parameters of a group that have gradients; appends the numbers that they need."""
        form = self.form(group)
        rows: dict[tuple[int, float], int] = {}
        for parameter in group["params"]:
            gradient = parameter.grad
            if gradient is None:
                continue
            if gradient.layout is not torch.strided:
                gradient = gradient.to_dense()
            state = self.state[parameter]
            # torch's SGD does not count: whatever it has learnt, it was not the first step.
            t = state["step"] = int(state.get("step", bool(state))) + 1
            for name in form.buffers:
                if name not in state:  # a momentum that was switched on late has one from then on
                    state[name] = self.first(name, parameter, group)
            product = float(state.get(PRODUCT, 1.0))
            row = rows.get((t, product))
            if row is None:
                row = rows[t, product] = len(settings)
                settings.append(self._setting(group, t, product))
            self.remember(state, settings[row])
            buffers = tuple(state[name] for name in form.buffers)
            yield Job(parameter, gradient, group, form, buffers, row)

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

    def _run(self, jobs: list[Job], settings: list[list[float]]) -> None:
        """Clip, and step: tables by kernel and float type, what is left one by one."""
        together: dict[Any, list[Job]] = {}
        alone = []
        for job in jobs:
            if self.fast and _is_simple(job):
                together.setdefault((job.form.kernel, job.parameter.dtype), []).append(job)
            else:
                alone.append(job)
        tables = {key: self._table(key, members) for key, members in together.items()}
        self._tables = tables
        _clip(tables, together, alone, settings)
        width = max(map(len, settings), default=0)
        numbers = np.array([row + [0.0] * (width - len(row)) for row in settings])
        for (kernel, _), table in tables.items():
            table.run(kernel, numbers)
        for job in alone:
            _step_tensor(job, settings[job.setting])

    def _table(self, key: Any, jobs: list[Job]) -> Table:
        members = [Tensors(job.parameter, job.buffers, _units(job)) for job in jobs]
        table = self._tables.get(key)
        if table is None or not table.is_of(members):
            table = Table(members)
        table.aim([job.gradient for job in jobs], [job.setting for job in jobs])
        return table

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._tables = {}


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


def _units(job: Job) -> Units | None:
    if job.group["max_norm"] is None:
        return None
    return units_of(job.parameter, job.group["unit_axis"], job.group["unit_groups"])


def _is_simple(job: Job) -> bool:
    """Whether the tensors are plain memory of one float type, element beside element."""
    w, tensors = job.parameter, (job.gradient, *job.buffers)
    return (
        w.dtype in DTYPES
        and w.device.type == "cpu"
        and w.is_contiguous()
        and w.numel() > 0
        and all(t.dtype == w.dtype and t.is_contiguous() for t in tensors)
    )


def _clip(
    tables: dict[Any, Table],
    together: dict[Any, list[Job]],
    alone: list[Job],
    settings: list[list[float]],
) -> None:
    """Multiply the scales of `settings` by what clipping asks for, in place."""
    limits = {
        job.setting: job.group["clip_norm"]
        for job in (*alone, *(job for jobs in together.values() for job in jobs))
    }
    for limit in {limit for limit in limits.values() if limit is not None}:
        total = sum(
            float(torch.linalg.vector_norm(job.gradient, dtype=torch.float64)) ** 2
            for job in alone
            if job.group["clip_norm"] == limit
        )
        for key, jobs in together.items():
            theirs = [job.group["clip_norm"] == limit for job in jobs]
            if any(theirs):
                total += tables[key].squares(theirs)
        norm = math.sqrt(total)
        if not math.isfinite(norm):
            continue
        factor = min(1.0, float(limit) / (norm + SMALL_NORM))
        for setting, own in limits.items():
            if own == limit:
                settings[setting][0] *= factor


def _step_tensor(job: Job, setting: list[float]) -> None:
    """One step of one parameter by tensor operations, in place."""
    scale, coupled, beside, threshold, radius, lr, *own = setting
    w, g = job.parameter, job.gradient
    if scale != 1.0:
        g = scale * g
    if coupled:
        g = g + coupled * w
    new = rules.weight_decay(w, lr, beside) if beside else w
    new, *buffers = job.form.rule(new, g, *job.buffers, lr, *own)
    for old, fresh in zip(job.buffers, buffers, strict=True):
        old.copy_(fresh)
    w.copy_(rules.soft_threshold(new, threshold) if threshold else new)
    if math.isfinite(radius):
        project_units(w, job.group["unit_axis"], job.group["unit_groups"], radius)
