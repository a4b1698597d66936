"""A network as a job: what its folder holds, and the model that answers from there.

    checkpoint.pt        while it trains
    model.safetensors    weights and buffers, those of scaling and norms included
    recipe.toml          all that decided the training, but for the data
    record.npz           what the watch has seen

The recipe and the encoding build the network anew, and it gets its weights from the file. A network
that code has built needs that code named again: nothing that a folder names is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from thalweg.core.errors import InputError
from thalweg.core.storage import read_folder
from thalweg.jobs.job import Job
from thalweg.jobs.network_file import read_module, write_module
from thalweg.jobs.network_training import Ready, build_network, fit_network, outputs, ready
from thalweg.jobs.prediction import Answers, from_scores
from thalweg.jobs.rows import Rows
from thalweg.jobs.trained import Trained
from thalweg.nets.recipes.recipe import Recipe
from thalweg.tables.encoding import Encoding

CHECKPOINT, MODEL = "checkpoint.pt", "model.safetensors"
RECIPE, RECORD = "recipe.toml", "record.npz"


class NetworkModel(NamedTuple):
    """A network that answers for encoded rows."""

    module: nn.Module  # in evaluation mode
    loss: str
    classes: tuple[str, ...]  # names by code, none for a regression

    def answers(self, X: Any) -> Answers:
        """Numbers, or codes of classes with probabilities."""
        return Answers(*from_scores(outputs(self.module, X), self.loss))


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
    checkpoint = None if folder is None else folder / CHECKPOINT
    trained = fit_network(made, job.time_limit, checkpoint=checkpoint, progress=progress)
    files = {
        MODEL: write_module(trained.model),
        RECIPE: trained.recipe.to_toml().encode(),
        RECORD: trained.record.to_bytes(),
    }
    model = _model(trained.model, trained.recipe, encoding)
    return Trained(trained.run, model, files, trained.findings)


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
    recipe = Recipe.from_toml(read_folder(folder, (RECIPE,))[RECIPE].decode())
    module = build_network(recipe, encoding, builder)
    read_module(folder / MODEL, module)
    return _model(module, recipe, encoding)


def _model(module: nn.Module, recipe: Recipe, encoding: Encoding) -> NetworkModel:
    classes = encoding.target.classes if encoding.target else ()
    return NetworkModel(module.eval(), recipe.loss, classes)
