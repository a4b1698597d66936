"""A job as the command that does it, and as Python that does the same."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from thalweg.runs.job import Job

FLAGS = {
    "drop": "--drop", "impute": "--impute", "max_categories": "--max-categories",
    "missing": "--missing", "decimal": "--decimal", "thousands": "--thousands", "text": "--text",
    "memory": "--memory", "task": "--task", "dates": "--dates", "date_format": "--date-format",
    "ids": "--ids",
}  # fmt: skip


def command_of(job: Job, methods: Iterable[str] = ()) -> str:
    """`thalweg train …` with what is not as usual."""
    return shlex.join(["thalweg", "train", *arguments_of(job, methods)])


def arguments_of(job: Job, methods: Iterable[str] = ()) -> list[str]:
    """The arguments after the verb."""
    usual = Job(job.source)
    words: list[Any] = [job.source]
    if job.target is not None:
        words += ["--target", job.target]
    for name, flag in FLAGS.items():
        value = job.reading.get(name)
        for each in value if isinstance(value, list | tuple) else [value]:
            words += [] if each is None else [flag, each]
    if "sparse" in job.reading:
        words.append("--sparse" if job.reading["sparse"] else "--dense")
    if job.loss is not None:
        words += ["--loss", job.loss]
    for name in ("l1", "l2"):
        if getattr(job, name) != getattr(usual, name):
            words += [f"--{name}", getattr(job, name)]
    if job.standardize:
        words.append("--standardize")
    if not job.intercept:
        words.append("--no-intercept")
    words += _network(job)
    asked = list(methods) or ([job.method] if job.method != usual.method else [])
    words += [word for method in asked for word in ("-m", method)]
    for name in ("tol", "max_iter", "seed", "folds"):
        if getattr(job, name) != getattr(usual, name):
            words += [f"--{name.replace('_', '-')}", getattr(job, name)]
    if job.one_standard_error:
        words.append("--one-standard-error")
    if job.time_limit is not None:
        words += ["--time-limit", f"{job.time_limit:g}s"]
    if job.validation is not None:
        words += ["--validation", job.validation]
    return [str(word) for word in words]


def _network(job: Job) -> list[Any]:
    """--model, --epochs and --batch-size; what they do not say is in recipe.toml."""
    recipe: Mapping[str, Any] = job.recipe or {}
    layers = job.builder or recipe.get("layers")
    words: list[Any] = ["--model", layers] if layers else []
    for name in ("epochs", "batch_size"):
        if name in recipe:
            words += [f"--{name.replace('_', '-')}", recipe[name]]
    return words


def script_of(job: Job, loss: str, l1: float, l2: float, method: str) -> str:
    """Python that does what a linear job did."""
    reading = "".join(f", {name}={value!r}" for name, value in job.reading.items())
    target = "" if job.target is None else f", {job.target!r}"
    options = [f"{name}={value!r}" for name, value in (("l1", l1), ("l2", l2)) if value]
    options += ["standardize=True"] if job.standardize else []
    options += [] if job.intercept else ["fit_intercept=False"]
    extra = "".join(f", {each}" for each in options)
    return (
        "import thalweg as tw\n\n"
        f"table = tw.read({job.source!r}{target}{reading})\n"
        f"problem = tw.LinearProblem(table.X, table.y, {loss!r}{extra})\n"
        f"run = tw.minimize(problem, {method!r}, tol={job.tol!r}, max_iter={job.max_iter}, "
        f"seed={job.seed})\n"
        "print(run)\n\n"
        "coefficients, intercepts = problem.coefficients(run.w)\n"
        "for name, coefficient in zip(table.feature_names, coefficients):\n"
        "    print(name, coefficient)  # in the units of the data\n"
    )
