"""Nasty linear problems: how many are certified, and is what is certified true?

    python benchmarks/nasty.py --seeds 0:1000 --judge --processes 2 --out nasty.json

Each seed is a case (`nasty/cases.py`); seeds 0 to 999,999 are for building, 1,000,000 and up for
judging. A case is given to `tw.minimize(problem, "auto")`. With `--judge` every gap is compared
with a better point found in long doubles (`nasty/judge.py`), which takes half a second a case.
"""

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from nasty.judge import record
from nasty.table import page


def seeds(text: str) -> range:
    """A range of seeds from "first:end", or one seed."""
    first, _, end = text.partition(":")
    return range(int(first), int(end) if end else int(first) + 1)


def main() -> None:
    """Run the seeds that the command line names, and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=seeds, default=range(1000), help="first:end, end excluded")
    parser.add_argument("--judge", action="store_true", help="find the truth about every gap")
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path, help="write all records here, as JSON")
    parser.add_argument("--read", type=Path, nargs="+", help="sum up records that were written")
    options = parser.parse_args()
    if options.read:
        records = [facts for path in options.read for facts in json.loads(path.read_text())]
        print(page(records, options.tol))
        return
    # Small problems: threads of BLAS would only wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    work = partial(record, tol=options.tol, judging=options.judge)
    with ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as pool:
        records = list(pool.map(work, options.seeds, chunksize=4))
    if options.out:
        options.out.write_text(json.dumps(records, indent=1))
    print(page(records, options.tol))


if __name__ == "__main__":
    main()
