"""The recipe of a network job: what its user wrote down, and what the data and the job say besides.

    loss        the recipe's; where it says none, cross-entropy for classes and squared for numbers
    monitor     of early stopping: the validation loss where there are no classes to count
    scaling     z-score where the job standardizes
    optimizer   the recipe's for the method "auto", else the one that is named, "adam[lr=0.001]"
    seed        the job's

A rate, and options of the optimizer, that a recipe gives for one optimizer are not carried over to
another: without a rate of its own that one has its usual rate. `beta1` and `beta2` may be written
for Adam's `betas`, as the methods of linear models have them.

A network ends by epochs, patience or time: `tol` and `max_iter` of a job mean nothing to it, and
neither do `l1` and `l2`, since a recipe has `weight_decay` and an `l1` of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from thalweg import nets
from thalweg.core.checks import describe
from thalweg.core.errors import InputError, suggest
from thalweg.core.options import name_and_options
from thalweg.nets.recipes.recipe import Recipe, check_fields
from thalweg.nets.training.choice import NAMES, known_names
from thalweg.runs.job import Job
from thalweg.tables.encoding import Encoding

AUTO = "auto"
BUILT = ("layers", "activation", "initializer", "bias", "norm", "keep")  # what code decides itself
OWN = {  # options that are fields of a recipe
    "lr": "learning_rate", "learning_rate": "learning_rate", "weight_decay": "weight_decay",
    "clip_norm": "clip_norm", "max_norm": "max_norm", "l1": "l1",
}  # fmt: skip
BETAS = (0.9, 0.999)


def job_recipe(job: Job, encoding: Encoding) -> Recipe:
    """All that decides the training of a network job, but for the data."""
    said = dict(job.recipe or {})
    check_fields(said)
    built = [name for name in BUILT if name in said]
    if job.builder and built:
        raise InputError(
            f"{built[0]} must be left out where code builds the network, got "
            f"{said[built[0]]!r} beside {job.builder}"
        )
    classes = encoding.target.classes if encoding.target else ()
    said["loss"] = _loss(said.get("loss"), len(classes))
    if not classes:
        said.setdefault("monitor", "validation loss")
    if said.get("batch_size") == 0:
        said["batch_size"] = None
    if job.standardize:
        said["scaling"] = _standardized(said.get("scaling", "none"))
    if job.method != AUTO:
        said = _with_optimizer(said, job.method)
    try:
        return Recipe(**{**said, "seed": job.seed})
    except TypeError as problem:
        raise InputError(f"recipe must have fields of the right kind: {problem}") from problem


def _loss(loss: str | None, classes: int) -> str:
    if loss is None:
        return "cross-entropy" if classes else "squared"
    if classes and loss == "squared":
        raise InputError(
            f"loss must tell {classes} classes apart, got 'squared': leave it out, or read the "
            "target as numbers by task='regression'"
        )
    if classes != 2 and loss == "binary-cross-entropy":
        what = f"{classes} classes" if classes else "numbers"
        raise InputError(
            f"loss must fit a target of {what}, got 'binary-cross-entropy', which has two: "
            "leave it out"
        )
    if not classes and loss == "cross-entropy":
        raise InputError(
            "loss must fit a target of numbers, got 'cross-entropy': leave it out, or read the "
            "target as classes by task='classification'"
        )
    return loss


def _standardized(scaling: Any) -> str:
    if scaling not in ("none", "z-score"):
        raise InputError(
            f"standardize must be left out where the recipe scales, got scaling={scaling!r}"
        )
    return "z-score"


def _with_optimizer(said: Mapping[str, Any], method: str) -> dict[str, Any]:
    """The recipe with the optimizer that the job names."""
    name, options = name_and_options(method)
    if name not in known_names():
        raise InputError(
            f"method must be an optimizer, got {method!r}: {suggest(name, known_names())}"
        )
    new = dict(said)
    if new.get("optimizer", name) != name:
        for each in ("learning_rate", "optimizer_options"):
            new.pop(each, None)
    new["optimizer"] = name
    new.setdefault("learning_rate", usual_rate(name))
    if "beta1" in options or "beta2" in options:
        betas = options.pop("beta1", BETAS[0]), options.pop("beta2", BETAS[1])
        options.setdefault("betas", betas)
    new |= {OWN[key]: value for key, value in options.items() if key in OWN}
    given = new.get("optimizer_options", {})
    if not isinstance(given, Mapping):
        raise InputError(f"optimizer_options must be names and values, got {describe(given)}")
    rest = {key: value for key, value in options.items() if key not in OWN}
    new["optimizer_options"] = {**given, **rest}
    return new


def usual_rate(optimizer: str) -> float:
    """The learning rate that an optimizer has where none is given."""
    return float(inspect.signature(getattr(nets, NAMES[optimizer])).parameters["lr"].default)
