"""From options to a `Job`, and sentences for options that contradict each other.

A network is asked for by --model or --recipe; all else is a linear model. What belongs to the other
kind is an error, whether it was typed or stands in a file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from thalweg.core.errors import InputError

if TYPE_CHECKING:
    from thalweg.runs.job import Job

LINEAR = "linear"
# What only linear models have, and what networks have in its place.
LINEAR_ONLY = {
    "loss": "its recipe has a loss of its own",
    "l1": "its recipe has an l1 of its own",
    "l2": "weight_decay of its recipe does that",
    "no_intercept": "its layers have biases of their own",
    "one_standard_error": "a penalty is chosen for linear models",
    "tol": "it is trained for --epochs",
    "max_iter": "it is trained for --epochs",
    "coefficients": "thalweg explain RUN tells which columns matter to it",
}
NETWORK_ONLY = {
    "epochs": "--max-iter limits a linear model",
    "batch_size": "write it as an option of the method, sgd[batch=10]",
}


def job_of(context: click.Context, data: str, asked: Mapping[str, Any]) -> Job:
    """The job that the options ask for, its method being the first."""
    from thalweg.runs.job import MANY, Job

    given = givenness(context)
    if asked.get("sparse") and asked.get("dense"):
        raise InputError("--sparse and --dense contradict each other: leave one out")
    words: dict[str, Any] = {
        "source": data,
        "target": asked["target"],
        "standardize": asked["standardize"],
        "reading": _reading(asked),
        "method": (asked.get("method") or ("auto",))[0],
        "tol": asked.get("tol", 1e-6),
        "max_iter": MANY if asked.get("max_iter") is None else asked["max_iter"],
        "time_limit": asked.get("time_limit"),
        "seed": asked.get("seed", 0),
        "validation": asked.get("validation"),
        "folds": asked.get("folds") or 0,
        "one_standard_error": bool(asked.get("one_standard_error")),
    }
    if is_network(asked):
        _refuse(given, LINEAR_ONLY, "a linear model, got a network")
        return Job(**words, **_network(asked))
    _refuse(given, NETWORK_ONLY, "a network, got a linear model")
    return Job(
        **words,
        loss=asked["loss"],
        l1=asked["l1"],
        l2=asked["l2"],
        intercept=not asked["no_intercept"],
    )


def settled_job_of(context: click.Context, data: str, asked: Mapping[str, Any]) -> Job:
    """The same for verbs that choose no penalty: there must be one of each."""
    job = job_of(context, data, asked)
    if job.chooses:
        job.penalties(1)  # says which is open, and who chooses it
    return job


def is_network(asked: Mapping[str, Any]) -> bool:
    """Whether the options ask for a network."""
    return asked.get("recipe") is not None or asked.get("model") not in (None, LINEAR)


def givenness(context: click.Context) -> Callable[[str], bool]:
    """Tells whether an option was typed, or stands in a file."""

    def given(name: str) -> bool:
        source = context.get_parameter_source(name)
        return source not in (None, ParameterSource.DEFAULT)

    return given


def refuse_beside(context: click.Context, option: str, allowed: set[str], why: str) -> None:
    """Raise if anything but `allowed` was typed beside an option."""
    for param in context.command.params:
        name = param.name or ""
        typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if typed and name not in allowed:
            flag = param.opts[0] if isinstance(param, click.Option) else param.human_readable_name
            raise InputError(f"{flag} must be left out with {option}: {why}")


def _reading(asked: Mapping[str, Any]) -> dict[str, Any]:
    wanted = {
        "drop": list(asked["drop"]),
        "impute": asked["impute"],
        "max_categories": asked["max_categories"],
        "missing": list(asked["missing"]),
        "decimal": asked["decimal"],
        "thousands": asked["thousands"],
        "text": list(asked["text"]),
        "dates": asked["dates"],
        "date_format": asked["date_format"],
        "ids": asked["ids"],
        "memory": asked["memory"],
        "task": asked["task"],
        "sparse": True if asked["sparse"] else False if asked["dense"] else None,
    }
    usual = {"drop": [], "missing": [], "text": [], "max_categories": 50, "ids": "drop"}
    return {name: value for name, value in wanted.items() if value != usual.get(name)}


def _network(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a job that make it a network's."""
    model, file = asked.get("model"), asked.get("recipe")
    if file is not None and model == LINEAR:
        raise InputError("--recipe must be left out with --model linear: a recipe is a network's")
    recipe = {} if file is None else _recipe(file)
    if model is not None and "layers" in recipe:
        raise InputError(
            f"--model {model} must be left out, as {file} has layers = {recipe['layers']!r}: "
            "take the line out of the recipe, or the option out of the command"
        )
    for option in ("epochs", "batch_size"):
        if asked.get(option) is not None:
            recipe[option] = asked[option]
    is_built = model is not None and ":" in model and model.rpartition(":")[0].endswith(".py")
    if model is not None and not is_built:
        recipe["layers"] = model
    return {"recipe": recipe, "builder": model if is_built else ""}


def _recipe(file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(file).read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise InputError(f"recipe must be a file in TOML, got {file!r}: {reason}") from problem


def _refuse(given: Callable[[str], bool], options: Mapping[str, str], what: str) -> None:
    for name, instead in options.items():
        if given(name):
            raise InputError(f"--{name.replace('_', '-')} is for {what}: {instead}")
