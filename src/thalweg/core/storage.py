"""Files that are either the old ones or the new ones, never half of each.

A single file is written beside its place and moved there, which the file system does in one step.
A folder cannot be replaced in one step, so it takes two:

    write  .name.new-xxxx      all files, flushed to disk
    move   name → .name.old    only if there is an old one
    move   .name.new-xxxx → name
    remove .name.old

A crash between the two moves leaves the old folder under its hidden name; `read_folder` looks
there, and the next write puts it back first. Two writers of one folder at the same time are not
supported. Files that belong together in a folder that stays where it is are all written beside
their places before the first is moved, and the last of them stands for all (`write_together`).
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import secrets
import shutil
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.core.checks import describe
from thalweg.core.errors import StorageError, WriteError
from thalweg.core.kinds import damaged
from thalweg.core.text import in_json

STALE = 3600.0  # seconds after which an abandoned temporary file or folder is cleared away
STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")  # others hold them open


def write_file(path: Path, content: bytes) -> None:
    """Put `content` at `path` in one step: readers see the old file or the new one."""
    path = Path(path)
    fresh = path.with_name(f".{path.name}.new-{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _flush(fresh, content)
        os.replace(fresh, path)
        _flush_directory(path.parent)
    except OSError as problem:
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise WriteError(
            f"{path} cannot be written ({problem.strerror or problem}): "
            "choose a place that is writable and has room; what was there is unchanged"
        ) from problem
    _clear_stale(path)


def write_out(path: Path, content: bytes) -> None:
    """Put `content` where a user said, which may be a device, a pipe or a link.

    What is no regular file is written through, not replaced; the file that a link stands for is
    replaced in its own place, and the link stays. Not for files in the folder of a run: that may
    come from anywhere, and so may where its links lead.
    """
    path = Path(path)
    try:
        if not _is_through(path):
            return write_file(Path(os.path.realpath(path)), content)
        with open(path, "wb") as file:  # not flushed to disk: a pipe has none
            file.write(content)
    except StorageError:
        raise
    except OSError as problem:
        raise WriteError(
            f"{path} cannot be written ({problem.strerror or problem}): "
            "choose a place that is writable and has room"
        ) from problem


def write_folder(folder: Path, files: Mapping[str, bytes], *, marker: str) -> None:
    """Put `files` into `folder` in one go; other files that were in it are kept.

    `marker` is the file that shows that an existing folder is one of ours: any other non-empty
    folder is left alone and reported.
    """
    folder = _named(folder)
    old = _old(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if old.exists() and not folder.exists():
            os.rename(old, folder)  # a crash between the two moves: the old one comes back first
    except OSError as problem:
        raise _cannot_write(folder, problem) from problem
    if folder.exists() and not folder.is_dir():
        raise StorageError(f"{folder} is a file, not a folder: choose another name for the run")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / marker).exists():
        raise StorageError(
            f"{folder} holds files but no saved run (no {marker}): choose an empty or new folder"
        )
    fresh = folder.with_name(f".{folder.name}.new-{secrets.token_hex(4)}")
    try:
        fresh.mkdir()
        for name, content in files.items():
            _flush(fresh / name, content)
        _flush_directory(fresh)
        if folder.is_dir():
            for other in folder.iterdir():
                if other.name not in files:
                    _carry_over(other, fresh / other.name)
            if old.exists():
                shutil.rmtree(old)
            os.rename(folder, old)
        os.rename(fresh, folder)
        _flush_directory(folder.parent)
    except OSError as problem:
        shutil.rmtree(fresh, ignore_errors=True)
        if old.exists() and not folder.exists():
            os.rename(old, folder)
        raise _cannot_write(folder, problem) from problem
    shutil.rmtree(old, ignore_errors=True)
    _clear_stale(folder)


def write_together(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put `files` into `folder`: a disk that fails on the way changes nothing.

    The last of them is the mark of all: it goes before the others are moved, and comes after them,
    so that after a crash they are of one writing wherever it is there. Where a move fails, those
    that had been moved are put back.
    """
    folder, token = Path(folder), secrets.token_hex(4)
    fresh = {name: folder / f".{name}.new-{token}" for name in files}
    *others, mark = files
    before: dict[str, bytes | None] = {}  # of those that are moved already, what was there
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            _flush(fresh[name], content)
        before[mark] = _content(folder / mark)
        (folder / mark).unlink(missing_ok=True)
        _flush_directory(folder)
        for name in (*others, mark):
            before.setdefault(name, _content(folder / name))
            os.replace(fresh[name], folder / name)
        _flush_directory(folder)
    except OSError as problem:
        for place in fresh.values():
            with contextlib.suppress(OSError):
                place.unlink(missing_ok=True)
        unchanged = "; what was there is unchanged" if _put_back(folder, before, mark) else ""
        raise WriteError(
            f"{folder}/{mark} cannot be written ({problem.strerror or problem}): "
            f"choose a place that is writable and has room{unchanged}"
        ) from problem


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _put_back(folder: Path, before: Mapping[str, bytes | None], mark: str) -> bool:
    """Whether the files are as before again, the mark last."""
    try:
        for name in sorted(before, key=lambda name: name == mark):
            content = before[name]
            if content is None:
                (folder / name).unlink(missing_ok=True)
            else:
                write_file(folder / name, content)
    except (OSError, WriteError):
        return False
    return True


def read_folder(folder: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    """The contents of the named files of a folder that `write_folder` wrote."""
    folder = _named(folder)
    place = folder if folder.exists() or not _old(folder).exists() else _old(folder)
    if not place.exists():
        raise StorageError(f"{folder} does not exist: give the folder of a saved run")
    if not place.is_dir():
        raise StorageError(f"{folder} is a file: give the folder of a saved run")
    missing = [name for name in names if not (place / name).is_file()]
    if missing:
        raise StorageError(
            f"{folder} is not a saved run, it lacks {', '.join(missing)}: "
            "give a folder that Run.save wrote"
        )
    return {name: (place / name).read_bytes() for name in names}


def clear_left(folder: Path) -> None:
    """Remove what killed writers left in a folder that nobody else writes to now."""
    for left in Path(folder).glob(".*.new-*"):
        with contextlib.suppress(OSError):
            _remove(left)


def to_json(record: Any) -> bytes:
    """`record` as JSON text; arrays become lists, and numbers that are not finite become words."""
    text = json.dumps(_plain(record), indent=1, ensure_ascii=False, allow_nan=False)
    return (in_json(text) + "\n").encode()


def from_json(text: bytes, *, source: str) -> Any:
    """Read back what `to_json` wrote, words for numbers that are not finite included."""
    try:
        return _numbers(json.loads(text))
    except RecursionError as problem:
        raise StorageError(
            f"{source} is nested too deep: it was damaged or written by another program"
        ) from problem
    except (ValueError, TypeError, OverflowError) as problem:
        raise StorageError(
            f"{source} is not valid JSON ({problem}): it was damaged or written by another program"
        ) from problem


def check_format(content: Any, reads: int, *, source: str, way_out: str = "read it") -> None:
    """Refuse what is not a table of this `format`; `way_out` is to be done by its own version."""
    found = content.get("format") if isinstance(content, dict) else None
    if found != reads:
        raise StorageError(
            f"{source} has format {found}, this version of Thalweg reads {reads}: "
            f"{way_out} with the version that wrote it"
        )


def from_npz(content: bytes, shapes: Mapping[str, int], *, source: str) -> dict[str, np.ndarray]:
    """The arrays of an .npz, numbers in so many dimensions each; nothing in it is executed."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            arrays = {name: np.asarray(stored[name]) for name in stored.files}
    except Exception as problem:  # zipfile and NumPy raise what they meet in foreign bytes
        raise damaged(source, problem) from problem
    for name, dimensions in shapes.items():
        if name not in arrays:
            raise damaged(source, KeyError(name))
        if arrays[name].ndim != dimensions or arrays[name].dtype.kind not in "iuf":
            raise damaged(source, TypeError(f"{name} is {describe(arrays[name])}"))
    return arrays


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"number"}:
            return float(value["number"])
        return {key: _numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return value


def _named(folder: Path) -> Path:
    """The folder by a name of its own, which "." and ".." do not have."""
    folder = Path(folder)
    return folder if folder.name not in ("", "..") else folder.resolve()


def _old(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")


def _cannot_write(folder: Path, problem: OSError) -> WriteError:
    return WriteError(
        f"the run cannot be saved to {folder} ({problem.strerror or problem}): "
        "choose a place that is writable and has room; what was there is unchanged"
    )


def _flush(path: Path, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _flush_directory(path: Path) -> None:
    """Make a rename durable; not every platform lets a directory be opened."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


def _is_through(path: Path) -> bool:
    """Whether something is there that must not be replaced by a file."""
    try:
        kind = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(kind) or str(path).startswith(STREAMS)


def _carry_over(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy2(source, target)


def _clear_stale(path: Path) -> None:
    """Remove what a killed writer left behind, once it is old enough not to be a live one's."""
    for left in path.parent.glob(f".{path.name}.new-*"):
        try:
            if time.time() - left.stat().st_mtime > STALE:
                _remove(left)
        except OSError:
            continue


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()
