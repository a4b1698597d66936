"""A network that answers for encoded rows, and how a folder gives it again.

    model.safetensors    weights and buffers, those of scaling and norms included
    recipe.toml          all that decided the training, but for the data

The recipe and the encoding build the network anew, and it gets its weights from the file. A network
that code has built needs that code named again: nothing that a folder names is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from thalweg.core.errors import InputError, StorageError
from thalweg.core.kinds import damaged
from thalweg.core.storage import read_folder
from thalweg.nets.recipes.recipe import Recipe
from thalweg.nets.recipes.scaling import Scaling
from thalweg.nets.training.evaluate import BATCH, modes_kept
from thalweg.nets.training.inputs import Inputs
from thalweg.runs.folder import NETWORK
from thalweg.runs.job import Job
from thalweg.runs.network_builder import built
from thalweg.runs.network_file import read_module
from thalweg.runs.network_input import Shape, input_shape, samples
from thalweg.runs.prediction import Answers, from_scores
from thalweg.tables.encoding import Encoding

RECIPE = "recipe.toml"
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


def model_of(module: nn.Module, recipe: Recipe, encoding: Encoding) -> NetworkModel:
    """The network, trained by `recipe`, as it answers."""
    classes = encoding.target.classes if encoding.target else ()
    return NetworkModel(module.eval(), recipe.loss, classes)


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
    read_module(folder / NETWORK, module)
    # Code may keep an infinite buffer on purpose, such as the mask of an attention.
    for name, tensor in module.named_parameters() if builder else module.state_dict().items():
        if not torch.isfinite(tensor).all():
            raise StorageError(
                f"{folder}/{NETWORK} has numbers in {name} that are not finite, which predict "
                "nothing: restore it from a copy, or train again"
            )
    return model_of(module, recipe, encoding)


def recipe_of(folder: Path) -> Recipe:
    """The recipe that a network was trained by."""
    try:
        return Recipe.from_toml(read_folder(folder, (RECIPE,))[RECIPE].decode())
    except UnicodeDecodeError as problem:
        raise damaged(f"{folder}/{RECIPE}", problem) from problem


def build_network(recipe: Recipe, encoding: Encoding, builder: str = "") -> nn.Module:
    """The network with its first weights, for rows as `encoding` gives them.

    Of images it takes flat rows as well. `builder` names code that builds it, in place of the
    recipe's layers.
    """
    shape, outputs = input_shape(encoding), outputs_of(recipe, encoding)
    parts: list[nn.Module] = [Shape(shape)] if len(shape) > 1 else []
    if not builder:
        return nn.Sequential(*parts, *recipe.build(shape, outputs).children())
    if recipe.scaling != "none":
        parts.append(Scaling(recipe.scaling, shape))
    network = built(builder, shape, outputs, recipe.seed)
    return nn.Sequential(*parts, network) if parts else network


def outputs_of(recipe: Recipe, encoding: Encoding) -> int:
    """How many numbers the network is to say of a row: one a class, or one."""
    if recipe.loss == "cross-entropy" and encoding.target is not None:
        return len(encoding.target.classes)
    return 1


@torch.no_grad()
def outputs(model: nn.Module, X: Any) -> np.ndarray:
    """What the network says of rows, dense, CSR or images: float64[n, K], in evaluation mode."""
    inputs = Inputs(model)
    found = []
    with modes_kept(model):
        model.eval()
        for start in range(0, X.shape[0], BATCH):
            x = inputs(samples(X[start : start + BATCH]))
            found.append(inputs.run(model, x).double().cpu().numpy())
    return np.concatenate(found)
