"""The plan of a network: what is to be trained, how steep it is at first, and what a step costs.

    first loss    with the first weights, beside that of the best constant prediction
    λ_max         the largest Hessian eigenvalue of the loss of 256 rows, at the first weights
    2/λ_max       above this rate plain steps grow along that direction; momentum moves the limit

For each optimizer a few steps are taken on a copy of the network, with batches of the real data,
and timed. All epochs then take

    steps · seconds of a step + epochs · seconds of a validation + looks of the watch

Which optimizer learns more in these steps is not predicted: there is no theorem to do so by. What
`tw.doctor.check` finds before the first step is told as well. The network that would be trained is
left as it is.

Cost: some seconds, of which most go to `check`; at most some thousand rows are looked at.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from thalweg.core.card import count_of
from thalweg.core.clock import Clock
from thalweg.core.finding import Finding, Severity
from thalweg.core.grid import aligned, html_grid
from thalweg.core.plan import (
    ESTIMATED,
    EXACT,
    Measured,
    Predicted,
    spelled_bytes,
    spelled_compiled,
    spelled_seconds,
)
from thalweg.core.text import escaped, shown
from thalweg.doctor.nets.first_check import check
from thalweg.doctor.nets.instruments.curvature import Curvature, curvature
from thalweg.doctor.nets.symptoms.rate import limit_of
from thalweg.jobs.network_activations import activation_bytes
from thalweg.jobs.network_recipe import AUTO, job_recipe
from thalweg.jobs.network_training import Ready, ready, relevant
from thalweg.jobs.rows import Rows
from thalweg.nets.flat import trainable
from thalweg.nets.recipes.recipe import Recipe
from thalweg.nets.training.batches import Batch, Batches, Pair
from thalweg.nets.training.denormals import flushed_denormals
from thalweg.nets.training.evaluate import evaluate
from thalweg.nets.training.inputs import Inputs
from thalweg.nets.training.journey import own_randomness
from thalweg.nets.training.losses import loss_of
from thalweg.nets.training.step import Stepper, needs_closure
from thalweg.runs.job import Job
from thalweg.runs.network_model import outputs
from thalweg.tables.encoding import Encoding

USUAL = ("sgd", "nesterov", "adam")
LIMITED = ("sgd", "heavy-ball", "nesterov")  # whose limit follows from λ_max alone
SAMPLE = 2000  # rows of the first loss
CHECKED = 800  # rows that the doctor looks at, and as many that are held out
CURVED = 256  # rows of the curvature
LARGEST = 4096  # rows of a batch that is timed
TIMED = 0.25  # seconds of steps to be timed
SHOWN = 5  # findings


@dataclass(frozen=True)
class OptimizerRow:
    """One optimizer of a plan."""

    method: str  # as a job names it, "adam[lr=0.001]"
    learning_rate: float
    seconds_per_step: float
    predicted_seconds: float  # all epochs, validation and looks included
    memory: int  # bytes: weights, gradients, state, activations
    remark: str = ""

    @property
    def spelled(self) -> tuple[str, ...]:
        """Rate, seconds of a step and of all, memory."""
        return (
            f"{self.learning_rate:.3g}",
            spelled_seconds(self.seconds_per_step),
            spelled_seconds(self.predicted_seconds),
            spelled_bytes(self.memory),
        )


@dataclass(frozen=True)
class NetworkPlan(Predicted):
    """What training a network would take, the job's own optimizer first."""

    problem: str
    geometry: Mapping[str, Measured]
    memory: Mapping[str, int]  # bytes: parameters, activations
    rows: tuple[OptimizerRow, ...]
    findings: tuple[Finding, ...]  # before the first step, worst first
    seconds: float  # that planning took
    compiled: float = 0.0  # seconds for kernels, once a machine; not in those

    def row(self, method: str) -> OptimizerRow:
        """The row of an optimizer, by its name."""
        return next(row for row in self.rows if row.method.partition("[")[0] == method)

    def __repr__(self) -> str:
        lines = [f"{head:<11}{text}" for head, text in self._heads()]
        return "\n".join(
            map(shown, [*lines, "", *aligned(self._cells()), *self._foot().splitlines()])
        )

    def _repr_html_(self) -> str:
        notes = [f"{label} {text}".strip() for label, text in self._heads()]
        return (
            '<div style="font-family:sans-serif"><div><strong>Plan</strong></div>'
            + "".join(f"<div>{escaped(note)}</div>" for note in notes)
            + f"{html_grid(self._cells())}<div>{escaped(self._foot())}</div></div>"
        )

    def _heads(self) -> list[tuple[str, str]]:
        sizes = "   ".join(f"{name} {spelled_bytes(count)}" for name, count in self.memory.items())
        network, _, course = self.problem.partition("; ")
        lines = [
            ("Problem", network),
            ("", course),
            ("Geometry", "   ".join(f"{name} {x}" for name, x in self.geometry.items())),
            ("Memory", sizes),
        ]
        asks = [finding for finding in self.findings if finding.severity > Severity.OK]
        told = [f"{each.severity.name} {each.name}: {each.claim}" for each in asks[:SHOWN]]
        more = [f"and {len(asks) - SHOWN} more"] if len(asks) > SHOWN else []
        texts = [*told, *more] or ["nothing is wrong before the first step"]
        return lines + list(zip(["Doctor", *[""] * len(texts)], texts, strict=False))

    def _cells(self) -> list[tuple[str, ...]]:
        heads = ("  optimizer", "rate", "a step", "all epochs", "memory", "remark")
        return [
            heads,
            *(
                (("  " if place else "▸ ") + row.method, *row.spelled, row.remark)
                for place, row in enumerate(self.rows)
            ),
        ]

    def _foot(self) -> str:
        return (
            "Steps are timed on these data. Which optimizer learns more in as many steps is not "
            f"predicted.\nPlanning took {spelled_seconds(self.seconds)}"
            f"{spelled_compiled(self.compiled)}."
        )


class _Timed(NamedTuple):
    """What a step takes."""

    seconds: float
    state: int  # bytes that the optimizer holds


def plan_network(
    job: Job, rows: Rows, encoding: Encoding, methods: Sequence[str] = ()
) -> NetworkPlan:
    """What training the network of `job` would take, by its own optimizer and by others.

    `methods` are optimizers beside the job's own, "sgd[lr=0.1]"; sgd, nesterov and adam where none
    is given.
    """
    clock = Clock()
    made = ready(job, rows, encoding)
    recipe, model, data, held, _ = made
    sample = _sample(data, recipe.seed, SAMPLE)
    took, bent = _clocked(lambda: _curvature(made, sample))
    looks = -(-made.steps // made.curvature_every)
    beside = looks * took + recipe.epochs * _validation_seconds(model, held)
    batch = recipe.batch(len(data[0]))
    activations = round(batch * activation_bytes(model, recipe.loss, data))
    dim = trainable(model).dim
    weights = sum(p.numel() * p.element_size() for p in model.parameters())
    found = []
    for method, each in _recipes(job, encoding, methods):
        timed = _timed(each, model, data)
        found.append(
            OptimizerRow(
                method,
                each.learning_rate,
                timed.seconds,
                made.steps * timed.seconds + beside,
                2 * weights + timed.state + activations,
                _remark(each, model, bent.largest),
            )
        )
    optimizer = recipe.optimizer_for(model)
    findings = check(
        model,
        _sample(data, recipe.seed, CHECKED),
        recipe.loss,
        None if needs_closure(optimizer) else optimizer,
        validation=held and _sample(held, recipe.seed, CHECKED),
        seed=recipe.seed,
    )
    return NetworkPlan(
        problem=_problem(job, made, dim, encoding),
        geometry=_geometry(made, sample, bent.largest),
        memory={"parameters": weights, "activations of a batch": activations},
        rows=tuple(found),
        findings=tuple(relevant(recipe, findings)),
        seconds=clock.seconds,
        compiled=clock.compiled,
    )


def _recipes(job: Job, encoding: Encoding, methods: Sequence[str]) -> list[tuple[str, Recipe]]:
    """The job's own optimizer, then others, each once."""
    own = job_recipe(job, encoding)
    found = {own.optimizer if job.method == AUTO else job.method: own}
    for method in methods or USUAL:
        recipe = job_recipe(job.changed(method=method), encoding)
        if recipe not in found.values() and (methods or recipe.optimizer != own.optimizer):
            found[method] = recipe
    return list(found.items())


def _sample(data: Pair, seed: int, most: int) -> Pair:
    rng = np.random.default_rng(seed)
    n = min(most, len(data[0]))
    rows = torch.from_numpy(rng.choice(len(data[0]), n, replace=False))
    return data[0][rows], data[1][rows]


def _curvature(made: Ready, sample: Pair) -> Curvature:
    """At the first weights, of a copy."""
    model, loss = copy.deepcopy(made.model), loss_of(made.recipe.loss)
    inputs = Inputs(model)
    x, y = inputs(sample[0][:CURVED]), inputs.labels(sample[1][:CURVED], loss)
    try:
        return curvature(
            model, lambda: loss(inputs.run(model, x), y), np.random.default_rng(made.recipe.seed)
        )
    except RuntimeError:  # no second derivative
        return Curvature(*[math.nan] * 6)


def _geometry(made: Ready, sample: Pair, largest: float) -> dict[str, Measured]:
    loss = made.recipe.loss
    first = evaluate(made.model, sample, loss).loss
    is_all = len(sample[0]) == len(made.data[0])
    return {
        "first loss": Measured(first, EXACT if is_all else ESTIMATED),
        "best constant's": Measured(_constant_loss(loss, made.data[1]), EXACT),
        "λ_max": Measured(largest, ESTIMATED),
        "2/λ_max": Measured(2.0 / largest if largest > 0.0 else math.inf, ESTIMATED),
    }


def _constant_loss(loss: str, y: torch.Tensor) -> float:
    """Of the best prediction that is the same for all rows."""
    if loss == "squared":
        return 0.5 * float(y.double().var(correction=0))
    shares = torch.bincount(y.reshape(-1).long()).double() / len(y)
    return float(-torch.special.xlogy(shares, shares).sum())


def _problem(job: Job, made: Ready, dim: int, encoding: Encoding) -> str:
    recipe, n = made.recipe, len(made.data[0])
    classes = encoding.target.classes if encoding.target else ()
    batch = recipe.batch(n)
    return (
        f"{job.builder or recipe.layers}, {dim:,} parameters, {recipe.loss}"
        + (f" of {len(classes)} classes" if classes else "")
        + f"; {n:,} rows × {'×'.join(map(str, made.data[0].shape[1:]))}, "
        f"batches of {batch:,}, {count_of(made.steps // recipe.epochs, 'step')} an epoch, "
        f"{count_of(recipe.epochs, 'epoch')}"
    )


def _timed(recipe: Recipe, model: nn.Module, data: Pair) -> _Timed:
    """The median of some steps on batches of the data, of a copy of the network."""
    model = copy.deepcopy(model).train()
    optimizer = recipe.optimizer_for(model)
    inputs, loss = Inputs(model), loss_of(recipe.loss)
    rows = recipe.batch(len(data[0]))
    batches = Batches(*data, min(rows, LARGEST), seed=recipe.seed)
    stepper = Stepper(model, optimizer, loss, inputs)
    seconds: list[float] = []
    with own_randomness(recipe.seed, inputs.like.device), flushed_denormals():
        stream = iter(batches.epoch())

        def step() -> None:
            nonlocal stream
            batch = next(stream, None)
            if batch is None:
                stream = iter(batches.epoch())
                batch = next(stream)
            ready = Batch(inputs(batch.x), inputs.labels(batch.y, loss))
            stepper.step([ready], 0.0)

        step()  # what is done once is done now
        while len(seconds) < 2 or (sum(seconds) < TIMED and len(seconds) < 100):
            seconds.append(_clocked(step)[0])
    held = [each for state in optimizer.state.values() for each in state.values()]
    state = sum(each.nbytes for each in held if isinstance(each, torch.Tensor | np.ndarray))
    return _Timed(float(np.median(seconds)) * rows / min(rows, LARGEST), state)


def _validation_seconds(model: nn.Module, held: Pair | None) -> float:
    if held is None:
        return 0.0
    few = min(SAMPLE, len(held[0]))
    return _clocked(lambda: outputs(model, held[0][:few].numpy()))[0] * len(held[0]) / few


def _remark(recipe: Recipe, model: nn.Module, largest: float) -> str:
    """Whether its rate is above what the first curvature bears."""
    if recipe.optimizer not in LIMITED or not largest > 0.0:
        return ""
    optimizer = recipe.optimizer_for(model)
    settings = {"name": type(optimizer).__name__, **optimizer.param_groups[0]}
    limit = limit_of(settings) / largest
    if recipe.learning_rate <= limit:
        return ""
    return f"rate above its stability limit, {limit:.2g}: the loss may rise"


def _clocked(work: Callable[[], Any]) -> tuple[float, Any]:
    clock = Clock()
    done = work()
    return clock.seconds, done
