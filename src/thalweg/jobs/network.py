"""A network as a job: how it is trained, and what its folder holds.

checkpoint.pt        while it trains
model.safetensors    with recipe.toml, the model (`thalweg.runs.network_model`)
record.npz           what the watch has seen
spectrum.npz         the Hessian's eigenvalues where the training ended; what kind of point that
                     is stands in result.json
"""

from __future__ import annotations

from pathlib import Path

from thalweg.certificates.critical_point import CriticalPoint
from thalweg.core.errors import InputError
from thalweg.core.outcome import Outcome
from thalweg.jobs.network_certificate import certify_network
from thalweg.jobs.network_training import Ready, fit_network
from thalweg.jobs.trained import Trained
from thalweg.nets.recipes.recipe import Prepared
from thalweg.runs.folder import NETWORK, RECORD, SPECTRUM
from thalweg.runs.job import Job
from thalweg.runs.network_file import write_module
from thalweg.runs.network_model import RECIPE, model_of
from thalweg.tables.encoding import Encoding

CHECKPOINT = "checkpoint.pt"


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
        return Trained(run, model_of(made.model, made.recipe, encoding), {}, [])
    recipe, module, run, record, findings = fit_network(
        made, job.time_limit, checkpoint=folder / CHECKPOINT, progress=progress
    )
    files = {
        NETWORK: write_module(module),
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
    return Trained(run, model_of(module, recipe, encoding), files, findings, point)
