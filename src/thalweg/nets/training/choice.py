"""Which optimizer: by name, by a function that makes one, or the optimizer itself.

"adam"                      with its defaults
"adam[lr=1e-3, clip_norm=1]"  with options
lambda params: Adam(params)   made when the model is ready
Adam(model.parameters())      as it is, if it holds the parameters of this model
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from thalweg import nets
from thalweg.core.checks import describe
from thalweg.core.errors import InputError, suggest
from thalweg.core.options import name_and_options

NAMES = {
    "sgd": "SGD",
    "heavy-ball": "HeavyBall",
    "nesterov": "Nesterov",
    "adagrad": "AdaGrad",
    "rmsprop": "RMSProp",
    "adam": "Adam",
    "nadam": "Nadam",
    "lbfgs": "LBFGS",
    "truncated-newton": "TruncatedNewton",
}


def optimizer_of(
    optimizer: Any, model: nn.Module, loss: Any = None, **options: Any
) -> torch.optim.Optimizer:
    """The optimizer that a name, a function or an optimizer stands for, of `model`'s parameters.

    `options` are given to one that is named or made, before its own.
    """
    if isinstance(optimizer, torch.optim.Optimizer):
        check_owner(optimizer, model, loss)
        return optimizer
    if isinstance(optimizer, str):
        made = _named(optimizer, model, options)
    elif callable(optimizer):
        made = _made(optimizer, model, options)
    else:
        raise InputError(
            f"optimizer must be a name, an optimizer or a function that makes one, got "
            f"{describe(optimizer)}: {suggest('', known_names())}"
        )
    check_owner(made, model, loss)
    return made


def known_names() -> list[str]:
    """Optimizers that can be named."""
    return [name for name, home in NAMES.items() if home in nets.__all__]


def name_of(optimizer: torch.optim.Optimizer) -> str:
    """How an optimizer is called in a run: by its name here, else by its class."""
    kind = type(optimizer)
    for name, home in NAMES.items():
        if home == kind.__name__ and kind.__module__.startswith("thalweg."):
            return name
    return kind.__name__


def options_of(optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """The options of its first group, for a run's record."""
    group = optimizer.param_groups[0]
    return {key: value for key, value in group.items() if key != "params"}


def check_owner(optimizer: torch.optim.Optimizer, model: nn.Module, loss: Any = None) -> None:
    """Raise unless the optimizer steps the parameters of `model`, all that are to be trained."""
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    own = {id(p) for p in model.parameters()}
    beside = {id(p) for p in loss.parameters()} if isinstance(loss, nn.Module) else set()
    kind = type(optimizer).__name__
    if not held & own:
        raise InputError(
            f"optimizer must hold the parameters of the model, got {kind} with none of them: it "
            f"belongs to another model, or to a copy; make it anew, {kind}(model.parameters())"
        )
    if strange := held - own - beside:
        raise InputError(
            f"optimizer must hold parameters of the model alone, got {kind} with {len(strange)} of "
            f"{len(held)} that are not: make it anew, {kind}(model.parameters())"
        )
    missing = [n for n, p in model.named_parameters() if p.requires_grad and id(p) not in held]
    if missing:
        some = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
        raise InputError(
            f"optimizer must hold every parameter that is to be trained, got {kind} without "
            f"{some}: add them with add_param_group, or freeze them with requires_grad_(False)"
        )


def _named(text: str, model: nn.Module, options: dict[str, Any]) -> torch.optim.Optimizer:
    name, own = name_and_options(text)
    if name not in known_names():
        raise InputError(
            f"optimizer must be a known name, got {text!r}: {suggest(name, known_names())}"
        )
    try:
        return getattr(nets, NAMES[name])(model, **{**options, **own})
    except TypeError as problem:
        raise InputError(f"optimizer {text!r} cannot be made: {problem}") from problem


def _made(
    make: Callable[..., Any], model: nn.Module, options: dict[str, Any]
) -> torch.optim.Optimizer:
    made = make([p for p in model.parameters() if p.requires_grad], **options)
    if not isinstance(made, torch.optim.Optimizer):
        raise InputError(
            f"optimizer must make a torch.optim.Optimizer from parameters, got {describe(made)}"
        )
    return made
