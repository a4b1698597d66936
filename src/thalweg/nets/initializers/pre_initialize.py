"""`pre_initialize`: begin with weights that were trained elsewhere.

For few samples, the layers of a network trained on many are a better beginning than any random
draw (transfer learning). Tensors are matched by name, after `rename`, and by shape:

    matched    same name and shape; another floating-point precision is converted
    skipped    in the model, but missing in the source, of another shape, or of another kind
    unused     in the source alone

The record says which, and why. Everything is checked before anything is written, so that an error
leaves the model as it was; a source with no match at all is one.

`freeze=True` keeps the matched parameters from training (`requires_grad_(False)`). A batch norm
still moves its running averages in training mode: put frozen norms into `eval()`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from thalweg.core.checks import describe
from thalweg.core.errors import InputError
from thalweg.nets.initializers.safetensors import read_safetensors
from thalweg.nets.model import check_model

NESTED = ("state_dict", "model_state_dict", "model")  # where checkpoints keep the weights


@dataclass(frozen=True)
class PreInitialization:
    """Which tensors of the model were matched, and which were not; prints as a list."""

    matched: tuple[str, ...]
    skipped: dict[str, str]  # name in the model: why
    unused: tuple[str, ...]  # names in the source
    frozen: bool

    def __str__(self) -> str:
        total = len(self.matched) + len(self.skipped)
        frozen = ", and frozen" if self.frozen else ""
        lines = [f"{len(self.matched)} of {total} tensors matched{frozen}"]
        lines += [f"skipped {name}: {why}" for name, why in self.skipped.items()]
        lines += [f"unused {name}" for name in self.unused]
        return "\n".join(lines)

    __repr__ = __str__


@torch.no_grad()
def pre_initialize(
    model: nn.Module,
    source: Any,
    *,
    freeze: bool = False,
    rename: Mapping[str, str] | None = None,
) -> PreInitialization:
    """Copy what fits of `source` into `model`.

    `source`: a safetensors or torch file, a `state_dict`, or a model. `rename`: beginnings of names
    in the source and what stands for them in the model, `{"module.": "", "features.": "body."}`.
    """
    check_model(model)
    given = _renamed(_tensors(source), rename or {})
    wanted = model.state_dict(keep_vars=True)
    reasons = {name: _mismatch(target, given.get(name)) for name, target in wanted.items()}
    matched = tuple(name for name, reason in reasons.items() if reason is None)
    if not matched:
        raise InputError(_nothing(wanted, given, reasons))

    # A tensor that the model has under two names is matched by either.
    loaded = {id(wanted[name]) for name in matched}
    for name in matched:
        wanted[name].copy_(given[name])
        if freeze:
            wanted[name].requires_grad_(False)
    skipped = {
        name: reason
        for name, reason in reasons.items()
        if reason is not None and id(wanted[name]) not in loaded
    }
    unused = tuple(name for name in given if name not in wanted)
    return PreInitialization(matched, skipped, unused, freeze)


def _tensors(source: Any) -> dict[str, torch.Tensor]:
    """The tensors of a file, a state_dict or a model, by name."""
    if isinstance(source, nn.Module):
        source = source.state_dict()
    if isinstance(source, str | Path):
        source = _read(Path(source))
    if isinstance(source, Mapping):
        for key in NESTED:
            if isinstance(source.get(key), Mapping):
                source = source[key]
                break
        tensors = {
            str(name): tensor for name, tensor in source.items() if isinstance(tensor, torch.Tensor)
        }
        if tensors:
            return tensors
    raise InputError(
        "source must hold tensors by name, got "
        f"{describe(source)}: pass a file, a state_dict or a model"
    )


def _read(path: Path) -> Any:
    if not path.is_file():
        raise InputError(f"source must be a file, got {str(path)!r}, which is none")
    if path.suffix == ".safetensors":
        return read_safetensors(path)
    try:
        # weights_only: a pickle can run anything, tensors alone cannot.
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as problem:  # a damaged file can make the reader raise anything
        first = str(problem).strip().partition("\n")[0]
        raise InputError(
            f"source must be a torch file of tensors alone, got {str(path)!r} ({first}): "
            "save model.state_dict(), or a .safetensors file"
        ) from problem


def _renamed(
    tensors: Mapping[str, torch.Tensor], rename: Mapping[str, str]
) -> dict[str, torch.Tensor]:
    """The same tensors, each name's longest beginning that `rename` knows replaced."""
    renamed: dict[str, torch.Tensor] = {}
    for name, tensor in tensors.items():
        known = max((old for old in rename if name.startswith(old)), key=len, default=None)
        new = name if known is None else rename[known] + name[len(known) :]
        if new in renamed:
            raise InputError(
                f"rename must keep names apart, got {new!r} for two tensors of the source"
            )
        renamed[new] = tensor
    return renamed


def _mismatch(target: Any, found: torch.Tensor | None) -> str | None:
    """Why `found` cannot be copied into `target`; None if it can."""
    if found is None:
        return "missing in the source"
    if not isinstance(target, torch.Tensor):
        return "no tensor in the model"
    if found.shape != target.shape:
        return f"shape {list(found.shape)} in the source, {list(target.shape)} in the model"
    both_floating = found.is_floating_point() and target.is_floating_point()
    if found.dtype != target.dtype and not both_floating:
        return f"{found.dtype} in the source, {target.dtype} in the model"
    return None


def _nothing(
    wanted: Mapping[str, Any], given: Mapping[str, torch.Tensor], reasons: Mapping[str, str | None]
) -> str:
    """The sentence where nothing matches, with a `rename` that would help if there is one."""
    for name, found in given.items():
        for target in wanted:
            shorter, longer = sorted((name, target), key=len)
            if longer.endswith(f".{shorter}") and _mismatch(wanted[target], found) is None:
                cut = longer[: len(longer) - len(shorter)]
                hint = {cut: ""} if longer == name else {"": cut}
                return f"source must fit the model, got none of its tensors: try rename={hint}"
    named = [reason for name, reason in reasons.items() if name in given]
    why = f"{named[0]}" if named else f"it has {min(given)!r}, the model {min(wanted)!r}"
    return f"source must fit the model, got none of its tensors by name and shape: {why}"
