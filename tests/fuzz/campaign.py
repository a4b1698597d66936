"""Draw a case by a seed, try it, and hold what is tried to the rule.

    a file of data      what is read equals what an independent reader reads, where that one does;
                        else it is a ThalwegError of one paragraph
    a folder of a run   `folders` says what a verb may make of it
    a text              means what a reference says, or is refused by a sentence
    always              in at most SECONDS of computing, and less than MEMORY besides what is there

A seed is one case, of a format of `readers`, of "folder.…" or "word.…". What broke the rule is kept
as bytes in `cases/`, `<format>-<seed>-<name>`, and tried first ever after.
"""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import itertools
import lzma
import re
import resource
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from thalweg.core.errors import ThalwegError
from thalweg.tables.budget import budget_of
from thalweg.tables.load import load

from . import folders, words
from .mutators import mutated
from .readers import READERS, File, difference

CASES = Path(__file__).parent / "cases"
SECONDS, MEMORY = 20.0, 1 << 30
WAITING = 5  # times as long by the clock, on a machine that others use
BUDGET = "512MB"
LONGEST = 2000  # characters of a paragraph
OPEN = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
SQUEEZE = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
FOLDER, WORD, DATA = "folder.", "word.", "data."
_NAME = re.compile(r"(.+?)-(\d+)-(.+)")
OF_NETWORKS = ("network", "recipe", "layers")
HAS_TORCH = importlib.util.find_spec("torch") is not None
SHARES = {DATA: 0.45, FOLDER: 0.2, WORD: 0.35}


class Trial(NamedTuple):
    """One case and what became of it."""

    format: str
    seed: int
    file: File
    outcome: str  # "read", "equal", "refused" or "failed"
    fault: str  # how the rule was broken, empty where it was not


def drawn(seed: int) -> tuple[str, File]:
    """The format and the file, or the text, of a seed."""
    rng = np.random.default_rng(seed)
    what = str(rng.choice(list(SHARES), p=list(SHARES.values())))
    if what == FOLDER:
        name, file = folders.draw(rng)
        return FOLDER + name, file
    if what == WORD:
        name, file = words.draw(rng)
        return WORD + name, file
    return _drawn_data(rng)


def _drawn_data(rng: np.random.Generator) -> tuple[str, File]:
    """One in four is whole, one in eight compressed."""
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
    """Try the case and judge."""
    began, (cpu, before) = time.monotonic(), _used()
    fault, outcome = "", "refused"
    try:
        outcome, fault = _judged(format_, file, folder)
    except ThalwegError as problem:
        if "\n" in str(problem) or len(str(problem)) > LONGEST:
            fault = f"no paragraph: {str(problem)[:200]!r}"
    except BaseException as problem:
        if isinstance(problem, KeyboardInterrupt):
            raise
        outcome, fault = "failed", "".join(traceback.format_exception(problem)[-3:])
    taken, (cpu_after, after) = time.monotonic() - began, _used()
    if cpu_after - cpu > SECONDS or taken > WAITING * SECONDS:
        fault = fault or f"took {taken:.0f} s"
    if after - before > MEMORY:
        fault = fault or f"took {(after - before) >> 20} MB"
    return Trial(format_, seed, file, outcome, fault)


def _used() -> tuple[float, int]:
    """Seconds of computing of this process, and the most bytes that it held."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime, 1024 * usage.ru_maxrss


def _judged(format_: str, file: File, folder: Path) -> tuple[str, str]:
    """What came of it, and how the rule was broken."""
    if format_.startswith(FOLDER):
        return folders.judged(format_.removeprefix(FOLDER), file, folder)
    if format_.startswith(WORD):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a warning is not for who has typed something
            return words.judged(format_.removeprefix(WORD), file)
    path = folder / file.name
    path.write_bytes(file.content)
    try:
        raw = load(path, budget=budget_of(BUDGET))
        expected = [each for each in _expected(format_, file) if each is not None]
        faults = (difference(raw, each) for each in expected)
        return ("equal" if expected else "read", next(filter(None, faults), ""))
    finally:
        path.unlink()


def campaign(seeds: Iterator[int], seconds: float) -> Iterator[Trial]:
    """Try kept cases, then seed after seed until the time is up."""
    folders.templates()  # made once, beside the time
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        for case in sorted(CASES.glob("[a-z]*")):
            format_, seed, file = kept(case)
            if is_at_hand(format_):
                yield tried(format_, seed, file, Path(folder))
        for seed in seeds:
            if time.monotonic() > end:
                return
            format_, file = drawn(seed)
            if is_at_hand(format_):
                yield tried(format_, seed, file, Path(folder))


def is_at_hand(format_: str) -> bool:
    """Whether it can be tried here: what is of networks cannot where torch is not installed."""
    return HAS_TORCH or not any(word in format_ for word in OF_NETWORKS)


def part(way: tuple[int, int, float]) -> tuple[Counter, list[Trial]]:
    """One process: every so many-th seed."""
    first, step, seconds = way
    counts: Counter = Counter()
    faults = []
    for trial in campaign(itertools.count(first, step), seconds):
        counts[trial.format, trial.outcome] += 1
        if trial.fault:
            faults.append(trial)
    return counts, faults


def keep(trial: Trial) -> Path:
    """Write the case of a trial to the cases."""
    name = trial.file.name.replace("/", "~")
    path = CASES / f"{trial.format}-{trial.seed}-{name}"
    path.write_bytes(trial.file.content)
    return path


def kept(case: Path) -> tuple[str, int, File]:
    """The case that `keep` wrote: a template may have - in its name, a file may as well."""
    format_, seed, name = _NAME.fullmatch(case.name).groups()
    return format_, int(seed), File(name.replace("~", "/"), case.read_bytes())


def _expected(format_: str, file: File) -> list[object]:
    """What each of the references makes of it."""
    content = file.content
    suffix = Path(file.name).suffix
    if suffix in OPEN:
        try:
            content = OPEN[suffix](content)
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
            return []
    return [reference(content) for reference in READERS[format_].references]
