"""`thalweg methods [NAME]`: all methods and what they take, or one with its options and its rate.

What is printed comes from the methods themselves: the first line of a module's docstring, the
fields of its dataclass, and what it says of itself.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from thalweg.cli import completion
from thalweg.cli.options import everywhere
from thalweg.cli.screen import CHIEF, Column, Screen, grid, say, say_json, screen_of
from thalweg.core.errors import InputError, suggest

METHOD, OPTIMIZER = "method", "optimizer"
COLUMNS = (Column("name"), Column("takes", rank=1), Column("what it does"))
NO_RATE = "no rate is proved that a plan could use"


@click.command()
@click.argument("name", required=False, shell_complete=completion.methods)
@everywhere
def methods(name: str | None, as_json: bool, quiet: bool) -> None:
    """List the methods, or show one with its options and rate.

    A method trains a linear model or minimises a function; an optimizer trains a network. Options
    are given in brackets: -m sag[step=theory], -m adam[lr=0.01].
    """
    known = {*completion.method_names(), *completion.OPTIMIZERS}
    if name is not None and name not in known:
        raise InputError(f"method must be a known name, got {name!r}: {suggest(name, known)}")
    found = [*method_records(), *optimizer_records(name, with_options=as_json or name is not None)]
    if name is not None:
        found = [each for each in found if each["name"] == name]
    if as_json:
        say_json({"methods": found})
        return
    screen = screen_of()
    say(listing(screen, found) if name is None else pages(screen, found))


def method_records() -> list[dict[str, Any]]:
    """All methods as plain values."""
    from thalweg.methods.registry import METHODS

    return [
        {
            "name": name,
            "kind": METHOD,
            "summary": summary(about(kind)),
            "takes": takes(kind),
            "options": {each.name: each.default for each in dataclasses.fields(kind)},
            "rate": kind.law,
            "about": about(kind),
        }
        for name, kind in METHODS.items()
    ]


def optimizer_records(
    name: str | None = None, *, with_options: bool = True
) -> list[dict[str, Any]]:
    """All optimizers of networks, or the one of that name; none where PyTorch is not installed.

    PyTorch takes seconds to import: without their options they are listed from their sources alone.
    """
    if find_spec("torch") is None:
        return []
    names = [each for each in completion.OPTIMIZERS if name in (None, each)]
    return [
        {
            "name": each,
            "kind": OPTIMIZER,
            "summary": summary(derivation(each)),
            "takes": ["networks"],
            "options": options_of(each) if with_options else {},
            "rate": "",
            "about": derivation(each),
        }
        for each in names
    ]


def derivation(optimizer: str) -> str:
    """The docstring of an optimizer's module, which is not run."""
    spec = find_spec(f"thalweg.nets.optimizers.{optimizer.replace('-', '_')}")
    assert spec is not None
    assert spec.origin is not None
    return ast.get_docstring(ast.parse(Path(spec.origin).read_text("utf-8"))) or ""


def options_of(optimizer: str) -> dict[str, Any]:
    """Defaults by name."""
    from thalweg import nets
    from thalweg.nets.training.choice import NAMES

    found = inspect.signature(getattr(nets, NAMES[optimizer])).parameters.values()
    return {each.name: each.default for each in found if each.default is not each.empty}


def takes(kind: Any) -> list[str]:
    """What a method can be given."""
    found = ["linear"] if kind.only_linear else ["linear", "functions"]
    if kind.takes_penalty or kind.takes_linear_penalty:
        found.append("l1")
    if kind.takes_noise and not kind.only_linear:
        found.append("noise")
    return found


def about(kind: type) -> str:
    """The derivation of a method: the docstring of its module."""
    return inspect.cleandoc(sys.modules[kind.__module__].__doc__ or "")


def summary(about: str) -> str:
    """The first line of a derivation, without the name."""
    head, colon, rest = about.partition("\n")[0].partition(": ")
    return (rest if colon else head).rstrip(".")


def listing(screen: Screen, found: list[dict[str, Any]]) -> str:
    """All of them, methods first."""
    parts = []
    for kind, head in ((METHOD, "Methods"), (OPTIMIZER, "Optimizers of networks")):
        some = [each for each in found if each["kind"] == kind]
        rows = [
            (each["name"], ", ".join(each["takes"]) if kind == METHOD else "", each["summary"])
            for each in some
        ]
        if rows:
            parts += [screen.paint(head, CHIEF), grid(screen, COLUMNS, rows), ""]
    words = (
        "linear: linear models, dense and sparse. functions: any objective. l1: a penalty without "
        "a gradient. noise: gradients that are right on average."
    )
    return "\n".join([*parts, *screen.wrapped(words), *screen.wrapped("next: thalweg methods sag")])


def pages(screen: Screen, found: list[dict[str, Any]]) -> str:
    """One name: its derivation, options and rate; twice where an optimizer has it as well."""
    return "\n\n".join(page(screen, each) for each in found)


def page(screen: Screen, one: dict[str, Any]) -> str:
    """One method or optimizer."""
    which = "a method" if one["kind"] == METHOD else "an optimizer of networks"
    options = [(name, _word(value)) for name, value in one["options"].items()]
    lines = [screen.paint(f"{one['name']}, {which}", CHIEF), "", screen.spelled(one["about"]), ""]
    lines.append(screen.labelled("Takes", ", ".join(one["takes"])))
    if one["kind"] == METHOD:
        lines.append(screen.labelled("Rate", one["rate"] or NO_RATE))
    if options:
        lines += ["", grid(screen, (Column("option"), Column("default")), options)]
    return "\n".join(lines)


def _word(value: Any) -> str:
    return "chosen by the method" if value is None else str(value)
