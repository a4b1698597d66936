"""A training put aside: enough on disk to go on to the same bits as if it had never stopped.

One file, written beside its place, flushed and moved there in one step, so that a kill at any
moment leaves the last complete checkpoint. It holds tensors, numbers and words, and is read with
`weights_only=True`: reading it executes nothing.

What it belongs to is written with it: the model's parameters by name, shape and precision, the data
by their shapes and a look at some rows, the seed, and how the training was set up. A checkpoint of
another training is refused.
"""

from __future__ import annotations

import io
import pickle
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from thalweg.core.checks import describe
from thalweg.core.errors import InputError, StorageError
from thalweg.core.storage import check_format, write_file

FORMAT = 1
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class Saved(NamedTuple):
    """What a checkpoint holds."""

    identity: dict[str, Any]  # what must agree for a resume to make sense
    state: dict[str, Any]  # what the next step depends on


def write(file: str | Path, identity: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    """Write a checkpoint in one step."""
    content = {"format": FORMAT, "identity": plain(identity), "state": plain(state)}
    out = io.BytesIO()
    torch.save(content, out)
    write_file(Path(file), out.getvalue())


def read(file: str | Path) -> Saved | None:
    """Read a checkpoint back; None if there is none."""
    path = Path(file)
    if not path.exists():
        return None
    try:
        content = torch.load(io.BytesIO(path.read_bytes()), map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, ValueError, EOFError, pickle.UnpicklingError) as problem:
        raise StorageError(
            f"{path} is not a checkpoint of a training ({_first_line(problem)}): "
            "move it away, or give another file"
        ) from problem
    check_format(content, FORMAT, source=str(path), way_out="give another file, or resume it")
    if not {"identity", "state"} <= content.keys():
        raise StorageError(f"{path} is damaged: move it away, or give another file")
    saved = Saved(content["identity"], content["state"])
    _let_probes_remember(saved)
    return saved


def _let_probes_remember(saved: Saved) -> None:
    """Change a checkpoint of before probes did: a watch was kept there as a regularizer, Memory."""
    names = saved.identity.get("regularizers", [])
    if "probes" not in saved.state and "Memory" in names:
        place = names.index("Memory")
        saved.identity["probes"] = [names.pop(place)]
        # Before the regularizers come augmentation, early stopping and the scheduler.
        saved.state["probes"] = [saved.state["parts"].pop(3 + place)]


def check_same(file: str | Path, saved: Saved, identity: Mapping[str, Any]) -> None:
    """Raise unless the checkpoint is of this training."""
    for key, now in plain(identity).items():
        then = saved.identity.get(key)
        if then != now:
            raise InputError(
                f"checkpoint {file} belongs to another training: {_difference(key, then, now)}: "
                "give another file, or remove that one"
            )


def describe_model(model: nn.Module) -> dict[str, Any]:
    """Parameters and buffers by name, with their shapes and types, and how the model prints."""
    tensors = {name: f"{list(t.shape)} {t.dtype}" for name, t in model.state_dict().items()}
    return {"tensors": tensors, "modules": _ADDRESS.sub("", str(model))}


def plain(value: Any) -> Any:
    """`value` in what a checkpoint can hold: tensors, numbers, words, lists and dictionaries."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(map(plain, value)) if type(value) is tuple else list(map(plain, value))
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.array(value))
    if isinstance(value, torch.Tensor):
        return value.detach()
    if value is None or isinstance(value, bool | int | float | str | torch.dtype):
        return value
    raise InputError(
        f"a checkpoint holds tensors, numbers and words, got {describe(value)}: "
        "let state_dict() return these alone"
    )


def _difference(key: str, then: Any, now: Any) -> str:
    if key != "model" or not isinstance(then, dict):
        return f"its {key} is {then!r}, this one's is {now!r}"
    old, new = then.get("tensors", {}), now["tensors"]
    for name in [*new, *old]:
        if old.get(name) != new.get(name):
            return (
                f"its model has {name} {old.get(name, 'not at all')}, "
                f"this one's has it {new.get(name, 'not at all')}"
            )
    return "its model is built of other layers"


def _first_line(problem: Exception) -> str:
    return (str(problem).splitlines() or [type(problem).__name__])[0]
