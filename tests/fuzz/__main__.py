"""`python -m tests.fuzz --seconds 300 --seed 1 --keep`: files by seeds from the first on."""

import argparse
import itertools
import time
from collections import Counter

from .campaign import campaign, keep


def main() -> int:
    """Print what was tried and what broke the rule; 1 if anything did."""
    options = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    options.add_argument("--seconds", type=float, default=300.0)
    options.add_argument("--seed", type=int, default=int(time.time()), help="the first one")
    options.add_argument("--keep", action="store_true", help="keep what broke the rule as a case")
    asked = options.parse_args()
    counts: Counter = Counter()
    faults = 0
    for trial in campaign(itertools.count(asked.seed), asked.seconds):
        counts[trial.format, trial.outcome] += 1
        if trial.fault:
            faults += 1
            where = f", kept as {keep(trial)}" if asked.keep else ""
            print(f"{trial.format}, seed {trial.seed}{where}", trial.fault, sep="\n")
            print(trial.file.content[:300])
    for (format_, outcome), count in sorted(counts.items()):
        print(f"{format_:<10} {outcome:<8} {count:>8,}")
    print(f"{counts.total():,} files from seed {asked.seed} on, {faults} broke the rule")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
