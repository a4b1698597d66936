"""Train every program of the zoo and check that the healthy are healthy and the faulty are not.

    python benchmarks/verify_zoo.py                      all of them, one after the other
    python benchmarks/verify_zoo.py --only "^digits"     those whose name matches, and their twins
    python benchmarks/verify_zoo.py --processes 2 --write    and put the numbers down

What health and harm are is said in `doctor/measure.py`. Numbers go to `doctor/measured.json`, and
with them what the twin of a faulty program reaches. `--split` writes `doctor/held_out.json` anew
and counts what is there.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time

from doctor.measure import STORED, Measured, ailments, harm, measure, store, stored
from doctor.pool import answers
from doctor.program import Program

from doctor import zoo


def main() -> int:
    """Print a line for each program; 1 if one of them is not what it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="a regular expression for names")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="put the numbers down")
    parser.add_argument("--split", action="store_true", help="write the held-out list and count")
    asked = parser.parse_args()
    if asked.split:
        zoo.WRITTEN.write_text(json.dumps(zoo.by_rule(), indent=1) + "\n")
        print(_counts("all", zoo.PROGRAMS))
        print(_counts("held out", [p for p in zoo.PROGRAMS if zoo.is_held_out(p)]))
        return 0
    chosen = [program for program in zoo.PROGRAMS if re.search(asked.only, program.name)]
    twins = [program.twin for program in chosen if program.twin is not None]
    jobs = {program.name: program for program in [*twins, *chosen]}
    begun = time.perf_counter()
    measured: dict[str, Measured] = {}
    problems, slowest = [], 0.0
    for program, (numbers, seconds, steps) in answers(
        measure, list(jobs.values()), asked.processes
    ):
        name = program.name
        measured[name] = numbers
        slowest = max(slowest, seconds)
        # Twins come first in every order of results: those of a pool come in the order asked for.
        found, said = _judged(jobs[name], measured)
        problems += [f"{name}: {each}" for each in found]
        mark = "✗" if found else " "
        print(f"{mark} {name:<52} {seconds:5.1f} s {steps:6d} steps  {said}", flush=True)
    ill = sum(program.fault is not None for program in jobs.values())
    print(
        f"\n{len(jobs) - ill} healthy and {ill} faulty programs in "
        f"{time.perf_counter() - begun:.0f} s, the slowest {slowest:.1f} s"
    )
    print("\n".join(problems) or "all are what they should be")
    if asked.write:
        known = {program.name for program in zoo.PROGRAMS}
        before = stored() if STORED.exists() else {}
        store({name: m for name, m in {**before, **measured}.items() if name in known})
    return bool(problems)


def _counts(what: str, programs: list[Program]) -> str:
    ill = [program for program in programs if not program.is_healthy]
    families = {program.family for program in ill}
    return (
        f"{what}: {len(programs) - len(ill)} healthy programs, "
        f"{len(ill)} faulty ones in {len(families)} families"
    )


def _judged(program: Program, measured: dict[str, Measured]) -> tuple[list[str], str]:
    """What is wrong with a program's place in the zoo, and its numbers in words."""
    own = measured[program.name]
    if program.fault is None or program.twin is None:
        return ailments(program, own), f"score {own.score:.3f}, loss {own.last_loss}"
    fault = program.fault
    amount = harm(program, own, measured[program.twin.name])
    said = f"score {own.score:.3f}, {fault.harm} {amount:.3f} of {fault.margin}"
    return ([] if amount >= fault.margin else [said]), said


if __name__ == "__main__":
    sys.exit(main())
