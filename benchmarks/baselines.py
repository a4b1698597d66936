"""Let AutoTrainer, UMLAUT, DeepLocalize and TheDeepChecker judge the programs of the zoo.

    python benchmarks/baselines.py                           the held-out part
    python benchmarks/baselines.py --only "saddle"           those whose name matches
    python benchmarks/baselines.py --part all --write        all, and put down what was said
    python benchmarks/baselines.py --part all --write --missing    those of which nothing was
    python benchmarks/baselines.py --stored                  count what was, train nothing

Their rules, written anew from descriptions, are in `doctor/baselines`; what they said is in
`doctor/baselines.json`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import time
from collections.abc import Iterator

import torch
from doctor.baselines.results import PARTS, count, part_of, store, stored, table
from doctor.baselines.run import DETECTORS, judge
from doctor.baselines.verdict import Verdict
from doctor.program import Program
from doctor.zoo import PROGRAMS


def main() -> None:
    """Print a line for each program, and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, default="held-out")
    parser.add_argument("--only", default="", help="a regular expression for names")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="put down what was said")
    parser.add_argument("--missing", action="store_true", help="what was not put down yet")
    parser.add_argument("--stored", action="store_true", help="count what was put down")
    asked = parser.parse_args()
    programs = [p for p in part_of(asked.part) if re.search(asked.only, p.name)]
    said = stored()
    begun = time.perf_counter()
    if not asked.stored:
        known = {program.name for program in PROGRAMS}
        said = {name: verdicts for name, verdicts in said.items() if name in known}
        jobs = [p for p in programs if not (asked.missing and p.name in said)]
        for program, verdicts in _judged(jobs, asked.processes):
            said[program.name] = verdicts
            truth = program.fault.cause if program.fault else "healthy"
            found = "; ".join(f"{name}: {v.causes[0]}" for name, v in verdicts.items() if v.causes)
            print(f"{program.name:<52} {truth:<32} {found}", flush=True)
            if asked.write:  # one by one: what an interrupted run has done is kept
                store(said)
    print(f"\n{len(programs)} programs, {asked.part}, in {time.perf_counter() - begun:.0f} s\n")
    print(table({name: count(programs, {p: said[p][name] for p in said}) for name in DETECTORS}))


def _judged(
    programs: list[Program], processes: int
) -> Iterator[tuple[Program, dict[str, Verdict]]]:
    """Programs and what was said of them, in their order."""
    torch.set_num_threads(1)
    if processes == 1:
        yield from zip(programs, map(judge, programs), strict=True)
        return
    with multiprocessing.get_context("spawn").Pool(processes, torch.set_num_threads, (1,)) as pool:
        yield from zip(programs, pool.imap(judge, programs), strict=True)


if __name__ == "__main__":
    main()
