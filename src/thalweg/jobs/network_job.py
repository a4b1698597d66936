"""A network's part in a saved run: what is trained, what is kept of it, and how it comes back.

model.safetensors  weights and buffers
recipe.toml        the recipe as it was trained by, defaults and options of the job included
record.npz         what the watch saw
spectrum.npz       the Hessian's eigenvalues where the training ended, with a verdict on the
                   point in result.json
"""

from __future__ import annotations

import io
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from torch import nn

from thalweg.core.errors import InputError
from thalweg.core.outcome import Outcome
from thalweg.core.storage import read_folder
from thalweg.jobs.job import Job
from thalweg.jobs.network import Ready, build_network, fit_network, outputs
from thalweg.jobs.network_certificate import certify_network
from thalweg.jobs.network_file import read_module, write_module
from thalweg.jobs.prediction import Answers, from_scores
from thalweg.jobs.trained import Trained
from thalweg.nets.recipes.recipe import Prepared, Recipe
from thalweg.tables.encoding import Encoding

MODULE, RECIPE, CHECKPOINT = "model.safetensors", "recipe.toml", "checkpoint.pt"
RECORD, SPECTRUM = "record.npz", "spectrum.npz"


class NetworkModel(NamedTuple):
    """What `predict` needs of a network."""

    module: nn.Module
    loss: str
    classes: tuple[str, ...]

    def answers(self, X: Any) -> Answers:
        """Numbers, or codes of classes with probabilities."""
        values, odds = from_scores(outputs(self.module, X), self.loss)
        return Answers(values, odds) if self.classes else Answers(values)


def train_network_job(
    job: Job,
    ready: Ready,
    encoding: Encoding,
    *,
    folder: Path | None = None,
    progress: bool = True,
) -> Trained:
    """Train a network that is ready; in `folder` it is watched, and put aside every few seconds."""
    model = NetworkModel(ready.model, ready.recipe.loss, _classes(encoding))
    if folder is None:  # nobody would look at what a watch sees
        data = Prepared(ready.model, ready.data, ready.held)
        run = ready.recipe.fit(data, time_limit=job.time_limit, progress=progress)
        return Trained(run, model, {}, [])
    recipe, module, run, record, findings = fit_network(
        ready, job.time_limit, checkpoint=folder / CHECKPOINT, progress=progress
    )
    record.save(folder / RECORD)
    files = {MODULE: write_module(module), RECIPE: recipe.to_toml().encode()}
    more: dict[str, Any] = {}
    if run.outcome not in (Outcome.DIVERGED, Outcome.INTERRUPTED):
        try:
            point, spectrum = certify_network(module, recipe, ready.data, job.seed)
        except InputError as problem:
            more["point"] = str(problem)
        else:
            more["point"] = {**asdict(point), "escape": None}
            files[SPECTRUM] = _stored(spectrum)
    return Trained(run, model, files, findings, more)


def load_network(folder: Path, job: Job, encoding: Encoding, builder: str = "") -> NetworkModel:
    """The network in a folder; `builder` names its code again, where it was built by code."""
    if job.builder and not builder:
        raise InputError(
            f"model must be named again, as the network in {folder} is built by code, which is "
            f"not run unasked: --model {job.builder}"
        )
    if builder and not job.builder:
        raise InputError(
            f"model must be left out, got {builder}: the network in {folder} is built by its recipe"
        )
    recipe = recipe_of(folder)
    module = build_network(recipe, encoding, builder)
    read_module(folder / MODULE, module)
    return NetworkModel(module.eval(), recipe.loss, _classes(encoding))


def recipe_of(folder: Path) -> Recipe:
    """The recipe that a network was trained by."""
    return Recipe.from_toml(read_folder(folder, (RECIPE,))[RECIPE].decode())


def _classes(encoding: Encoding) -> tuple[str, ...]:
    return encoding.target.classes if encoding.target else ()


def _stored(spectrum: Any) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **asdict(spectrum))
    return out.getvalue()
