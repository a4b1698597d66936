"""All instruments on one model, from the forward pass to the end of a step.

    forward pass            the batch is noted; outputs of layers, at a look
    backward pass           sentinels: was the gradient zeroed, is it finite?
    before optimizer.step   norms of g and w, at a look; after one, g beside that of the look
    after it                Δw, at a look

Layers carry hooks only while the model runs at a look: they are put on when it is called with
gradients on, and taken off when it returns. So steps in between run as they would alone, and an
evaluation never sees a hook (PyTorch's transformer would choose another path). A model that is
called by its parts, never as a whole, carries them from the end of the step before. Asleep, a step
is left alone but for its learning rate (see `budget`).

Each optimizer reports its own parameters when it steps, as others' gradients may not be there yet;
parameters that no optimizer has go with the first. With a closure the gradient comes during the
step and is read after it. Nothing that training computes with is changed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.utils._pytree import tree_map_only

from thalweg.core.errors import InputError
from thalweg.doctor.nets.instruments.activations import NAMES, Collector
from thalweg.doctor.nets.instruments.first_batch import first_batch
from thalweg.doctor.nets.instruments.hook import Hook, Meter
from thalweg.doctor.nets.instruments.layers import (
    bare,
    forward_order,
    is_compiled,
    layers_of,
    unit_axis,
)
from thalweg.doctor.nets.instruments.noise import Agreement, Noise, agreement
from thalweg.doctor.nets.instruments.norms import Norms
from thalweg.doctor.nets.instruments.origin import Place, first_bad_output, last_bad_gradient
from thalweg.doctor.nets.instruments.sentinel import Sentinel, posts


class Look(NamedTuple):
    """What one look has seen."""

    total: float  # ‖g‖
    columns: dict[str, np.ndarray]  # by name, float64[layers], in the order of `Instruments.names`


class Instruments:
    """What is attached to a model and its optimizers."""

    def __init__(
        self, model: nn.Module, optimizers: Sequence[torch.optim.Optimizer] = (), seed: int = 0
    ) -> None:
        self.model = bare(model)
        self.is_compiled = is_compiled(model)
        self.layers = layers_of(self.model)
        self.names = list(self.layers)
        self.order: list[int] | None = None  # of the forward pass, known from the first look on
        self.meter = Meter()
        self.batch: dict[str, float] | None = None  # the first one
        self.agreement: Agreement | None = None  # of the last look's gradient and this step's
        self.rate = math.nan
        self.kept = math.nan  # whether the gradient held the last one
        self.is_settled = False  # whether it is known where numbers ended
        self.evaluations = 0  # calls of the model without gradients, of those that were seen
        self.wrong_evaluations = 0  # those of them in training mode
        self.is_armed = False  # whether this step is a look
        self._is_awake = True  # whether this step is seen at all
        self._generator = torch.Generator().manual_seed(seed)
        self._collector = Collector(self._generator)
        self._norms = Norms(self.layers.values(), self._generator)
        self._optimizers = list(optimizers)
        self._which = self._parameters_of(self._optimizers)  # of each, by number in `_norms`
        self._noise = self._noise_of_first()
        self._sentinels: dict[int, list[Sentinel]] = {}  # by optimizer
        self._gradient: torch.Tensor | None = None  # of the last look, for the step after it
        self._handles: list[Any] = []  # on optimizers
        self._root: Any = None  # on the model
        self._on_layers: list[Any] = []
        self._is_called_whole: bool | None = None  # whether the root runs; None before it is known
        self._call: tuple[Sequence[Any], Mapping[str, Any]] | None = None  # the last batch
        self._suspicion: Place | None = None
        self._stepped: dict[int, bool] = {}  # optimizers that did, and whether with a closure

    def attach(self) -> None:
        """Put hooks on the model and on the optimizers."""
        if not self.is_compiled:
            self._on_root()
        self._is_awake = True
        for k in range(len(self._optimizers)):
            self._listen_to(k)

    def adopt(self, optimizer: torch.optim.Optimizer) -> None:
        """Listen to this optimizer, where there was none."""
        self._optimizers, self._which = [optimizer], self._parameters_of([optimizer])
        self._noise = self._noise_of_first()
        self._listen_to(0)
        self._stepped[0] = True  # it has stepped already, and is heard of for the first time

    def detach(self) -> None:
        """Take all hooks off."""
        for handle in self._handles:
            handle.remove()
        self._sleep()
        self._handles, self._sentinels = [], {}
        self._off_layers()

    def arm(self, is_look: bool, is_awake: bool = True) -> None:
        """Begin a step, which is a look or is not; asleep, all but optimizers are left alone."""
        self.is_armed = is_look
        is_awake = is_awake or is_look or self._gradient is not None
        if is_awake and not self._is_awake:
            self._wake()
        elif self._is_awake and not is_awake:
            self._sleep()
        self.agreement, self.kept = None, math.nan
        self._stepped, self._suspicion = {}, None
        if is_look:
            self._collector.clear()
            self._norms.clear()
            if not self._optimizers:  # nobody will say when the first step is about to come
                self._norms.weigh(range(len(self._norms.parameters)))
            if not self._is_called_whole and not self.is_compiled:
                self._on_all_layers()
        for sentinels in self._sentinels.values():
            for sentinel in sentinels:
                sentinel.is_armed = is_look

    def finish(self) -> Look | None:
        """The step is over: what was seen, if it is a look."""
        if not self._is_awake:
            return None
        self._off_layers()
        for k in range(len(self._optimizers)):
            # With a closure the gradient is there only now; without a step it may be an old one.
            if self._stepped.get(k, self.is_armed):
                self._gradients(k)
        if not self.is_armed:
            return None
        if self._is_called_whole is None:
            self._is_called_whole = self._call is not None
        for k, which in enumerate(self._which):
            if k not in self._stepped:
                self._norms.weigh(which)
                self._norms.forget(which)
        self._norms.after()
        return Look(self._norms.total, self._norms.by_layer() | self._outputs())

    def place_of_trouble(self, look: Look | None, loss_is_finite: bool) -> Place | None:
        """Where this step was not finite; None where it was, or where its gradient was not used."""
        if self._suspicion is not None and (self._stepped or not loss_is_finite):
            return self._blame()
        if look is not None:
            order = self.order or range(len(self.names))
            bad = [k for k in order if look.columns["not_finite"][k] == 1]
            if bad:
                return Place("forward", self.names[bad[0]])
            if self._stepped and not math.isfinite(look.total) and not math.isnan(look.total):
                bad = [k for k in order if np.isinf(look.columns["gradient_norm"][k])]
                return Place("gradient", self.names[bad[-1]]) if bad else None
        return None if loss_is_finite else Place("loss", "")

    @property
    def first_input(self) -> Any:
        """What the model was called with last, its first argument; None where it was not seen."""
        args, kwargs = self._call or ((), {})
        return next((x for x in (*args, *kwargs.values()) if isinstance(x, torch.Tensor)), None)

    def last_suspicion(self) -> Place | None:
        """What a step that was never finished has seen."""
        return None if self._suspicion is None else self._blame()

    def _parameters_of(self, optimizers: Sequence[torch.optim.Optimizer]) -> list[list[int]]:
        """The parameters of each optimizer; those that none has go with the first."""
        number = {id(p): k for k, p in enumerate(self._norms.parameters)}
        left, found = dict.fromkeys(number.values()), []
        for optimizer in optimizers:
            given = [id(p) for group in optimizer.param_groups for p in group["params"]]
            which = [number[p] for p in given if p in number]
            if not which:
                raise InputError(
                    "optimizer must train parameters of the model, got "
                    f"{type(optimizer).__name__} of others: make it from model.parameters()"
                )
            found.append(which)
            for k in which:
                left.pop(k, None)
        if found:
            found[0] += left
        return found

    def _noise_of_first(self) -> Noise | None:
        """Successive gradients are compared as the first optimizer sees them."""
        if not self._which:
            return None
        first = [self._norms.parameters[k] for k in self._which[0]]
        return Noise([p for p in first if p.requires_grad], self._generator)

    def _listen_to(self, k: int) -> None:
        begin = self._hook(functools.partial(self._begin, k))
        self._handles.append(self._optimizers[k].register_step_pre_hook(begin))

    def _hook(self, function: Any) -> Hook:
        return Hook(function, self.meter)

    def _enter(self, module: nn.Module, args: Any, kwargs: Any) -> None:
        """The model is called."""
        if not torch.is_grad_enabled():
            self.evaluations += 1
            self.wrong_evaluations += module.training
            return
        if not kwargs and all(isinstance(x, torch.Tensor) and not x.requires_grad for x in args):
            self._call = args, kwargs
        else:  # without what made the batch: its graph would live for a step more
            self._call = tree_map_only(torch.Tensor, torch.Tensor.detach, (args, kwargs))
        if self.batch is None:
            self.batch = first_batch((*args, *kwargs.values()))
        if self.is_armed and self._is_called_whole and not self._on_layers:
            self._on_all_layers()
            leave = self._hook(self._leave)
            self._on_layers.append(self.model.register_forward_hook(leave, always_call=True))

    def _leave(self, module: nn.Module, inputs: Any, output: Any) -> None:
        """The model returns, or fails."""
        self._off_layers()

    def _on_root(self) -> None:
        hook = self._hook(self._enter)
        self._root = self.model.register_forward_pre_hook(hook, with_kwargs=True)

    def _wake(self) -> None:
        self._is_awake = True
        if not self.is_compiled:
            self._on_root()
        for sentinels in self._sentinels.values():
            for sentinel in sentinels:
                sentinel.rise()

    def _sleep(self) -> None:
        self._is_awake, self._call = False, None
        if self._root is not None:
            self._root.remove()
        for sentinels in self._sentinels.values():
            for sentinel in sentinels:
                sentinel.remove()

    def _on_all_layers(self) -> None:
        self._on_layers = [
            module.register_forward_hook(self._hook(self._listener(name)))
            for name, module in self.layers.items()
        ]

    def _off_layers(self) -> None:
        for handle in self._on_layers:
            handle.remove()
        self._on_layers = []

    def _listener(self, name: str) -> Any:
        def listen(module: nn.Module, inputs: Any, output: Any) -> None:
            if not torch.is_grad_enabled():
                return
            if self.batch is None:  # the model is called by its parts
                self.batch = first_batch(inputs)
            a = output[0] if isinstance(output, tuple) and output else output
            collector = self._collector
            collector.axis = unit_axis(module, collector.axis)
            if isinstance(a, torch.Tensor) and a.is_floating_point() and not a.is_nested:
                collector.add(name, module, a, self.model.training)

        return listen

    def _begin(
        self, k: int, optimizer: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        """Optimizer k is about to step."""
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        if k == 0:
            self.rate = float(optimizer.param_groups[0]["lr"])
        if not self._is_awake:
            self._stepped[k] = True
            return
        if self.is_armed and k not in self._stepped:
            self._norms.weigh(self._which[k])
        self._stepped[k] = closure is not None
        if closure is None:
            self._gradients(k)

    def _gradients(self, k: int) -> None:
        """The gradients of optimizer k are there."""
        if self.is_armed:
            if self.order is None and self._collector.by_layer:
                self.order = forward_order(self.names, list(self._collector.by_layer))
            self._norms.gradients(self._which[k])
        if k not in self._sentinels:
            self._post(k)
        for sentinel in self._sentinels.get(k, ()):
            kept = sentinel.stepped() if k in self._stepped else None
            if kept is not None:
                self.kept = max(float(kept), 0.0 if math.isnan(self.kept) else self.kept)
        if self._suspicion is not None and self._suspicion.where == "":
            self._suspicion = last_bad_gradient(self._by_layer()) or self._suspicion
        if k == 0 and self._noise is not None and (self.is_armed or self._gradient is not None):
            now = self._noise.look()
            if self._gradient is not None:
                self.agreement = agreement(self._gradient, now)
            self._gradient = now if self.is_armed else None

    def _post(self, k: int) -> None:
        """Set sentinels, now that it is known who has gradients."""
        own = {id(self._norms.parameters[j]) for j in self._which[k]}
        layers = [[p for p in layer if id(p) in own] for layer in self._by_layer().values()]
        found = posts(layers)
        if found:
            self._sentinels[k] = [Sentinel(p, self._alarm, self.meter) for p in found]
            for sentinel in self._sentinels[k]:
                sentinel.is_kept = False  # nothing was there before the first step

    def _alarm(self) -> None:
        """A gradient is not finite: find out why while weights and batch are as they were."""
        if self._suspicion is not None or self.is_settled:
            return
        self.meter.is_paused = True
        try:
            found = None if self._call is None else first_bad_output(self.model, *self._call)
        finally:
            self.meter.is_paused = False
        self._suspicion = found or Place("", "")

    def _blame(self) -> Place:
        assert self._suspicion is not None
        if self._suspicion.where:
            return self._suspicion
        return last_bad_gradient(self._by_layer()) or Place("gradient", "")

    def _by_layer(self) -> dict[str, list[nn.Parameter]]:
        """Parameters of each layer, in forward order."""
        order = self.order or range(len(self.names))
        names = [self.names[k] for k in order]
        return {name: list(self.layers[name].parameters(recurse=False)) for name in names}

    def _outputs(self) -> dict[str, np.ndarray]:
        numbers = self._collector.numbers()
        nothing = [math.nan] * len(NAMES)
        table = np.array([numbers.get(name, nothing) for name in self.names])
        return {column: table[:, k] for k, column in enumerate(NAMES)}
