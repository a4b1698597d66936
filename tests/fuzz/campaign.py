"""Draw a file by a seed, damage it or not, read it, and hold the reader to the rule.

    what is read        equals what an independent reader reads, where that one reads it
    what is not read    is a ThalwegError of one paragraph
    a drawn file        is read, or refused by that paragraph
    always              in at most SECONDS, and with less than MEMORY besides what is there

A seed is one file. What broke the rule is kept as bytes in `cases/`, `<format>-<seed>.<name>`, and
tried first ever after.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import resource
import tempfile
import time
import traceback
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from thalweg.core.errors import ThalwegError
from thalweg.tables.budget import budget_of
from thalweg.tables.load import load

from .mutators import mutated
from .readers import READERS, File, difference

CASES = Path(__file__).parent / "cases"
SECONDS, MEMORY = 20.0, 1 << 30
BUDGET = "512MB"
LONGEST = 2000  # characters of a paragraph
OPEN = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
SQUEEZE = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


class Trial(NamedTuple):
    """One file and what became of it."""

    format: str
    seed: int
    file: File
    outcome: str  # "read", "equal" or "refused"
    fault: str  # how the rule was broken, empty where it was not


def drawn(seed: int) -> tuple[str, File]:
    """The format and file of a seed: one in four is whole, one in eight compressed."""
    rng = np.random.default_rng(seed)
    shares = np.array([reader.share for reader in READERS.values()])
    name = list(READERS)[int(rng.choice(len(READERS), p=shares / shares.sum()))]
    file = READERS[name].draw(rng)
    content = file.content if rng.random() < 0.25 else mutated(file.content, rng)
    if rng.random() < 0.125 and content:
        suffix = list(SQUEEZE)[int(rng.integers(1, len(SQUEEZE)))]
        squeezed = SQUEEZE[suffix](content)
        squeezed = squeezed if rng.random() < 0.5 else mutated(squeezed, rng)
        return name, File(file.name + suffix, squeezed)
    return name, File(file.name, content)


def tried(format_: str, seed: int, file: File, folder: Path) -> Trial:
    """Read the file and judge."""
    path = folder / file.name
    path.write_bytes(file.content)
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fault, outcome = "", "read"
    try:
        raw = load(path, budget=budget_of(BUDGET))
        expected = _expected(format_, file)
        if expected is not None:
            outcome, fault = "equal", difference(raw, expected)
    except ThalwegError as problem:
        outcome = "refused"
        if "\n" in str(problem) or len(str(problem)) > LONGEST:
            fault = f"no paragraph: {str(problem)[:200]!r}"
    except BaseException as problem:
        if isinstance(problem, KeyboardInterrupt):
            raise
        fault = "".join(traceback.format_exception(problem)[-3:])
    taken = time.monotonic() - began
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    if taken > SECONDS:
        fault = fault or f"took {taken:.0f} s"
    if grown > MEMORY:
        fault = fault or f"took {grown >> 20} MB"
    path.unlink()
    return Trial(format_, seed, file, outcome, fault)


def campaign(seeds: Iterator[int], seconds: float) -> Iterator[Trial]:
    """Try kept cases, then seed after seed until the time is up."""
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        for case in sorted(CASES.glob("[a-z]*")):
            marks, _, name = case.name.partition(".")
            format_, _, seed = marks.rpartition("-")
            file = File(f"t.{name}" if name else "images", case.read_bytes())
            yield tried(format_, int(seed), file, Path(folder))
        for seed in seeds:
            if time.monotonic() > end:
                return
            yield tried(*_with_seed(seed), Path(folder))


def keep(trial: Trial) -> Path:
    """Write the file of a trial to the cases."""
    _, _, name = trial.file.name.partition(".")
    path = CASES / (f"{trial.format}-{trial.seed}" + (f".{name}" if name else ""))
    path.write_bytes(trial.file.content)
    return path


def _with_seed(seed: int) -> tuple[str, int, File]:
    name, file = drawn(seed)
    return name, seed, file


def _expected(format_: str, file: File) -> object:
    content = file.content
    suffix = Path(file.name).suffix
    if suffix in OPEN:
        try:
            content = OPEN[suffix](content)
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
            return None
    return READERS[format_].reference(content)
