"""A run put aside: enough on disk to go on to the same bits as if it had never stopped.

One file, replaced in one step, so that a kill at any moment leaves the last complete checkpoint. It
holds arrays and one JSON header; reading it executes nothing.
"""

from __future__ import annotations

import hashlib
import io
import math
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thalweg.core.checks import check_count, check_number, describe
from thalweg.core.errors import InputError, StorageError
from thalweg.core.finding import Finding, Severity
from thalweg.core.storage import check_format, from_json, to_json, write_file

FORMAT = 1
_STATE, _DIGEST = "state.", "digest"


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often to put a run aside.

    `file` is written after every `every` iterations, or after every `seconds` where `every` is
    None, and once more at the end. A run that is given a checkpoint file that exists goes on from
    it.
    """

    file: str | Path
    every: int | None = None
    seconds: float = 30.0

    def __post_init__(self) -> None:
        if self.every is not None:
            check_count("every", self.every)
        check_number("seconds", self.seconds, at_least=0.0)
        if not isinstance(self.file, str | Path):
            raise InputError(f"checkpoint must be a file name, got {describe(self.file)}")
        if Path(self.file).is_dir():
            raise InputError(f"checkpoint must be a file, got the folder {self.file}: add a name")

    @classmethod
    def of(cls, given: Any) -> Checkpoint | None:
        """What was given as `checkpoint`; a file name stands for a checkpoint there."""
        if given is None or isinstance(given, Checkpoint):
            return given
        if isinstance(given, str | Path):
            return cls(given)
        raise InputError(f"checkpoint must be a file name or a Checkpoint, got {describe(given)}")

    def is_due(self, iteration: int, seconds_since: float) -> bool:
        """Whether it is time to write."""
        if self.every is not None:
            return iteration % self.every == 0
        return seconds_since >= self.seconds


class Saved(NamedTuple):
    """What a checkpoint holds."""

    identity: dict[str, Any]  # what must agree for a resume to make sense
    progress: dict[str, Any]  # counters, clock, generator
    state: dict[str, Any]  # the method's state, field by field
    arrays: dict[str, np.ndarray]  # everything else that is an array


def save(
    file: str | Path,
    identity: Mapping[str, Any],
    progress: Mapping[str, Any],
    state: Any,
    arrays: Mapping[str, np.ndarray],
) -> None:
    """Write a checkpoint in one step."""
    fields = state._asdict()
    kept = {name: value for name, value in fields.items() if isinstance(value, np.ndarray)}
    # A run has one generator, whose state is in `progress`; a state that holds it gets it back.
    skip = (np.ndarray, np.random.Generator)
    plain = {name: value for name, value in fields.items() if not isinstance(value, skip)}
    header = {"format": FORMAT, "identity": identity, "progress": progress, "state": plain}
    out = io.BytesIO()
    content: dict[str, Any] = {_STATE + name: value for name, value in kept.items()}
    content |= {"header": np.frombuffer(to_json(header), dtype=np.uint8), **arrays}
    content[_DIGEST] = _digest(content)
    np.savez(out, **content)
    write_file(Path(file), out.getvalue())


def load(file: str | Path) -> Saved | None:
    """Read a checkpoint back; None if there is none."""
    path = Path(file)
    if not path.exists():
        return None
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as content:
            arrays = {name: content[name] for name in content.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as problem:
        raise StorageError(
            f"{path} is not a checkpoint ({problem}): move it away, or give another file"
        ) from problem
    if "header" not in arrays:
        raise StorageError(f"{path} is not a checkpoint: move it away, or give another file")
    known = arrays.pop(_DIGEST, None)
    is_whole = known is not None and np.array_equal(known, _digest(arrays))
    header = from_json(arrays.pop("header").tobytes(), source=str(path))
    check_format(header, FORMAT, source=str(path), way_out="give another file, or resume it")
    if missing := {"identity", "progress", "state"} - header.keys():
        raise StorageError(
            f"{path} is damaged, it lacks {', '.join(sorted(missing))}: "
            "move it away, or give another file"
        )
    if not is_whole:
        raise StorageError(
            f"{path} is damaged, it is not what was written: move it away, or give another file"
        )
    state = dict(header["state"])
    for name in [name for name in arrays if name.startswith(_STATE)]:
        state[name.removeprefix(_STATE)] = arrays.pop(name)
    return Saved(header["identity"], header["progress"], state, arrays)


def _digest(content: Mapping[str, Any]) -> np.ndarray:
    """A hash of all names, types, shapes and bytes: a method does not check its own state."""
    found = hashlib.blake2b(digest_size=16)
    for name in sorted(content):
        array = np.asarray(content[name])
        found.update(f"{name} {array.dtype.str} {array.shape} ".encode(errors="surrogatepass"))
        found.update(array.tobytes())
    return np.frombuffer(found.digest(), dtype=np.uint8)


def check_same(file: str | Path, saved: Saved, identity: Mapping[str, Any]) -> None:
    """Raise unless the checkpoint is of this run: same objective, method, start and seed."""
    now = from_json(to_json(identity), source="identity")
    for key, value in now.items():
        if saved.identity.get(key) != value:
            found = f"its {key} is {saved.identity.get(key)!r}, this run's is {value!r}"
            raise InputError(
                f"checkpoint {file} belongs to another run: "
                f"{'it began at another w0' if key == 'w0' else found}: "
                "give another file, or remove that one"
            )


def checkpoint_lost(problem: str) -> Finding:
    """The finding that the run went on without a checkpoint."""
    return Finding(
        name="checkpoint not written",
        severity=Severity.WARN,
        claim=problem,
        measured=math.nan,
        limit=math.nan,
        cause="The run went on without it: killed now, it would resume from an older one.",
    )
