"""The options that verbs share, by what they are about: reading, model, stopping, all of it.

A verb takes a group as a decorator, and its function what it knows by name with `**asked` for the
rest, which `request.job_of` turns into a `Job`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from thalweg.cli import completion
from thalweg.cli.config import read_config
from thalweg.cli.duration import DurationType
from thalweg.cli.penalty import PenaltyType
from thalweg.cli.share import ShareType
from thalweg.runs.losses import LOSSES

IMPUTES = ("mean", "median", "most-frequent")
TASKS = ("classification", "regression")
DECIMALS, THOUSANDS = (".", ","), (",", ".", " ", "'", "_")
DATES, DATE_FORMATS, IDS = ("expand", "cyclic"), ("ymd", "dmy", "mdy"), ("drop", "keep")

Verb = Callable[..., Any]


def _group(*options: Callable[[Verb], Verb]) -> Callable[[Verb], Verb]:
    def decorate(verb: Verb) -> Verb:
        for option in reversed(options):
            verb = option(verb)
        return verb

    return decorate


everywhere = _group(
    click.option("--json", "as_json", is_flag=True, help="Answer in JSON."),
    click.option("--quiet", "-q", is_flag=True, help="No notes and no progress."),
    click.option(
        "--config", metavar="FILE.toml", type=click.Path(), is_eager=True, expose_value=False,
        callback=read_config, help="Options from a file; those typed here come before.",
    ),
)  # fmt: skip

memory = click.option(
    "--memory", metavar="SIZE", help="What reading may take, 2GB; by default 4/5 of what is free."
)

reading = _group(
    click.option("--target", metavar="COLUMN", help="What to predict; of an .npz the array, y."),
    click.option("--drop", multiple=True, metavar="COLUMN", help="Leave out; may be repeated."),
    click.option("--impute", type=click.Choice(IMPUTES), help="Fill missing values by this."),
    click.option(
        "--max-categories", type=click.IntRange(1), default=50, show_default=True,
        help="Of a column of text.",
    ),
    click.option(
        "--missing", multiple=True, metavar="TEXT",
        help="Stands for a missing value besides NA and the like; may be repeated.",
    ),
    click.option("--decimal", type=click.Choice(DECIMALS), help="Of numbers in CSV: , in 1,5."),
    click.option("--thousands", type=click.Choice(THOUSANDS), help="The same: , in 1,500."),
    click.option(
        "--dates", type=click.Choice(DATES),
        help="Dates become year, month, weekday, hour, or sines and cosines of these.",
    ),
    click.option("--date-format", type=click.Choice(DATE_FORMATS), help="Of 01/02/2024."),
    click.option(
        "--ids", type=click.Choice(IDS), default="drop", show_default=True,
        help="Columns that name rows.",
    ),
    click.option(
        "--text", multiple=True, metavar="COLUMN",
        help="Is text, whatever it looks like; may be repeated.",
    ),
    memory,
    click.option("--task", type=click.Choice(TASKS), help="Where whole numbers leave it open."),
    click.option("--sparse", is_flag=True, help="Keep X sparse; found out by default."),
    click.option("--dense", is_flag=True, help="Keep X dense."),
)  # fmt: skip

linear = _group(
    click.option("--loss", type=click.Choice(LOSSES), help="By default what the target asks for."),
    click.option(
        "--l2", type=PenaltyType(), default="1/n", show_default=True,
        help="(l2/2)‖w‖². Several apart by commas, or auto: chosen by folds.",
    ),
    click.option(
        "--l1", type=PenaltyType(), default="0", show_default=True, help="l1‖w‖₁. Likewise."
    ),
    click.option("--standardize", is_flag=True, help="Every column to mean 0 and deviation 1."),
    click.option("--no-intercept", is_flag=True, help="Leave the intercept out."),
)  # fmt: skip

network = _group(
    click.option(
        "--model", metavar="MODEL", shell_complete=completion.models,
        help="linear, or a network: mlp:256x256, conv:16x32/128, file.py:build.",
    ),
    click.option("--recipe", metavar="FILE.toml", type=click.Path(), help="A network's recipe."),
    click.option("--epochs", type=click.IntRange(1), help="Of a network."),
    click.option("--batch-size", type=click.IntRange(1), help="Of a network."),
)  # fmt: skip

model = _group(linear, network)

methods = click.option(
    "--method", "-m", "method", multiple=True, metavar="METHOD", shell_complete=completion.methods,
    help="sag, lbfgs, adam[lr=0.01]; auto by default. Several are compared.",
)  # fmt: skip

tolerance = click.option(
    "--tol", type=float, default=1e-6, show_default=True,
    help="Duality gap, relative to that of a constant.",
)  # fmt: skip

limits = _group(
    click.option("--max-iter", type=click.IntRange(0), help="Stop after so many iterations."),
    click.option("--time-limit", type=DurationType(), help="Stop after so long: 30s, 2m, 1h."),
)

seed = click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Decides all that is drawn.",
)

job = _group(reading, model, methods, tolerance, limits, seed)

held_out = _group(
    click.option(
        "--validation", type=ShareType(), metavar="SHARE|FILE",
        help="Hold out a share of the rows, or take those of a file.",
    ),
    click.option(
        "--folds", type=click.IntRange(2),
        help="Cross-validate first, or choose l1 and l2 by so many; 5 by default.",
    ),
    click.option(
        "--one-standard-error", is_flag=True,
        help="Choose the strongest penalty that is as good as the best, within its error.",
    ),
)  # fmt: skip

builder = click.option(
    "--model", metavar="FILE.py:BUILD", help="The function that built a network of your own."
)
