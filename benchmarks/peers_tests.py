"""scikit-learn's own tests of its linear models, run with Thalweg's estimators in their place.

    python benchmarks/peers_tests.py                       all that name one of the classes
    python benchmarks/peers_tests.py --only "ridge|sag"    modules whose names match
    python benchmarks/peers_tests.py --processes 2

It prints how many pass, which are refused by design, with the reason of each (`peers/refusals.py`),
and which fail; it ends with 1 if a test fails that is not refused, or if a refusal is not needed.
Refusals for words and for the meaning of `tol` are tried: such a test is run again with Thalweg's
words or a tighter `tol`, and has to pass then. The tests are those of the installed scikit-learn,
and nothing is fetched unless it comes without them.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import sklearn
from peers.exchange import NAMES
from peers.refusals import REFUSALS
from peers.their_tests import folder_with_tests, modules_that_name_one
from peers.verdict import Result, judge, read, told

import thalweg

HERE = Path(__file__).resolve().parent
LOG = HERE / "results" / "peers-tests.txt"
SHOWN = LOG.relative_to(HERE.parent)
INSTALLED = Path(sklearn.__file__).parents[1]
RAN = (0, 1, 5)  # exit codes of pytest: all passed, some failed, none was asked for


def main() -> int:
    """Run them twice, as they are and eased, and print the verdict."""
    asked = arguments()
    LOG.parent.mkdir(exist_ok=True)
    LOG.write_text("")
    with tempfile.TemporaryDirectory() as name:
        space = Path(name)
        folder = folder_with_tests(space, is_from_source=asked.source)
        modules = [
            module for module in modules_that_name_one(folder) if re.search(asked.only, module)
        ]
        print(
            f"scikit-learn {sklearn.__version__}: its tests of {', '.join(NAMES)}, "
            f"with Thalweg's in their place\nmodules: {len(modules)}; pytest writes to {SHOWN}\n",
            flush=True,
        )
        plain = run(modules, folder, space / "plain.jsonl", asked.processes)
        eased = run(modules, folder, space / "eased.jsonl", asked.processes, "--eased")
    files = [module.removeprefix("sklearn.").replace(".", "/") for module in modules]
    tried = [each for each in REFUSALS if any(t.startswith(f) for t in each.tests for f in files)]
    verdict = judge(plain, eased, tried if asked.only else REFUSALS)
    print("\n".join(told(verdict)))
    return 0 if verdict.holds else 1


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="a regular expression for names of modules")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument(
        "--source", action="store_true", help="tests of the source distribution, by pip"
    )
    return parser.parse_args()


def run(
    modules: list[str], folder: Path, results: Path, processes: int, *options: str
) -> list[Result]:
    """Run the tests of `modules` in a process of its own, and read what became of them."""
    # The same Thalweg as here, and before it the tests' own package if that is not the installed.
    paths = [str(folder)] if folder != INSTALLED else []
    paths += [str(HERE), str(Path(thalweg.__file__).parents[1])]
    command = [
        sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(folder),
        "--noconftest", "-p", "peers.exchange", "-p", "sklearn.conftest", "-p", "no:cacheprovider",
        "--results", str(results), *options,
        *(["-n", str(processes)] if processes > 1 else []),
        "--pyargs", *modules,
    ]  # fmt: skip
    with LOG.open("a") as log:
        ended = subprocess.run(
            command,
            cwd=results.parent,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if ended.returncode not in RAN:
        raise SystemExit(f"pytest ended with {ended.returncode}, before all tests ran: see {SHOWN}")
    return read(results)


if __name__ == "__main__":
    sys.exit(main())
