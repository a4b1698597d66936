"""Thalweg's linear models in the place of scikit-learn's: time and coefficients, side by side.

`LogisticRegression`, `Ridge`, `Lasso`, `ElasticNet` and `LinearSVC` of both, with the same alpha,
C, l1_ratio and fit_intercept and all else at its default, on data as people have it: years,
timestamps, prices in cents, columns of 1e-9, ids, constant and repeated columns, categories, more
columns than rows, hundreds of thousands of rows, several targets and classes, strong and absent
penalties. A second row gives both the same `tol`, whatever each means by it.

    suboptimality   (F − F*)/F* of both, of one F, evaluated outside of both in extended precision
                    on centred data, above an optimum found there by Newton's method (everyday/)
    error           ‖(w − w*)·σ‖∞ / ‖w*·σ‖∞; with a z in front, of scores, where F does not tell
                    w* from other coefficients
    warned          ConvergenceWarnings of one fit

    SLOW      scikit-learn takes 20 ms or more and Thalweg over 1.5 times that; or it takes less,
              and Thalweg over 20 ms
    INEXACT   the error is above 1e-6 and above 10 times scikit-learn's, and the suboptimality is
              above 1e-8 and above scikit-learn's
    UNTRUE    Thalweg does not warn, which promises a gap of at most tol = 1e-6 times F of the best
              constant prediction, and F is farther than that above F*
    FAILED    Thalweg raises and scikit-learn does not

Time is the shortest of five fits, or of as many as two seconds allow, both sides in turn in one
process, each on as many threads as it takes by default, after a fit of each that compiles.

Beside the fixed cases there is a generator: `--seed S --cases N`. Seeds 0 to 999 are for building,
1000 and above for judging: what is published comes from a seed that nobody looked at before.

    python benchmarks/drop_in.py                             all fixed cases
    python benchmarks/drop_in.py --seed 0 --cases 40         forty drawn ones
    python benchmarks/drop_in.py --only 'ridge/*x*'          those whose name matches
    python benchmarks/drop_in.py --quick                     a few small ones
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import time
from pathlib import Path

from everyday import drawn, fixed
from everyday.case import Case
from everyday.pair import Row, compare
from everyday.table import HEADS, as_json, line, summary


def main() -> None:
    """Print the table and its summary."""
    args = arguments()
    cases, rows = chosen(args), list[Row]()
    print(HEADS)
    start = time.perf_counter()
    for case in cases:
        rows.append(compare(case, args.tol, args.limit))
        print(line(rows[-1]), flush=True)
        if args.json:  # after every case, so that a run that is stopped leaves what it had
            args.json.write_text(json.dumps(as_json(rows, args.tol), indent=1) + "\n")
    print(f"\n{summary(rows)}\n{time.perf_counter() - start:.0f} s in all")


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="of drawn cases; from 1000 on to judge")
    parser.add_argument("--cases", type=int, default=0, help="draw so many, leave the fixed ones")
    parser.add_argument("--only", default="*", help="names that match this, * and ? allowed")
    parser.add_argument("--quick", action="store_true", help="small cases alone")
    parser.add_argument("--tol", type=float, default=1e-8, help="of the second row, for both")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of one fit")
    parser.add_argument("--json", type=Path, help="write everything to this file")
    return parser.parse_args()


def chosen(args: argparse.Namespace) -> list[Case]:
    """The cases to run; a pattern without * or ? may stand anywhere in a name."""
    pool = drawn.draw(args.seed, args.cases) if args.cases else fixed.cases()
    pattern = args.only if set("*?[") & set(args.only) else f"*{args.only}*"
    found = [case for case in pool if fnmatch.fnmatch(case.name, pattern)]
    found = [case for case in found if case.is_quick or not args.quick]
    if not found:
        raise SystemExit(f"--only must match the name of a case, got {args.only!r}")
    return found


if __name__ == "__main__":
    main()
