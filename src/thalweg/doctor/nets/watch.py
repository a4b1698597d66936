"""`watch`: instruments around any training loop, in two lines of it.

    with tw.watch(model, optimizer) as w:
        for x, y in batches:
            ...                     # forward, backward, optimizer.step(), as ever
            w.step(loss)

Training computes the same bits with it as without. Looks at layers come as often as they fit into
`share` of the training's time, those at curvature into `curvature_share`, by measured cost (see
`instruments.budget`). `w.record` is what was seen so far, `w.diagnose()` what is wrong.

With `data`, `validation` and `loss` it also looks at the data and at the first weights when the
block begins, and at what was learnt when it ends (see `facts`): some second each.

Under DDP every process watches itself and exchanges nothing, so that its statistics are those of
its own share of the data (gradients, after DDP has averaged them, are everyone's). `diagnose`
reports on rank 0 alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from thalweg.core import clock
from thalweg.core.checks import check_callable, check_count, check_number, describe
from thalweg.core.errors import InputError
from thalweg.core.finding import Finding
from thalweg.core.record import Record
from thalweg.doctor.nets import symptoms
from thalweg.doctor.nets.facts.examination import Examination
from thalweg.doctor.nets.facts.measured import Measured
from thalweg.doctor.nets.instruments.budget import Budget
from thalweg.doctor.nets.instruments.curvature import UNKNOWN, Curvature, curvature
from thalweg.doctor.nets.instruments.first_batch import NOTHING
from thalweg.doctor.nets.instruments.instruments import Instruments
from thalweg.doctor.nets.instruments.journal import Journal
from thalweg.doctor.nets.instruments.layers import bare, describe_layer
from thalweg.doctor.nets.instruments.origin import Place
from thalweg.doctor.nets.instruments.targets import Targets
from thalweg.nets.flat import trainable
from thalweg.nets.model import check_model
from thalweg.nets.training import world

FIRST = (1, 2, 4, 8, 16)  # steps to look at whatever it costs
RARER = 8  # looks at layers for one at curvature, where `every` is given


def watch(
    model: nn.Module,
    optimizer: torch.optim.Optimizer | Sequence[torch.optim.Optimizer] | None = None,
    *,
    closure: Callable[[], torch.Tensor] | None = None,
    loss: Any = None,
    data: Any = None,
    validation: Any = None,
    share: float = 0.05,
    curvature_share: float = 0.2,
    every: int | None = None,
    curvature_every: int | None = None,
    seed: int = 0,
) -> Watch:
    """Watch a training of `model` by `optimizer`, within a `with` block.

    Parameters
    ----------
    optimizer
        One, or several; None if `tw.nets.fit(…, probes=[w])` brings its own.
    closure
        Returns the loss of a batch, with its graph, for the Hessian. No curvature without it,
        unless `loss` and `data` are given.
    loss
        What is minimized: a name or a function of outputs and labels, as `tw.nets.fit` has it.
    data, validation
        Pairs (x, y) to look at, at most 2,000 rows of each.
    share, curvature_share
        Seconds that looks may take for each second of training.
    every
        Look at steps 1, 1 + every, … instead, and at curvature at every eighth of them, whatever it
        costs: two trainings of one seed then have the same record.
    curvature_every
        With `every`, look at curvature at steps 1, 1 + curvature_every, … instead.
    seed
        Draws the entries of large tensors that stand for all.

    >>> import torch, thalweg as tw
    >>> model = torch.nn.Linear(2, 1)
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> with tw.watch(model, optimizer) as w:
    ...     for _ in range(3):
    ...         optimizer.zero_grad()
    ...         loss = model(torch.eye(2)).square().mean()
    ...         loss.backward()
    ...         optimizer.step()
    ...         w.step(loss)
    >>> [layer.name for layer in w.record.layers], len(w.record["loss"])
    (['Linear'], 3)
    """
    check_model(model)
    trainable(model)
    if closure is not None:
        check_callable("closure", closure, signature="without arguments that returns the loss")
    seed = check_count("seed", seed, at_least=0)
    examination = Examination(bare(model), loss, data, validation, seed)
    if closure is None and examination.has_closure:
        closure = examination.closure
    return Watch(
        model,
        _optimizers(optimizer),
        closure,
        examination,
        Budget(check_number("share", share, above=0.0), _every(every), FIRST),
        Budget(
            check_number("curvature_share", curvature_share, above=0.0),
            None if every is None else _every(curvature_every) or RARER * every,
            (1,),
        ),
        seed,
    )


class Watch:
    """Instruments on one model; made by `watch`."""

    def __init__(
        self,
        model: nn.Module,
        optimizers: Sequence[torch.optim.Optimizer],
        closure: Callable[[], torch.Tensor] | None,
        examination: Examination,
        looks: Budget,
        curvatures: Budget,
        seed: int,
    ) -> None:
        self._instruments = Instruments(model, optimizers, seed)
        self._optimizers = list(optimizers)
        self._closure = closure
        self._examination = examination
        self._facts = Measured()  # of before and after the training
        self._looks, self._curvatures = looks, curvatures
        self._rng = np.random.default_rng(seed)
        self._layers = [describe_layer(*pair) for pair in self._instruments.layers.items()]
        self._settings = [_settings(each) for each in self._optimizers]
        self._journal = Journal(len(self._layers))
        self._targets = Targets()
        self._bad: tuple[int, Place] | None = None  # the first step that was not finite
        self._notes: list[str] = []
        self._is_on = False
        self._step = 0
        self._ended = math.nan  # when the last step was over
        self._tail = 0.0  # seconds of it that were not charged then
        if self._instruments.is_compiled:
            self._notes.append(
                "the model is compiled, where hooks are not called: outputs of layers were not seen"
            )

    def __enter__(self) -> Watch:
        if self._is_on:
            raise InputError("watch must be entered once at a time: leave its `with` block first")
        if not self._step and world.is_main():
            first = self._optimizers[0] if self._optimizers else None
            self._facts = self._examination.before(first)
        self._instruments.attach()
        self._is_on = True
        self._begin()
        return self

    def __exit__(self, failure: Any, *_: Any) -> None:
        # A step that was never finished: `fit` ends at a loss that is no number.
        trouble = self._instruments.last_suspicion()
        if self._bad is None and trouble is not None:
            self._bad = self._step + 1, trouble
        self._instruments.detach()
        self._is_on = False
        if self._step and failure is None and world.is_main():
            self._facts |= self._examination.after()

    def validate(self, loss: Any) -> None:
        """A validation loss after the last step."""
        value = _number("validation loss", loss)
        if not self._step:
            raise InputError("validate must be called after a step, got it before the first")
        self._journal.validate(value)

    def step(self, loss: Any, *, validation: Any = None, targets: Any = None) -> None:
        """One step of the optimizer is over, and `loss` is what it was taken on.

        Call it once after `optimizer.step()`, or after the last of several optimizers' steps.
        `validation` is a validation loss of this moment, `targets` the labels of the batch; neither
        is needed.
        """
        begun = clock.now()
        if not self._is_on:
            raise InputError("step must be called within the `with` block of watch, got it outside")
        if not self._optimizers:
            raise InputError(
                "watch needs the optimizer of a loop of your own, got none: "
                "tw.watch(model, optimizer)"
            )
        value = _loss(loss)
        held_out = math.nan if validation is None else _number("validation", validation)
        instruments = self._instruments
        self._step += 1
        seconds = begun - self._ended - instruments.meter.seconds
        look = instruments.finish()
        self._judge(look, value)
        if instruments.agreement is not None:
            self._journal.agree(instruments.agreement)
        if look is not None:
            self._journal.look(self._step, look)
            self._targets.add(targets)
            if self._examination.batches is not None:
                self._examination.batches.add(instruments.first_input, targets)
            self._see_late_losses()
        if self._step > 1:  # the first one has what is done once in it
            self._looks.took(seconds)
            if self._closure is not None:
                self._curvatures.took(seconds)
        own = instruments.meter.read() + clock.now() - begun + self._tail
        if look is None:
            self._looks.stood_by(self._step, own)
        else:
            self._looks.looked(self._step, own)
        bent = self._bend()
        rest = clock.now()
        self._journal.step(
            value, held_out, instruments.rate, seconds, instruments.model.training,
            instruments.kept, bent,
        )  # fmt: skip
        self._begin()
        self._tail = self._ended - rest

    def __call__(self, moment: Any) -> None:
        """Be a probe of `tw.nets.fit`."""
        if bare(moment.model) is not self._instruments.model:
            raise InputError("watch must be of the model that fit trains, got another one's")
        if not self._optimizers:
            self._optimizers.append(moment.optimizer)
            self._settings.append(_settings(moment.optimizer))
            self._instruments.adopt(moment.optimizer)
            self._instruments.rate = moment.rate
        self.step(moment.value, targets=moment.batch.y)

    def diagnose(self) -> list[Finding]:
        """What is wrong, worst first; on rank 0 alone where there are several processes."""
        return symptoms.diagnose(self.record) if world.is_main() else []

    @property
    def record(self) -> Record:
        """What was seen so far."""
        self._see_late_losses()
        bad, (where, layer) = self._bad or (0, Place("", ""))
        parameters = list(self._instruments.model.parameters())
        trained = sum(p.numel() for p in parameters if p.requires_grad)
        facts = self._facts | Measured(
            parameters=trained,
            frozen=sum(p.numel() for p in parameters) - trained,
            evaluations=float(self._instruments.evaluations),
            evaluations_in_training_mode=float(self._instruments.wrong_evaluations),
            bad_step=bad,
            bad_where=where,
            bad_layer=layer,
        )
        scalars = {
            **(self._instruments.batch or NOTHING),
            **self._targets.scalars(),
            **facts.scalars(),
            "overhead": self._looks.overhead,
            "curvature_overhead": self._curvatures.overhead,
            "rank": world.rank(),
            "processes": world.size(),
        }
        order = self._instruments.order or range(len(self._layers))
        notes = list(self._notes)
        if self._step and self._instruments.order is None and not self._instruments.is_compiled:
            notes.append("no layer was seen to run: outputs are unknown, layers in model order")
        return self._journal.record(self._layers, order, scalars, self._settings, notes)

    def _begin(self) -> None:
        """The next step begins."""
        step = self._step + 1
        self._instruments.arm(self._looks.is_due(step), self._looks.is_awake(step))
        self._instruments.meter.read()
        self._ended = clock.now()

    def _judge(self, look: Any, value: float | torch.Tensor) -> None:
        """Note the first place that is not finite."""
        if self._bad is None:
            is_finite = isinstance(value, torch.Tensor) or math.isfinite(value)
            place = self._instruments.place_of_trouble(look, is_finite)
            if place is not None:
                self._bad = self._step, place
                self._instruments.is_settled = True

    def _see_late_losses(self) -> None:
        """Losses on other devices are read at looks: the first bad one may have come before."""
        step = self._journal.read()
        if step is not None and (self._bad is None or step < self._bad[0]):
            self._bad = step, self._bad[1] if self._bad else Place("loss", "")

    def _bend(self) -> Curvature:
        """Curvature, if there is a closure and it is time."""
        if self._closure is None or not self._curvatures.is_due(self._step):
            return UNKNOWN
        begun = clock.now()
        meter = self._instruments.meter
        meter.is_paused = True
        try:
            model = self._instruments.model
            found = curvature(model, self._closure, self._rng, self._optimizers[0])
        except RuntimeError as problem:
            self._closure, found = None, UNKNOWN
            line = (str(problem).splitlines() or [""])[0]
            self._notes.append(f"the loss has no second derivative here, no curvature: {line}")
        finally:
            meter.is_paused = False
        self._curvatures.looked(self._step, clock.now() - begun)
        return found


def _optimizers(given: Any) -> list[torch.optim.Optimizer]:
    found = [] if given is None else [given] if not isinstance(given, Sequence) else list(given)
    for each in found:
        if not isinstance(each, torch.optim.Optimizer):
            raise InputError(
                "optimizer must be a torch.optim.Optimizer or several of them, got "
                f"{describe(each)}"
            )
    return found


def _every(every: int | None) -> int | None:
    return None if every is None else check_count("every", every)


def _settings(optimizer: torch.optim.Optimizer) -> Mapping[str, Any]:
    """Name and numbers of an optimizer's first group."""
    group = optimizer.param_groups[0]
    numbers = {
        name: value for name, value in group.items() if name != "params" and _is_plain(value)
    }
    return {"name": type(optimizer).__name__, **numbers}


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str)


def _loss(loss: Any) -> float | torch.Tensor:
    """A number; a tensor where reading it would make a device wait."""
    if isinstance(loss, torch.Tensor) and loss.numel() == 1 and loss.device.type != "cpu":
        return loss.detach().reshape(()).clone()
    return _number("loss", loss)


def _number(name: str, value: Any) -> float:
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        return value.item()
    if isinstance(value, int | float | np.number):
        return float(value)
    raise InputError(f"{name} must be one number, as a tensor or a float, got {describe(value)}")
