"""The folder of a saved run: `runs/<id>/`, plain files that any program can read.

    job.json       what was asked, by which command, where and with which versions
    encoding.json  how columns became numbers
    choice.json    how l1 and l2 were chosen, where there were several
    plan.json      what was decided before a linear model was trained
    checkpoint.*   while it trains, and after it where it was stopped early
    run.json, trace.csv, weights.npz    what happened (`thalweg.core.run`)
    model.*        what `predict` needs
    record.npz, spectrum.npz            what was seen of a network while it trained, and at its end
    explanation.json                    what matters to the model, and where it errs
    result.json    the verdict, written last: a folder without it has not been finished
    limits.json    of a training that was resumed, what it may take
    report.html    all of it, to look at

The folder appears with the first two in one step. Every other file is replaced in one step, so that
a kill at any moment leaves a training that `resume` finishes. A lock on `job.json`, which ends with
its process, keeps a second one out.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import re
import secrets
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from thalweg.core.chosen import CHOSEN
from thalweg.core.errors import InputError
from thalweg.core.explanation import EXPLAINED, Explanation
from thalweg.core.finding import FINDING
from thalweg.core.kinds import COUNT, NUMBER, UNICODE, check_kinds, damaged, one_of, row
from thalweg.core.outcome import Outcome
from thalweg.core.storage import check_format, from_json, read_folder, to_json, write_folder
from thalweg.core.verdict import WORDS
from thalweg.runs.job import Job
from thalweg.tables.column import DATE, FLAG, TEXT
from thalweg.tables.column import NUMBER as NUMBERS
from thalweg.tables.dates import ORDERS, PARTS
from thalweg.tables.encoding import Encoding
from thalweg.tables.notation import check_notation

FORMAT = 1
ROOT = "runs"
JOB, ENCODING, RESULT = "job.json", "encoding.json", "result.json"
EXPLANATION = "explanation.json"
RACE, REPORT = "race.json", "report.html"
RECORD, SPECTRUM = "record.npz", "spectrum.npz"  # of a network
NETWORK = "model.safetensors"
ASKED: dict[str, Any] = {
    "job": dict, "command": str, "directory": str, "fingerprint": str, "environment": {str: str},
}  # fmt: skip
POINT: dict[str, Any] = {  # where a network ended
    "kind": str, "objective": str, "gradient_norm": NUMBER, "gradient_limit": NUMBER,
    "smallest": NUMBER, "largest": NUMBER, "error": NUMBER, "confidence": NUMBER,
    "products": COUNT, "escape": None, "drop": NUMBER, "explanation": str,
}  # fmt: skip
TOLD: dict[str, Any] = {  # of a result
    "verdict": one_of(*WORDS), "outcome": one_of(*Outcome.__members__), "method": str,
    "iterations": COUNT, "seconds": NUMBER, "rows": COUNT, "scores": {str: {str: NUMBER}},
    "findings": [FINDING], "gap": (NUMBER, None), "data": [row(str, str)],
    "scaling": [row(str, NUMBER, NUMBER)],
    "notes": [str], "model": str | None, "point": (POINT, str, None),
    "choice": (CHOSEN, None),
}  # fmt: skip
ENCODED: dict[str, Any] = {
    "columns": (COUNT, [(UNICODE, {
        "name": UNICODE, "kind": one_of(NUMBERS, FLAG, TEXT, DATE),
        "categories": [UNICODE], "fill": (NUMBER, bool, UNICODE, None, [NUMBER]),
        "parts": ([one_of(*PARTS)], None), "order": (one_of("", *ORDERS), None),
    })]),
    "target": ({"name": UNICODE, "classes": [UNICODE], "labels": [UNICODE]}, None),
    "dtype": one_of("float32", "float64"), "is_sparse": bool, "sample_shape": [COUNT],
    "first_index": COUNT, "missing": [UNICODE], "header": bool | None, "decimal": str | None,
    "thousands": str | None, "left_out": ([UNICODE], None),
}  # fmt: skip


class Header(NamedTuple):
    """What `job.json` holds."""

    job: Job
    command: str  # as typed; empty where it came from Python
    directory: str  # that relative paths are meant from
    fingerprint: str  # of the data
    environment: dict[str, str]


def new_folder(root: str | Path, source: str) -> Path:
    """A folder that does not exist yet, named by the day and the data: 2026-11-16-cancer-a3f9."""
    stem = Path(source.removeprefix("@")).name.split(".")[0]
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-")[:24] or "data"
    while True:
        folder = Path(root) / f"{date.today().isoformat()}-{stem}-{secrets.token_hex(2)}"
        if not folder.exists():
            return folder


def begin(folder: Path, header: Header, encoding: Encoding) -> None:
    """Make the folder, with what was asked."""
    check_free(folder)
    write_folder(folder, begun(header, encoding), marker=JOB)


def begun(header: Header, encoding: Encoding) -> dict[str, bytes]:
    """What a folder has from its beginning."""
    content = {"format": FORMAT, **header._asdict(), "job": header.job.to_dict()}
    return {JOB: to_json(content), ENCODING: to_json(encoding.to_dict())}


def check_free(folder: Path) -> None:
    """Raise unless a run can be put there."""
    folder = Path(folder)
    for marker in (JOB, RACE):
        if (folder / marker).exists():
            raise InputError(
                f"out must be a new folder, got {folder}, which holds a run: go on with it by "
                f"thalweg train --resume {folder}, or choose another name"
            )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "is not empty" if folder.is_dir() else "is a file"
        raise InputError(f"out must be a new folder, got {folder}, which {what}: choose another")


def header_of(folder: Path) -> Header:
    """What was asked of the run in `folder`."""
    content = _record(folder, JOB)
    check_kinds(content, ASKED, source=f"{folder}/{JOB}")
    try:
        return Header(
            Job.from_dict(content["job"]),
            *(content[name] for name in Header._fields[1:]),
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise damaged(f"{folder}/{JOB}", problem) from problem


def encoding_of(folder: Path) -> Encoding:
    """How the columns of the run's data became numbers."""
    content = from_json(read_folder(folder, (ENCODING,))[ENCODING], source=f"{folder}/{ENCODING}")
    check_kinds(content, ENCODED, source=f"{folder}/{ENCODING}")
    try:
        check_notation(content.get("decimal"), content.get("thousands"))
        encoding = Encoding.from_dict(content)
        shape, features = encoding.sample_shape, len(encoding.feature_names)
        if shape and math.prod(shape) != features:
            raise ValueError(f"rows of {features} features have no shape {shape}")
        return encoding
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as problem:
        raise damaged(f"{folder}/{ENCODING}", problem) from problem


def result_of(folder: Path) -> dict[str, Any] | None:
    """What the training came to; None while it has not been finished."""
    if not (Path(folder) / RESULT).exists():
        return None
    content = _record(folder, RESULT)
    check_kinds(content, TOLD, source=f"{folder}/{RESULT}")
    return content


def explained(explanation: Explanation | None, model: str) -> bytes:
    """What explanation.json holds of the model with this fingerprint."""
    told = None if explanation is None else explanation.to_dict()
    return to_json({"format": FORMAT, "model": model, "explanation": told})


def explanation_of(folder: Path, model: str | None) -> Explanation | None:
    """What is kept of the model with this fingerprint; None in folders of first versions."""
    if not (Path(folder) / EXPLANATION).exists():
        return None
    content, source = _record(folder, EXPLANATION), f"{folder}/{EXPLANATION}"
    check_kinds(content, {"model": str, "explanation": (EXPLAINED, None)}, source=source)
    if model is not None and content["model"] != model:
        raise damaged(source, ValueError("it tells of another model than result.json"))
    try:
        told = content["explanation"]
        return None if told is None else Explanation.from_dict(told)
    except (KeyError, TypeError) as problem:
        raise damaged(source, problem) from problem


def fingerprint_of(content: bytes) -> str:
    """A hash of the model's file, which result.json holds: another run's is known by it."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from training in the same folder."""
    try:
        import fcntl
    except ImportError:  # a platform without such locks
        yield
        return
    with open(Path(folder) / JOB, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            raise InputError(
                f"{folder} must not be in use, and another process trains in it: wait until it "
                "has ended, or stop it"
            ) from problem
        yield


def is_locked(folder: Path) -> bool:
    """Whether a process trains there now."""
    try:
        with locked(folder):
            return False
    except InputError:
        return True


def _record(folder: Path, name: str) -> dict[str, Any]:
    content = from_json(read_folder(Path(folder), (name,))[name], source=f"{folder}/{name}")
    check_format(content, FORMAT, source=f"{folder}/{name}")
    return content
