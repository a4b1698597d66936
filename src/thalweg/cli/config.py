"""`--config FILE.toml`: options written down.

    standardize = true          for every verb that has the option
    method = ["sag", "lbfgs"]   several, where the option may be given several times

    [train]                     for one verb; before what stands above
    time-limit = "30s"

Keys are the names of options. The command line wins over the file. A key that no verb has, or a
value of another kind than the option takes, is an error.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from thalweg.core.errors import InputError, suggest

KINDS = {
    "number": (int, float),
    "whole number": (int,),
    "text": (str,),
    "true or false": (bool,),
    "text or a number": (str, int, float),
}
NOT_IN_FILES = ("config", "help")


def read_config(context: click.Context, option: click.Parameter, file: str | None) -> None:
    """Put what the file says under what the command line says."""
    if file is None or context.resilient_parsing:
        return
    try:
        content = tomllib.loads(Path(file).read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise InputError(f"config must be a file in TOML, got {file!r}: {reason}") from problem
    context.default_map = {
        **(context.default_map or {}),
        **defaults(context, file, content),
    }


def defaults(context: click.Context, file: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """What the file says for the verb of `context`, by names of its parameters."""
    group = context.parent.command if context.parent else None
    verbs = dict(group.commands) if isinstance(group, click.Group) else {}
    own = options_of(context.command)
    anywhere = {name for verb in verbs.values() for name in options_of(verb)} | set(own)
    found: dict[str, Any] = {}
    for key, value in content.items():
        if isinstance(value, dict):
            if key not in verbs:
                raise InputError(f"{file} has a table for no verb, [{key}]: {suggest(key, verbs)}")
            _check_keys(file, f"[{key}] ", value, set(options_of(verbs[key])))
            continue
        _check_keys(file, "", {key: value}, anywhere)
        if key in own:
            found[own[key].name or key] = _checked(context, file, key, own[key], value)
    for key, value in content.get(context.info_name or "", {}).items():
        found[own[key].name or key] = _checked(context, file, key, own[key], value)
    return found


def options_of(verb: click.Command) -> dict[str, click.Option]:
    """The options of a verb by their long names, without the dashes."""
    return {
        name[2:]: option
        for option in verb.params
        if isinstance(option, click.Option)
        for name in option.opts
        if name.startswith("--") and name[2:] not in NOT_IN_FILES
    }


def _check_keys(file: str, where: str, content: Mapping[str, Any], known: set[str]) -> None:
    for key in content:
        if key not in known:
            raise InputError(f"{file} has an unknown option, {where}{key}: {suggest(key, known)}")


def _checked(context: click.Context, file: str, key: str, option: click.Option, value: Any) -> Any:
    """The value, if it is of the kind that the option takes."""
    kind = kind_of(option)
    many = option.multiple and isinstance(value, list)
    for each in value if many else [value]:
        is_bool = isinstance(each, bool)
        if not isinstance(each, KINDS[kind]) or (is_bool and bool not in KINDS[kind]):
            several = " or a list of such" if option.multiple else ""
            raise InputError(f"{file}: {key} must be {kind}{several}, got {each!r}")
        if kind != "true or false":
            try:
                option.type.convert(each, option, context)
            except click.BadParameter as problem:
                raise InputError(f"{file}: {key} {problem.message}") from problem
    return value if many or not option.multiple else [value]


def kind_of(option: click.Option) -> str:
    """What TOML is to hold for an option."""
    if option.is_flag:
        return "true or false"
    own = getattr(option.type, "kind_in_files", None)
    if own is not None:
        return own
    if isinstance(option.type, click.types.IntParamType):
        return "whole number"
    return "number" if isinstance(option.type, click.types.FloatParamType) else "text"
