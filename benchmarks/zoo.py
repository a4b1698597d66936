"""How well the doctor does on programs whose ills are known, and on healthy ones; and others.

    python benchmarks/zoo.py                      the held-out part: what is published
    python benchmarks/zoo.py --part rest          the part that thresholds were set on
    python benchmarks/zoo.py --seed 1             the same programs from other first weights
    python benchmarks/zoo.py --only "^digits" --part all --verbose

Every program is trained twice: once with `tw.watch` around its loop, once with what AutoTrainer,
UMLAUT, DeepLocalize and TheDeepChecker look at, their rules written anew (`doctor/baselines`).
What is counted is said in `doctor/table.py`. Programs that the doctor misjudges are printed.
"""

from __future__ import annotations

import argparse
import re
import sys
import time

from doctor.baselines.run import judge as others
from doctor.judge import judge
from doctor.pool import answers
from doctor.program import Program, changed
from doctor.table import count, is_right, table

from doctor import zoo

Said = dict[str, tuple[str, ...]]  # causes by the name of a doctor


def main() -> int:
    """Print a line for each program that was misjudged, and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("held-out", "rest", "all"), default="held-out")
    parser.add_argument("--only", default="", help="a regular expression for names")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0, help="added to the seed of every program")
    parser.add_argument("--alone", action="store_true", help="without the other detectors")
    parser.add_argument("--verbose", action="store_true", help="a line for every program")
    asked = parser.parse_args()
    programs = [
        changed(program, seed=program.seed + asked.seed)
        for program in zoo.PROGRAMS
        if is_in(asked.part, program) and re.search(asked.only, program.name)
    ]
    begun = time.perf_counter()
    said: dict[str, Said] = {}
    for program, words in answers(_own if asked.alone else _all, programs, asked.processes):
        said[program.name] = words
        right = is_right(program, words["Thalweg"])
        if asked.verbose or not right:
            mark = " " if right else "✗"
            print(f"{mark} {program.name:<52} {', '.join(words['Thalweg'])}", flush=True)
    ill = sum(program.fault is not None for program in programs)
    print(
        f"\n{asked.part}: {ill} faulty programs and {len(programs) - ill} healthy ones in "
        f"{time.perf_counter() - begun:.0f} s"
    )
    doctors = next(iter(said.values()), {})
    each = {name: {p: words[name] for p, words in said.items()} for name in doctors}
    print(table({name: count(programs, causes) for name, causes in each.items()}))
    return 0


def is_in(part: str, program: Program) -> bool:
    """Whether a program belongs to a part of the zoo."""
    return part == "all" or zoo.is_held_out(program) == (part == "held-out")


def _own(program: Program) -> Said:
    verdict = judge(program)
    return {"Thalweg": verdict.causes, "Thalweg, loop alone": verdict.by_loop_alone}


def _all(program: Program) -> Said:
    return _own(program) | {name: each.causes for name, each in others(program).items()}


if __name__ == "__main__":
    sys.exit(main())
