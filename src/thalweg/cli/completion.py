"""What the shell completes besides verbs and options: built-in data, methods, runs.

Nothing heavy is imported, or every press of a key would wait for it. Methods are found in their
sources, which are read and not run; the other names stand here, and tests hold them to their homes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from thalweg.core.text import shown

DATA = ("@cancer", "@diabetes", "@digits", "@iris", "@wine")
OPTIMIZERS = (
    "adagrad", "adam", "heavy-ball", "lbfgs", "nadam", "nesterov", "rmsprop", "sgd",
    "truncated-newton",
)  # fmt: skip
LABS = (
    "adagrad", "adam", "augmentation", "batch-norm", "batch-norm-benefits",
    "batch-norm-inference", "batch-norm-naive", "bias-init", "catalyst", "clipping",
    "conditioning", "convexity", "covariate-shift", "descent-lemma", "dropout",
    "early-stopping", "empirical-risk", "error-tradeoff", "evaluation-counts",
    "gd-least-squares", "gd-rate", "heavy-ball", "hessian-verdict", "init-schemes",
    "init-variance", "iteration-cost", "kl-sparsity", "l1-sparsity", "learning-rate",
    "local-optima", "max-norm", "mnist-table", "nadam", "nesterov", "newton-family",
    "pre-init", "rate-table", "representative-data", "ridge", "ridge-polynomial", "rmsprop",
    "rosenbrock",
    "saddle", "sag-numbers", "sag-practice", "sag-rate", "sag-sampling", "scaling", "sgd-lemma",
    "sgd-sampling", "sgd-theorem", "svrg", "vanish-explode", "weight-decay", "zero-init",
)  # fmt: skip
MODELS = ("linear", "mlp:256x256", "conv:16x32/128")
SOURCES = Path(__file__).parents[1] / "methods"
NAME = re.compile(r'^    name: ClassVar\[str\] = "([\w-]+)"$', re.MULTILINE)
ROOT = Path("runs")  # where runs are kept
MARKS = ("run.json", "job.json", "race.json")  # what shows that a folder holds a run


def data(context: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Built-in names, else files."""
    return _items(DATA, typed) or [CompletionItem(typed, type="file")]


def runs(context: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Folders of runs, else any folder."""
    try:
        folders = sorted(path for path in ROOT.iterdir() if is_run(path))
    except OSError:
        folders = []
    return _items([str(path) for path in folders], typed) or [CompletionItem(typed, type="dir")]


def data_or_runs(
    context: click.Context, param: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Built-in names and folders of runs, else files."""
    found = [each for each in runs(context, param, typed) if each.type == "plain"]
    return [*_items(DATA, typed), *found] or [CompletionItem(typed, type="file")]


def methods(context: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Methods, and optimizers of networks."""
    return _items(sorted({"auto", *method_names(), *OPTIMIZERS}), typed)


def models(context: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Models by name, else files."""
    return _items(MODELS, typed) or [CompletionItem(typed, type="file")]


def labs(context: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Labs by name."""
    return _items(LABS, typed)


@cache
def method_names() -> tuple[str, ...]:
    """All methods by name: those of the table, others belong to one estimator."""
    table = (SOURCES / "registry.py").read_text("utf-8")
    listed = (f for f in sorted(SOURCES.glob("*.py")) if f"methods.{f.stem} import" in table)
    return tuple(name for file in listed for name in NAME.findall(file.read_text("utf-8")))


def is_run(path: Path) -> bool:
    """Whether a folder holds a run, or several."""
    return path.is_dir() and any((path / mark).is_file() for mark in MARKS)


def _items(names: Sequence[str], typed: str) -> list[CompletionItem]:
    return [
        CompletionItem(name) for name in names if name.startswith(typed) and name == shown(name)
    ]
