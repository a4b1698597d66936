"""A network from its user's own code: "file.py:build" or "package.module:build".

`build` is a function, or a Module class. One that takes two arguments is called as
build(input_shape, outputs), input_shape being that of one sample, (64,) or (1, 28, 28). Others are
called with those of the two that they name, or with none: build(). What torch draws meanwhile,
the first weights, is drawn from the seed.

The code runs as any code that is imported does; it is run only where a user names it.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import nn

from thalweg.core.checks import describe
from thalweg.core.errors import InputError, suggest
from thalweg.nets.model import check_model
from thalweg.nets.training.evaluate import modes_kept
from thalweg.nets.training.inputs import Inputs
from thalweg.nets.training.journey import own_randomness


def built(builder: str, input_shape: Sequence[int], outputs: int, seed: int) -> nn.Module:
    """The network that `builder` makes, checked to take such samples and to have such outputs."""
    shape = tuple(input_shape)
    make = maker(builder)
    positional, named = _arguments(builder, make, shape, outputs)
    with own_randomness(seed, torch.device("cpu")):
        try:
            model = make(*positional, **named)
        except Exception as problem:
            told = ", ".join([*map(str, positional), *(f"{k}={v}" for k, v in named.items())])
            raise InputError(
                f"{builder} must build a network, got {_said(problem)} from "
                f"{builder.rpartition(':')[2]}({told})"
            ) from problem
    if not isinstance(model, nn.Module):
        raise InputError(f"{builder} must return a torch.nn.Module, got {describe(model)}")
    _check_outputs(builder, check_model(model), shape, outputs)
    return model


def maker(builder: str) -> Callable[..., Any]:
    """The function or class that `builder` names."""
    place, _, name = builder.rpartition(":")
    if not place or not name.isidentifier():
        raise InputError(
            f"model must read file.py:build or package.module:build, got {builder!r}: "
            "the name of a function follows the colon"
        )
    module = _from_file(Path(place)) if place.endswith(".py") else _imported(place)
    make = getattr(module, name, None)
    if make is None:
        own = [key for key, value in vars(module).items() if callable(value) and key[0] != "_"]
        raise InputError(f"{place} has no function {name!r}: {suggest(name, own)}")
    if not callable(make):
        raise InputError(f"{builder} must be a function or a Module class, got {describe(make)}")
    return make


def _from_file(file: Path) -> ModuleType:
    """The file as a module, run anew."""
    if not file.is_file():
        raise InputError(f"model must be a file that is there, got {str(file)!r}")
    name = f"_thalweg_model_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    with _found_in(file.resolve().parent), _running(str(file)):
        spec.loader.exec_module(module)
    return module


def _imported(name: str) -> ModuleType:
    with _found_in(Path.cwd()), _running(name):
        return importlib.import_module(name)


@contextmanager
def _found_in(folder: Path) -> Iterator[None]:
    """Modules in `folder` can be imported within the block, as from a script that lies there."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


@contextmanager
def _running(place: str) -> Iterator[None]:
    try:
        yield
    except (Exception, SystemExit) as problem:
        raise InputError(f"model must be code that runs, got {_said(problem)} from {place}") from (
            problem
        )


def _arguments(
    builder: str, make: Callable[..., Any], shape: tuple[int, ...], outputs: int
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What to call it with, by place and by name."""
    parameters = inspect.signature(make).parameters.values()
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [
        p
        for p in parameters
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if len(needed) == 2 and all(p.kind in places for p in needed):
        return (shape, outputs), {}
    offered = {"input_shape": shape, "outputs": outputs}
    if strange := [p.name for p in needed if p.name not in offered]:
        raise InputError(
            f"{builder} must take input_shape and outputs, or nothing, got one that needs "
            f"{', '.join(strange)}: give it a default"
        )
    names = [p.name for p in parameters]
    return (), {name: value for name, value in offered.items() if name in names}


@torch.no_grad()
def _check_outputs(builder: str, model: nn.Module, shape: tuple[int, ...], outputs: int) -> None:
    """Two samples of zeros go in, two rows of scores are to come out."""
    inputs = Inputs(model)
    with modes_kept(model), torch.random.fork_rng(devices=[]):
        model.eval()
        found = inputs.look(model, inputs(torch.zeros(2, *shape)))
    if found.shape != (2, outputs):
        had = ", ".join(["n", *map(str, found.shape[1:])])
        what = "one a class" if outputs > 1 else "one number a row"
        raise InputError(
            f"{builder} must have outputs [n, {outputs}], {what}, got [{had}]: "
            "change its last layer"
        )


def _said(problem: BaseException) -> str:
    """An exception in one line."""
    line = (str(problem).splitlines() or [""])[0]
    return f"{type(problem).__name__}: {line}" if line else type(problem).__name__
