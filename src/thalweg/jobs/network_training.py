"""A network made ready, and trained under a watch.

    Job, rows ─► recipe, network, tensors ─► fit under a watch ─► Run, Record, findings
                       ready                         fit

A training ends by its epochs, by patience, or by the job's time limit; `tol` and `max_iter` of a
job mean nothing here. The seed decides everything, looks of the watch included, as they come at
fixed steps. With a checkpoint, a training that was killed at any moment goes on to the same bits of
the weights and the same trace, but for its seconds.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from torch import nn

from thalweg.core.errors import InputError
from thalweg.core.finding import Finding
from thalweg.core.record import Record
from thalweg.core.run import Run
from thalweg.doctor.causes import UNSCALED
from thalweg.doctor.nets import symptoms
from thalweg.doctor.nets.facts.examination import Examination
from thalweg.doctor.nets.watch import watch
from thalweg.jobs.network_recipe import job_recipe
from thalweg.jobs.network_record import Memory
from thalweg.jobs.network_samples import known, pair
from thalweg.jobs.rows import Rows
from thalweg.nets.recipes.recipe import Prepared, Recipe, augmentation_of
from thalweg.nets.recipes.scaling import Scaling
from thalweg.nets.training.batches import Pair
from thalweg.nets.training.inputs import Inputs
from thalweg.nets.training.journey import own_randomness
from thalweg.running.checkpoint import Checkpoint
from thalweg.runs.job import Job
from thalweg.runs.network_model import build_network
from thalweg.tables.encoding import Encoding

LOOKS = 50  # of the watch, at layers
FEWEST, MOST = 2, 7  # looks at curvature
CURVATURE_SHARE = 0.2  # of the training's time, as far as the fewest fit into it
CURVATURE_ROWS = 9500  # whose gradients take as long as a look at curvature, measured
PAUSE = 5.0  # seconds between checkpoints


class Ready(NamedTuple):
    """What is trained, before its first step."""

    recipe: Recipe
    model: nn.Module
    data: Pair  # samples float32[n, …]; labels int64[n], or float32[n, 1]
    held: Pair | None
    builder: str = ""  # the code that built it, if code did

    @property
    def steps(self) -> int:
        """Of all epochs together."""
        return self.recipe.steps(len(self.data[0]))

    @property
    def every(self) -> int:
        """Steps from one look of the watch to the next."""
        return max(1, self.steps // LOOKS)

    @property
    def curvature_every(self) -> int:
        """The same for looks at curvature, by what they take and not by a clock: a seed replays."""
        rows = self.recipe.epochs * len(self.data[0])
        looks = min(MOST, max(FEWEST, int(CURVATURE_SHARE * rows / CURVATURE_ROWS)))
        return -(-self.steps // looks)


class TrainedNetwork(NamedTuple):
    """What came of it."""

    recipe: Recipe
    model: nn.Module
    run: Run
    record: Record
    findings: list[Finding]  # worst first


def ready(job: Job, rows: Rows, encoding: Encoding) -> Ready:
    """The network with its first weights and its data; raises for whatever cannot be trained."""
    recipe = job_recipe(job, encoding)
    if recipe.patience is not None and rows.held is None:
        raise InputError(
            f"patience needs rows that are held out, got {recipe.patience} and none: hold some out "
            "by validation=0.2, or leave patience out"
        )
    if (rows.y == rows.y[0]).all():
        raise InputError(
            f"y must have two values at least, got the same in all {len(rows.y):,} rows: there is "
            "nothing to learn"
        )
    data = pair(rows, encoding, recipe.loss)
    held = None if rows.held is None else pair(known(rows.held), encoding, recipe.loss)
    model = build_network(recipe, encoding, job.builder)
    for layer in model.modules():
        if isinstance(layer, Scaling):
            layer.measure(data[0])
    if recipe.augmentation and data[0].ndim != 4:
        raise InputError(
            f"augmentation needs images, got samples of shape {list(data[0].shape[1:])}: leave it "
            "out"
        )
    # Names and options that they do not take are said now.
    augmentation_of(recipe.augmentation, recipe.seed)
    recipe.optimizer_for(model)
    return Ready(recipe, model, data, held, job.builder)


def check_network(job: Job, made: Ready, encoding: Encoding) -> None:
    """Raise where the optimizer of the job does not exist, or does not take its options."""
    job_recipe(job, encoding).optimizer_for(made.model)


def fit_network(
    ready: Ready,
    time_limit: float | None = None,
    *,
    checkpoint: Path | None = None,
    progress: bool = True,
) -> TrainedNetwork:
    """Train a network that is ready, in place, and say what is wrong with it.

    The training is put aside in the file `checkpoint` every few seconds, and goes on from there if
    the file exists. `time_limit` is in seconds, those before a resume included.
    """
    recipe, model, data, held, _ = ready
    kept = None if checkpoint is None else Checkpoint(checkpoint, seconds=PAUSE)
    looking = watch(
        model,
        loss=recipe.loss,
        data=data,
        validation=held,
        every=ready.every,
        curvature_every=ready.curvature_every,
        seed=recipe.seed,
    )
    # The doctor looks in training mode, where dropout draws.
    with own_randomness(recipe.seed, Inputs(model).like.device), looking as w:
        memory = Memory(w)
        run = recipe.fit(
            Prepared(model, data, held),
            probes=[memory],
            checkpoint=kept,
            time_limit=time_limit,
            progress=progress,
        )
    record = memory.record
    if not w.record.scalars["steps"] and record.scalars["steps"]:
        # Killed when all steps were done: the watch has seen none, and did not look at the end.
        ending = Examination(model, recipe.loss, data, held, recipe.seed).after()
        record = Record(
            record.layers,
            record.columns,
            {**record.scalars, **ending.scalars()},
            record.optimizers,
            record.notes,
        )
    findings = relevant(recipe, symptoms.diagnose(record))
    run = replace(run, objective=f"{recipe.loss} of {ready.builder or recipe.layers}")
    return TrainedNetwork(recipe, model, run, record, findings)


def relevant(recipe: Recipe, findings: list[Finding]) -> list[Finding]:
    """The findings but those on the scale of inputs, where the network's first layer scales them.

    The doctor looks at the data as they are given.
    """
    return [each for each in findings if recipe.scaling == "none" or each.name != UNSCALED]
