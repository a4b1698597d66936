"""How well the doctor does on programs whose ills are known, and on healthy ones.

    python benchmarks/zoo.py                      the held-out part: what is published
    python benchmarks/zoo.py --part rest          the part that thresholds were set on
    python benchmarks/zoo.py --seed 1             the same programs from other first weights
    python benchmarks/zoo.py --only "^digits" --part all --verbose

For faulty programs: how many have a finding that asks to act, of how many the first names the cause
or one that is no wrong answer, and of how many the very cause that was put in. For healthy
programs: how many have a finding that asks to act. Shares come with Wilson's interval of 95 %.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import sys
import time
from collections.abc import Iterator, Sequence

import torch
from doctor.judge import Verdict, judge
from doctor.program import Program, changed
from doctor.wilson import wilson

from doctor import zoo

Named = dict[str, tuple[str, ...]]  # causes by name of the program


def main() -> int:
    """Print a line for each program that was misjudged, and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("held-out", "rest", "all"), default="held-out")
    parser.add_argument("--only", default="", help="a regular expression for names")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0, help="added to the seed of every program")
    parser.add_argument("--verbose", action="store_true", help="a line for every program")
    asked = parser.parse_args()
    programs = [p for p in zoo.PROGRAMS if is_in(asked.part, p) and re.search(asked.only, p.name)]
    programs = [changed(p, seed=p.seed + asked.seed) for p in programs]
    begun = time.perf_counter()
    verdicts: dict[str, Verdict] = {}
    for program, verdict in zip(programs, _verdicts(programs, asked.processes), strict=True):
        verdicts[program.name] = verdict
        is_right = right_first(program, verdict.causes)
        if asked.verbose or not is_right:
            mark = " " if is_right else "✗"
            print(f"{mark} {program.name:<52} {', '.join(verdict.causes)}", flush=True)
    print(f"\n{asked.part}: {time.perf_counter() - begun:.0f} s")
    print_table(
        programs,
        {
            "Thalweg": {name: v.causes for name, v in verdicts.items()},
            "Thalweg, loop alone": {name: v.by_loop_alone for name, v in verdicts.items()},
        },
    )
    return 0


def is_in(part: str, program: Program) -> bool:
    """Whether a program belongs to a part of the zoo."""
    return part == "all" or zoo.is_held_out(program) == (part == "held-out")


def right_first(program: Program, causes: Sequence[str]) -> bool:
    """Whether the first cause is the program's, or no wrong answer; none, for a healthy one."""
    if program.fault is None:
        return not causes
    return bool(causes) and causes[0] in (program.fault.cause, *program.fault.alternatives)


def print_table(programs: Sequence[Program], doctors: dict[str, Named]) -> None:
    """One row a doctor."""
    ill = [program for program in programs if not program.is_healthy]
    well = [program for program in programs if program.is_healthy]
    print(f"{len(ill)} faulty programs, {len(well)} healthy ones")
    print(
        f"{'':<22} {'detected':>22} {'right cause first':>22} {'the very cause':>22} "
        f"{'healthy, act':>22}"
    )
    for doctor, named in doctors.items():
        detected = sum(bool(named[p.name]) for p in ill)
        first = sum(right_first(p, named[p.name]) for p in ill)
        very = sum(named[p.name][:1] == (p.fault.cause,) for p in ill if p.fault)
        alarms = sum(bool(named[p.name]) for p in well)
        shares = [_share(k, len(ill)) for k in (detected, first, very)]
        shares.append(_share(alarms, len(well)))
        print(f"{doctor:<22} {' '.join(f'{share:>22}' for share in shares)}")


def _share(k: int, n: int) -> str:
    low, high = wilson(k, n)
    return f"{k}/{n} {k / n if n else 0:.0%} [{low:.0%}, {high:.0%}]"


def _verdicts(programs: list[Program], processes: int) -> Iterator[Verdict]:
    if processes == 1:
        torch.set_num_threads(1)
        yield from map(judge, programs)
        return
    with multiprocessing.get_context("spawn").Pool(processes, torch.set_num_threads, (1,)) as pool:
        yield from pool.imap(judge, programs)


if __name__ == "__main__":
    sys.exit(main())
