"""Is the plan right on problems that nobody chose? `auto` beside every method, case by case.

    python benchmarks/wild.py --seeds 0:100:2 --out wild.json     to build on
    python benchmarks/wild.py --seeds 20001:20401:2 --limit 1700  to judge by
    python benchmarks/wild.py --read wild.json other.json

Each seed is a case (`wild/cases.py`): even seeds are to build on, odd ones to judge by; those up to
14401, 31001 to 33101, 41001 to 43121 and 61001 to 63241 have been looked at since. `auto` is timed
to a certified gap of 10⁻⁶, planning included, and so is every method that takes it
(`wild/measure.py`). With `--limit`, a case may take a few times its fair share of the seconds that
are left, after that methods are cut sooner, and no case begins when the seconds are over. Nothing
else should be running: ratios are side by side, but noise is still noise.
"""

import argparse
import json
import math
import time
from pathlib import Path

from wild import seeds
from wild.cases import problem
from wild.measure import ALLOWANCE, measure
from wild.sizes import MOST
from wild.table import HEAD, line, page

SHARES = 4.0  # of its fair share of what is left, that one case may take


def main() -> None:
    """Measure the seeds that the command line names, and print what came of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=seeds, default=range(0, 100, 2), help="first:end:step")
    parser.add_argument("--limit", type=float, default=math.inf, help="seconds for all")
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--most", type=int, default=MOST, help="entries: fewer are other cases")
    parser.add_argument("--out", type=Path, help="write all records here, as JSON")
    parser.add_argument("--read", type=Path, nargs="+", help="sum up records that were written")
    options = parser.parse_args()
    if options.read:
        print(page([record for path in options.read for record in json.loads(path.read_text())]))
        return
    records = measured(options.seeds, options.tol, options.most, options.limit, options.out)
    print(f"\nThe worst:\n{page(records)}")
    if len(records) < len(options.seeds):
        print(f"The seconds were over after {len(records)} of {len(options.seeds)} problems.")


def measured(
    chosen: range, tol: float, most: int, limit: float, out: Path | None
) -> list[dict[str, object]]:
    """Records of the seeds, as far as the seconds last; written as they come, if they are to be."""
    deadline = time.perf_counter() + limit
    records: list[dict[str, object]] = []
    print(HEAD)
    for done, seed in enumerate(chosen):
        left = deadline - time.perf_counter()
        if left <= 0:
            break
        allowance = min(ALLOWANCE, left, SHARES * left / (len(chosen) - done))
        records.append({"seed": seed} | measure(problem(seed, most), tol, allowance))
        print(line(records[-1]), flush=True)
        if out:
            out.write_text(json.dumps(records, indent=1))
    return records


if __name__ == "__main__":
    main()
