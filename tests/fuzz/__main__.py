"""`python -m tests.fuzz --seconds 300 --seed 1 --keep`: cases by seeds from the first on."""

import argparse
import multiprocessing
import os
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from .campaign import keep, part

# Files of a few rows: several threads would wait for each other most of the time.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"), "1"
)


def main() -> int:
    """Print what was tried and what broke the rule; 1 if anything did."""
    options = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    options.add_argument("--seconds", type=float, default=300.0)
    options.add_argument("--seed", type=int, default=int(time.time()), help="the first one")
    options.add_argument("--keep", action="store_true", help="keep what broke the rule as a case")
    options.add_argument("--jobs", type=int, default=1, help="processes")
    asked = options.parse_args()
    ways = [(asked.seed + k, asked.jobs, asked.seconds) for k in range(asked.jobs)]
    os.environ.update(ONE_THREAD)
    # Not a Pool, which waits for ever for a process that has crashed.
    with ProcessPoolExecutor(asked.jobs, multiprocessing.get_context("spawn")) as pool:
        parts = list(pool.map(part, ways))
    counts = sum((each for each, _ in parts), Counter())
    faults = [trial for _, some in parts for trial in some]
    for trial in faults:
        where = f", kept as {keep(trial)}" if asked.keep else ""
        print(f"{trial.format}, seed {trial.seed}{where}", trial.fault, sep="\n")
        print(trial.file.name, trial.file.content[:300])
    for (format_, outcome), count in sorted(counts.items()):
        print(f"{format_:<24} {outcome:<8} {count:>8,}")
    print(f"{counts.total():,} cases from seed {asked.seed} on, {len(faults)} broke the rule")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
