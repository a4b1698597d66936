"""Reading a table into numbers: seconds and memory, beside decoding the same file.

Each is done in a process of its own, several times, on files of the folder that the environment
variable THALWEG_DATA names or of ../shared/data. Decoding is the least to be done:
decompressing and reading by polars with the types of all columns known, by NumPy and then to
float32, by scikit-learn.

    decoded   bytes of the X and y that `read` returns: the numbers that are trained on
    added     bytes at the peak of `read`, above those of a process that has imported all
    memory    added / decoded; in brackets added / bytes of the same table in the types of its file
    seconds   of the processor, the least of the repeats: decoding, reading, and their ratio
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FILES: dict[str, dict[str, Any]] = {
    "beijing-air.csv.xz": {"target": "PM2.5", "impute": "median"},
    "a9a": {},
    "covtype.npz": {},
    "mnist": {},
}
WORDS = ("wd", "station")  # text columns of beijing-air


def data_folder() -> Path:
    """Where the files are."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("THALWEG_DATA", beside))


def decode(name: str) -> int:
    """Decode a file by the tool for it; bytes of the table in the types of the file."""
    path = data_folder() / name
    if name.endswith(".csv.xz"):
        import lzma

        import polars as pl

        with lzma.open(path) as stream:
            content = stream.read()
        names = content[: content.index(b"\n")].decode().replace('"', "").split(",")
        types = {each: pl.String if each in WORDS else pl.Float64 for each in names}
        return pl.read_csv(content, schema=types, null_values="NA").estimated_size()
    if name.endswith(".npz"):
        import numpy as np

        with np.load(path) as arrays:
            held = [arrays[each] for each in arrays]
        _numbers = [each.astype(np.float32) for each in held]
        return sum(each.nbytes for each in held)
    if name == "mnist":
        import gzip

        import numpy as np

        held = []
        for file, offset in {"train-images-idx3": 16, "train-labels-idx1": 8}.items():
            with gzip.open(path / f"{file}-ubyte.gz") as stream:
                held.append(np.frombuffer(stream.read(), np.uint8, offset=offset))
        _numbers = [each.astype(np.float32) for each in held]
        return sum(each.nbytes for each in held)
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path))
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes + y.nbytes


def read(name: str) -> int:
    """Read a file into numbers; bytes of what comes out."""
    import thalweg as tw

    return tw.read(data_folder() / name, **FILES[name]).memory


def measure(job: str, name: str) -> dict[str, float]:
    """One job in this process: processor seconds, bytes of the result, bytes added at the peak."""
    import polars  # noqa: F401
    import sklearn.datasets  # noqa: F401

    import thalweg.tables.read  # noqa: F401

    pages = int(Path("/proc/self/statm").read_text().split()[1])
    before, start = pages * resource.getpagesize(), time.process_time()
    result = {"decode": decode, "read": read}[job](name)
    seconds = time.process_time() - start
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "bytes": result, "added": peak - before}


def in_new_process(job: str, name: str) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--job", job, "--file", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    """Print the table, or measure one job for it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--job", choices=("decode", "read"), help=argparse.SUPPRESS)
    parser.add_argument("--file", choices=FILES, help="this one alone")
    asked = parser.parse_args()
    if asked.job:
        print(json.dumps(measure(asked.job, asked.file)))
        return
    print(f"{'':20}{'decoded':>10}{'added':>10}{'memory':>14}{'seconds':>16}{'ratio':>7}")
    for name in [asked.file] if asked.file else FILES:
        if not (data_folder() / name).exists():
            print(f"{name:20}not in {data_folder()}")
            continue
        # In turn, so that what else the machine does falls on both.
        pairs = [
            [in_new_process(job, name) for job in ("decode", "read")] for _ in range(asked.repeats)
        ]
        decoded, added = pairs[0][1]["bytes"], max(pair[1]["added"] for pair in pairs)
        least, ours = (min(pair[k]["seconds"] for pair in pairs) for k in (0, 1))
        memory = f"{added / decoded:.2f} ({added / pairs[0][0]['bytes']:.2f})"
        print(
            f"{name:20}{decoded / 1e6:7.1f} MB{added / 1e6:7.1f} MB{memory:>14}"
            f"{least:8.2f}{ours:8.2f}{ours / least:7.2f}", flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
