"""Is Thalweg fast on problems that nobody chose? `auto` beside the other solvers, case by case.

    python benchmarks/wild_peers.py --seeds 4000:4040:2           to build on
    python benchmarks/wild_peers.py                               to judge by: odd, from 5001 on
    python benchmarks/wild_peers.py --only 4016                   every tool on one case
    python benchmarks/wild_peers.py --read benchmarks/results/wild_peers.json
    python benchmarks/wild_peers.py --shared                      one thread, processor time

Each seed is a case (`wild/cases.py`); those that no peer takes are left out and the next is drawn,
until there are `--count` or the seconds of `--limit` are over. A peer takes a case if it minimises
that very F (`peers/tools.py`), with intercepts that are not penalised and with the weights.
Standardized features are prepared for the peers, and so is the layout that they like, outside the
clock; Thalweg's time is from arrays as they are to w, with making its problem and planning. What
is compared is the time to (F(w) − F*) / (F(0) − F*) of 10⁻⁶ and of 10⁻² (`wild/beside.py`), F
evaluated in float64 outside of all tools. Nothing else should be running.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from peers import machine  # first: it says how many threads there are
from peers.timing import PROCESSOR, WALL
from peers.tools import missing
from wild import seeds
from wild.beside import ALLOWANCE, measure
from wild.beside_table import HEAD, line, page
from wild.cases import problem
from wild.sizes import MOST
from wild.table import number
from wild.told import told

RESULTS = Path(__file__).parent / "results" / "wild_peers.json"
JUDGING = range(5001, 1_000_000, 2)
SHARES = 4.0  # of its fair share of what is left, that one case may take


def main() -> None:
    """Measure the seeds that the command line names, and print what came of them."""
    options = arguments()
    if options.read:
        print(page([record for path in options.read for record in json.loads(path.read_text())]))
        return
    for absent in missing():
        print(f"left out, not installed: {absent}")
    if options.only is not None:
        one(options.only, options.most)
        return
    records = measured(options.seeds, options.count, options.most, options.limit, options.out)
    print(f"\n{page(records)}")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=seeds, default=JUDGING, help="first:end:step")
    parser.add_argument("--count", type=int, default=60, help="cases with a peer")
    parser.add_argument("--limit", type=float, default=1_700.0, help="seconds for all")
    parser.add_argument("--only", type=int, metavar="SEED", help="all times of one case")
    parser.add_argument("--most", type=int, default=MOST, help="entries: fewer are other cases")
    parser.add_argument("--shared", action="store_true", help="one thread, processor time")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where records are kept")
    parser.add_argument("--read", type=Path, nargs="+", help="sum up records that were written")
    return parser.parse_args()


def measured(chosen: range, count: int, most: int, limit: float, out: Path) -> list[dict[str, Any]]:
    """Records of so many seeds, as far as the seconds last; written as they come."""
    deadline = time.perf_counter() + limit
    records: list[dict[str, Any]] = []
    out.parent.mkdir(parents=True, exist_ok=True)
    print(HEAD)
    for seed in chosen:
        left = deadline - time.perf_counter()
        if left <= 0 or len(records) == count:
            break
        allowance = min(ALLOWANCE, left, SHARES * left / (count - len(records)))
        record = record_of(seed, most, allowance)
        if isinstance(record, str):
            print(f"{seed:>8}  left out: {record}", flush=True)
            continue
        records.append(record)
        print(line(record), flush=True)
        out.write_text(json.dumps(records, indent=1))
    return records


def record_of(seed: int, most: int, allowance: float = ALLOWANCE) -> dict[str, Any] | str:
    """The record of a seed, or why there is none."""
    clock = PROCESSOR if machine.SHARED else WALL
    found = measure(told(problem(seed, most)), allowance, clock)
    return found if isinstance(found, str) else {"seed": seed} | found


def one(seed: int, most: int) -> None:
    """Every tool on one case."""
    record = record_of(seed, most)
    if isinstance(record, str):
        print(f"{seed}: {record}")
        return
    print(f"{HEAD}\n{line(record)}")
    for tool, seconds in record["peers"].items():
        print(f"  {tool:<34}{number(seconds):>9}  {record['notes'].get(tool, '')}")


if __name__ == "__main__":
    main()
