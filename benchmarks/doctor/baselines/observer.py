"""`Observer`: all numbers that the four detectors ask for, collected in one training.

    observer = Observer(program, model, optimizer)
    with observer: … observer.step(loss, targets=y) after every step of the optimizer
    observer.record

It has hooks of its own and touches neither the model nor the generator. An epoch is over when the
model is evaluated without gradients; `Record.epochs` is complete after `program.epochs` of them.

Accuracy is the share of right classes. The detectors ask it of classifications; where one needs it
of a regression too, R² stands in for it. Batch by batch it needs the targets: without them it is
not a number, and rules on it stay silent.
"""

from __future__ import annotations

import math
from copy import deepcopy
from typing import Any

import torch
from torch import nn

from doctor.baselines.layers import BOUNDED, RECTIFIED, Layer, gradients, layers_of, together
from doctor.baselines.record import Epoch, Inspection, Probe, Record
from doctor.data import Split
from doctor.losses import criterion
from doctor.program import Program

PERIOD = 10  # steps between two probes, as TheDeepChecker has it
EVERY = 3  # epochs between two inspections, as AutoTrainer has it
NEARLY_ZERO = 1e-5  # an activation or a weight of that size counts as none
SATURATED = 0.85  # ρ of a unit above which it is saturated


class Observer:
    """Collects a `Record` from hooks and from what the loop tells it."""

    def __init__(
        self, program: Program, model: nn.Module, optimizer: torch.optim.Optimizer
    ) -> None:
        data = program.split()
        self.record = Record(program, data, deepcopy(model), model)
        self._model, self._optimizer = model, optimizer
        self._layers = layers_of(model)
        self._loss_of = criterion(program)
        self._outputs: dict[int, torch.Tensor] = {}
        self._arrived: dict[int, torch.Tensor] = {}
        self._means: dict[tuple[str, int], list[torch.Tensor]] = {}
        self._losses: list[torch.Tensor] = []
        self._accuracies: list[torch.Tensor] = []
        self._before: list[torch.Tensor] = []
        self._epoch_began = 0

    def __enter__(self) -> Observer:
        """Set the hooks."""
        self._hooks = [
            layer.end.register_forward_hook(self._look(place))
            for place, layer in enumerate(self._layers)
        ]
        self._hooks.append(self._model.register_forward_hook(self._whole))
        return self

    def __exit__(self, *_: object) -> None:
        """Take them away and turn what was collected into numbers."""
        for hook in self._hooks:
            hook.remove()
        record = self.record
        record.losses, record.accuracies = _numbers(self._losses), _numbers(self._accuracies)
        record.means = {key: _numbers(values) for key, values in self._means.items()}

    @torch.no_grad()
    def step(self, loss: torch.Tensor, targets: torch.Tensor | None = None, **_: Any) -> None:
        """Note what this step did."""
        self._losses.append(loss.detach())
        self._accuracies.append(
            torch.tensor(math.nan)
            if targets is None
            else accuracy(self.record.program, self._output, targets, self.record.data)
        )
        for place, layer in enumerate(self._layers):
            output = self._outputs[place]
            self._add("forward", place, output.detach().mean())
            if output.requires_grad:  # where no gradient arrives although one should, it is zero
                self._add("backward", place, self._arrived.get(place, output.new_zeros(())))
            if layer.is_trained:
                self._add("gradient", place, gradients(layer).mean())
                self._add("weights", place, together(layer.weights).mean())
        self._arrived = {}
        steps = len(self._losses)
        if steps % PERIOD == 0:
            self.record.probes.append(
                [self._probe(place, layer) for place, layer in enumerate(self._layers)]
            )
        if (steps + 1) % PERIOD == 0:
            self._before = [together(layer.weights).clone() for layer in self._layers]

    def validate(self, loss: float) -> None:
        """Nothing is to be done: the evaluation itself was seen."""

    def _add(self, what: str, place: int, value: torch.Tensor) -> None:
        self._means.setdefault((what, place), []).append(value)

    def _look(self, place: int) -> Any:
        def look(module: nn.Module, inputs: Any, output: torch.Tensor) -> None:
            if not torch.is_grad_enabled():
                return
            self._outputs[place] = output
            if output.requires_grad:
                output.register_hook(arrive)

        def arrive(gradient: torch.Tensor) -> None:
            self._arrived[place] = gradient.mean()

        return look

    def _whole(self, module: nn.Module, inputs: Any, output: torch.Tensor) -> None:
        """The output of a batch, or of the validation rows: then an epoch is over."""
        if torch.is_grad_enabled():
            self._output = output.detach()
        elif len(self.record.epochs) < self.record.program.epochs:
            self._close(output)

    def _close(self, output: torch.Tensor) -> None:
        record, began = self.record, self._epoch_began
        program, data = record.program, record.data
        record.epochs.append(
            Epoch(
                float(torch.stack(self._losses[began:]).mean()),
                float(torch.stack(self._accuracies[began:]).mean()),
                float(self._loss_of(output, data.y_val)),
                float(accuracy(program, output, data.y_val, data)),
                self._optimizer.param_groups[0]["lr"],
            )
        )
        self._epoch_began = len(self._losses)
        if len(record.epochs) % EVERY == 0 or len(record.epochs) == program.epochs:
            record.inspections.append(self._inspect())

    def _inspect(self) -> Inspection:
        trained = [layer for layer in self._layers if layer.is_trained]
        found = [gradients(layer) for layer in trained]
        weights = [together(layer.weights).detach() for layer in trained]
        every = together(found)
        return Inspection(
            len(self.record.epochs),
            float(found[0].norm()),
            float(found[-1].norm()),
            float((every == 0).float().mean()),
            bool(torch.isfinite(together(weights)).all() and torch.isfinite(every).all()),
            max(float(output.detach().abs().mean()) for output in self._outputs.values()),
            float(_probabilities(self.record.program, self._output).abs().sum(1).mean()),
        )

    def _probe(self, place: int, layer: Layer) -> Probe:
        w, g = together(layer.weights).detach(), gradients(layer)
        size, slope = float(w.abs().mean()), float(g.abs().mean())
        moved = float((w - self._before[place]).abs().mean())
        decay, l1 = self.record.program.steps.weight_decay, self.record.program.loop.l1
        ratio = moved / size if size else 0.0
        return Probe(
            *_activity(layer, self._outputs[place].detach()),
            size,
            float((w.abs() < NEARLY_ZERO).float().mean()),
            float((w < 0).float().mean()),
            slope,
            math.log10(ratio) if ratio > 0 else (-math.inf if ratio == 0 else math.nan),
            (decay * size + l1) / slope if slope else 0.0,
        )


def _activity(
    layer: Layer, output: torch.Tensor
) -> tuple[float | None, float | None, float | None]:
    """Shares of dead and of saturated units, and the spread."""
    if layer.activation is None:
        return None, None, None
    units = output.transpose(0, 1).flatten(1)  # a row for each unit or channel
    dead = saturated = None
    if isinstance(layer.activation, RECTIFIED):
        dead = float(((units < NEARLY_ZERO).float().mean(1) >= 0.95).float().mean())
    if isinstance(layer.activation, BOUNDED):
        scaled = 2 * units - 1 if isinstance(layer.activation, nn.Sigmoid) else units
        # ρ, the mean of |output| scaled to [−1, 1]: what bins give when none holds both signs.
        saturated = float((scaled.abs().mean(1) > SATURATED).float().mean())
    return dead, saturated, float(output.std())


def accuracy(program: Program, output: torch.Tensor, y: torch.Tensor, data: Split) -> torch.Tensor:
    """The share of right classes; of a regression 1 − MSE/variance, cut to [−1, 1]."""
    if not data.classes:
        share = ((output[:, 0] - y) ** 2).mean() / data.y.var(correction=0)
        return (1.0 - share).nan_to_num(nan=-1.0).clamp(-1.0, 1.0)
    if not program.has_one_output:
        return (output.argmax(1) == y).float().mean()
    z = output[:, 0].nan_to_num()
    if program.loss in ("squared", "absolute"):
        return (z.round() == y).float().mean()
    limit = 0.5 if program.net.output == "sigmoid" else 0.0
    return ((z > limit) == (y > 0)).float().mean()


def _probabilities(program: Program, output: torch.Tensor) -> torch.Tensor:
    """What the loss takes the outputs for: scores, log-probabilities or probabilities."""
    if program.loss in ("cross-entropy", "smooth"):
        return output.softmax(1)
    if program.loss == "binary-cross-entropy":
        return output.sigmoid()
    return output.exp() if program.loss == "nll" else output


def _numbers(values: list[torch.Tensor]) -> list[float]:
    return torch.stack(values).double().tolist() if values else []
