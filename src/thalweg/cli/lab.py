"""`thalweg lab [NAME]`: claims of the lectures, tried."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

import click

from thalweg.cli.ending import CLAIM_FAILED, DONE
from thalweg.cli.options import everywhere
from thalweg.cli.screen import Column, say, say_json, screen_of, table
from thalweg.core.errors import InputError, suggest

PACKAGE = "thalweg.labs"


@click.command()
@click.argument("name", required=False)
@everywhere
def lab(name: str | None, as_json: bool, quiet: bool) -> int:
    """List the labs, or run one: a claim of the lectures and whether it holds.

    Exits with 5 where a claim failed.
    """
    known = labs()
    if name is None:
        if as_json:
            say_json({"labs": [{"name": each, "claim": text} for each, text in known.items()]})
        elif known:
            say(table(screen_of(), (Column("lab"), Column("claim")), list(known.items())))
        else:
            say("there are no labs in this version")
        return DONE
    if name not in known:
        way_out = suggest(name, known) if known else "this version has none"
        raise InputError(f"lab must be a known name, got {name!r}: {way_out}")
    result = import_module(PACKAGE).LABS[name]()
    if as_json:
        say_json({"labs": [{"name": name, "claim": known[name], "holds": bool(result.holds)}]})
    else:
        say(str(result))
    return DONE if result.holds else CLAIM_FAILED


def labs() -> dict[str, str]:
    """Names of the labs with their claims."""
    if find_spec(PACKAGE) is None:
        return {}
    return {
        name: (run.__doc__ or "").partition("\n")[0]
        for name, run in import_module(PACKAGE).LABS.items()
    }
