"""`thalweg train` from file to report on real data: how it ends, its seconds and its bytes.

Each command runs in a process of its own, on files of the folder that the environment variable
THALWEG_DATA names, or of ../shared/data.

    table     bytes of X and y: the numbers that are trained on
    memory    bytes at the peak of the command, above those of the same command on the first 1,000
              rows (which are the program's own), over those of the table
    reading   seconds of `tw.read`, measured by itself
    training  seconds of the run, by its own clock
    all       seconds of the command, report included
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import lzma
import math
import os
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tables import data_folder

BEIJING = ["--target", "PM2.5", "--impute", "median", "--standardize"]
ROWS = 1_000
NETWORK = ["--model", "mlp:256x256", "--epochs", "1"]


class Case(NamedTuple):
    """What is trained."""

    name: str
    file: str
    options: list[str]
    reading: dict[str, Any]


CASES = (
    Case("beijing-air", "beijing-air.csv.xz", BEIJING, {"target": "PM2.5", "impute": "median"}),
    Case("a9a", "a9a", [], {}),
    Case("covtype", "covtype.npz", ["--standardize"], {}),
    Case("mnist", "mnist", ["--standardize", "--tol", "1e-3"], {}),
    Case("mnist, network", "mnist", NETWORK, {}),
)


class Ended(NamedTuple):
    """A command that has ended."""

    code: int
    peak: int  # bytes
    seconds: float
    result: dict[str, Any]  # result.json


def ended(source: str, options: list[str], limit: str) -> Ended:
    """`thalweg train`, in a process of its own."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        limits = [] if "--model" in options else ["--time-limit", limit]
        typed = ["train", source, *options, *limits, "--out", str(folder), "--quiet"]
        begun = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "thalweg", *typed], stdout=subprocess.DEVNULL
        )
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
        file = folder / "result.json"
        result = json.loads(file.read_text()) if file.exists() else {}
        code = os.waitstatus_to_exitcode(status)
        return Ended(code, 1024 * used.ru_maxrss, seconds, result)


def first_rows(path: Path, place: Path) -> str:
    """A file of the same kind with a thousand rows."""
    small = place / path.name
    if path.is_dir():
        small.mkdir()
        for file in path.glob("train-*"):
            with gzip.open(file) as stream:
                head = stream.read(8 if "labels" in file.name else 16)
                shape = struct.unpack(f">{head[3]}I", head[4:])
                body = stream.read(ROWS * math.prod(shape[1:]))
            sizes = struct.pack(f">{head[3]}I", ROWS, *shape[1:])
            (small / file.stem).write_bytes(head[:4] + sizes + body)
    elif path.suffix == ".npz":
        with np.load(path) as arrays:
            drawn = np.random.default_rng(0).choice(len(arrays["X"]), ROWS, replace=False)
            np.savez(small, X=arrays["X"][drawn], y=arrays["y"][drawn])
    else:
        opener = lzma.open if path.suffix == ".xz" else open
        with opener(path, "rb") as stream:
            lines = list(itertools.islice(stream, ROWS))
        with opener(small, "wb") as stream:
            stream.writelines(lines)
    return str(small)


def table_of(case: Case) -> tuple[int, float]:
    """Bytes of the table, and seconds to read it, in a process of its own."""
    command = [sys.executable, __file__, "--read", case.name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    size, seconds = json.loads(done.stdout)
    return size, seconds


def read(case: Case) -> None:
    """What that process does."""
    import polars  # noqa: F401

    import thalweg as tw

    begun = time.perf_counter()
    size = tw.read(data_folder() / case.file, **case.reading).memory
    print(json.dumps([size, time.perf_counter() - begun]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [case.name for case in CASES]
    parser.add_argument("--case", choices=names, action="append")
    parser.add_argument("--time-limit", default="5m", help="of the training of a linear model")
    parser.add_argument("--read", choices=names, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.read:
        read(next(case for case in CASES if case.name == asked.read))
        return
    print(
        f"{'':16}{'exit':>5}  {'verdict':16}{'method':>12}{'table':>10}{'memory':>8}"
        f"{'reading':>9}{'training':>10}{'all':>8}"
    )
    for case in CASES:
        path = data_folder() / case.file
        if asked.case and case.name not in asked.case:
            continue
        if not path.exists():
            print(f"{case.name:16}not in {data_folder()}")
            continue
        size, reading = table_of(case)
        with tempfile.TemporaryDirectory() as place:
            alone = ended(first_rows(path, Path(place)), case.options, asked.time_limit)
        done = ended(str(path), case.options, asked.time_limit)
        memory = (done.peak - alone.peak) / size
        print(
            f"{case.name:16}{done.code:5}  {done.result.get('verdict', ''):16}"
            f"{done.result.get('method', ''):>12}{size / 1e6:7.1f} MB{memory:7.2f}×"
            f"{reading:7.1f} s{done.result.get('seconds', float('nan')):8.1f} s"
            f"{done.seconds:6.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
