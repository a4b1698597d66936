"""A network as a job: what its folder holds, and the model that answers from there.

    checkpoint.pt        while it trains
    model.safetensors    weights and buffers, those of scaling and norms included
    recipe.toml          all that decided the training, but for the data
    record.npz           what the watch has seen
    spectrum.npz         the Hessian's eigenvalues where the training ended; what kind of point that
                         is stands in result.json

The recipe and the encoding build the network anew, and it gets its weights from the file. A network
that code has built needs that code named again: nothing that a folder names is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from torch import nn

from thalweg.certificates.critical_point import CriticalPoint
from thalweg.core.errors import InputError
from thalweg.core.outcome import Outcome
from thalweg.core.storage import read_folder
from thalweg.jobs.job import Job
from thalweg.jobs.network_certificate import certify_network
from thalweg.jobs.network_file import read_module, write_module
from thalweg.jobs.network_training import Ready, build_network, fit_network, outputs, ready
from thalweg.jobs.prediction import Answers, from_scores
from thalweg.jobs.rows import Rows
from thalweg.jobs.trained import Trained
from thalweg.nets.recipes.recipe import Prepared, Recipe
from thalweg.tables.encoding import Encoding

CHECKPOINT, MODEL = "checkpoint.pt", "model.safetensors"
RECIPE, RECORD, SPECTRUM = "recipe.toml", "record.npz", "spectrum.npz"
LARGEST = float(np.finfo(np.float32).max)


class NetworkModel(NamedTuple):
    """A network that answers for encoded rows."""

    module: nn.Module  # in evaluation mode
    loss: str
    classes: tuple[str, ...]  # names by code, none for a regression

    def answers(self, X: Any) -> Answers:
        """Numbers, or codes of classes with probabilities."""
        # Of a training that diverged, outputs may be beyond float32, or no numbers.
        scores = np.nan_to_num(outputs(self.module, X), posinf=LARGEST, neginf=-LARGEST)
        return Answers(*from_scores(scores, self.loss))


def ready_network(job: Job, rows: Rows, encoding: Encoding) -> Ready:
    """What is trained; raises for whatever cannot be."""
    return ready(job, rows, encoding)


def train_network(
    job: Job,
    made: Ready,
    encoding: Encoding,
    *,
    folder: Path | None = None,
    progress: bool = True,
) -> Trained:
    """Train it; in `folder` it is put aside every few seconds, and goes on from there."""
    if folder is None:  # nobody would look at what a watch sees
        data = Prepared(made.model, made.data, made.held)
        run = made.recipe.fit(data, time_limit=job.time_limit, progress=progress)
        return Trained(run, _model(made.model, made.recipe, encoding), {}, [])
    recipe, module, run, record, findings = fit_network(
        made, job.time_limit, checkpoint=folder / CHECKPOINT, progress=progress
    )
    files = {
        MODEL: write_module(module),
        RECIPE: recipe.to_toml().encode(),
        RECORD: record.to_bytes(),
    }
    point: CriticalPoint | str | None = None
    if run.outcome not in (Outcome.DIVERGED, Outcome.INTERRUPTED):
        try:
            point, spectrum = certify_network(module, recipe, made.data, job.seed)
        except InputError as problem:
            point = str(problem)
        else:
            files[SPECTRUM] = spectrum.to_bytes()
    return Trained(run, _model(module, recipe, encoding), files, findings, point)


def load_network(folder: Path, job: Job, encoding: Encoding, builder: str = "") -> NetworkModel:
    """The network in a folder; `builder` names the code that built it, if code did."""
    if job.builder and not builder:
        raise InputError(
            f"{folder} has a network that code built, and a folder's code is not run by itself: "
            f"name it again, --model {job.builder} or builder={job.builder!r}"
        )
    if builder and not job.builder:
        raise InputError(
            f"model must be left out for {folder}, whose recipe builds the network, got {builder!r}"
        )
    recipe = recipe_of(folder)
    module = build_network(recipe, encoding, builder)
    read_module(folder / MODEL, module)
    return _model(module, recipe, encoding)


def recipe_of(folder: Path) -> Recipe:
    """The recipe that a network was trained by."""
    return Recipe.from_toml(read_folder(folder, (RECIPE,))[RECIPE].decode())


def _model(module: nn.Module, recipe: Recipe, encoding: Encoding) -> NetworkModel:
    classes = encoding.target.classes if encoding.target else ()
    return NetworkModel(module.eval(), recipe.loss, classes)
