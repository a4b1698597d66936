"""Fail every act of a command on the disk, one after the other, and look at what is left.

    train, resume   of a linear model, a network and a race: what was there before, what is there
                    afterwards, or a run put aside, which `train --resume` ends at the same bits
    predict, report, certify            what was there before, or what is there afterwards
    lab             the same of its record

With exit code 2 one paragraph says why; with the code of an undisturbed command all of it is done,
but for pages and pictures that can be made later, of which a note tells. A full disk and a bad
sector leave no temporary file; in a place that was made read-only none can be removed, and a later
write does it.

`--fault` and `--case` choose some, `--some 3` takes every third moment of each.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import kills
from shim import KILL, Shim

FAULTS = ("ENOSPC", "EIO", "EACCES")
SAYS = {
    "ENOSPC": "No space left on device",
    "EIO": "Input/output error",
    "EACCES": "Permission denied",
}
OURS = {"answer.txt", "said.txt", "acts.json"}  # of a child that was watched
LEFT = re.compile(r"\.new-|\.old$|\.tmp\.")
DERIVED = (".html", ".svg")  # of a lab, made from its record
NOT_SAME = {"plan", "findings", "directory"}
NETWORK = ("train", "@iris", "--recipe", "recipe.toml", "--validation", "0.2", "--out", "run")
RECIPE = 'layers = "mlp:4"\nepochs = 2\nbatch_size = 60\n'


class Case(NamedTuple):
    """A command, and what is done in its place before."""

    name: str
    typed: Sequence[str]
    before: Sequence[Sequence[str]] = ()
    cut: int = 0  # the act before which what is done before is killed

    @property
    def trains(self) -> bool:
        """Whether what is left may be a run to go on with."""
        return self.typed[0] == "train"

    @property
    def is_network(self) -> bool:
        """Whether torch is run, whose threads would not outlive a fork."""
        return "--recipe" in (*self.typed, *(self.before[0] if self.before else ()))


LINEAR = ("train", "@iris", "-m", "newton-cg", "--tol", "1e-9", "--out", "run")
RACE = ("train", "@iris", "-m", "newton", "-m", "gd", "--max-iter", "6", "--out", "run")
RUN = ("train", "@iris", "-m", "newton", "--out", "run")
RESUME = ("train", "--resume", "run")
CASES = (
    Case("train", LINEAR),
    Case("train, a race", RACE),
    Case("train, a network", NETWORK),
    Case("resume", RESUME, [[*LINEAR, "--max-iter", "3"]]),
    Case("resume, a race", (*RESUME, "--max-iter", "4"), [RACE]),
    Case("resume, a network", RESUME, [NETWORK], cut=60),
    Case("predict", ("predict", "run", "@iris", "--out", "out.csv"), [RUN]),
    Case("predict again", ("predict", "run", "@iris", "--out", "out.csv"),
         [RUN, ("predict", "run", "@iris", "--json", "--out", "out.csv")]),
    Case("report", ("report", "run"), [RUN]),
    Case("report, elsewhere", ("report", "run", "--out", "page.html"), [[*RUN, "--no-report"]]),
    Case("certify", ("certify", "run"), [RUN]),
    Case("lab", ("lab", "convexity"), []),
    Case("lab again", ("lab", "convexity", "--seed", "1"), [("lab", "convexity")]),
)  # fmt: skip


class Tried(NamedTuple):
    """What an act that failed came to."""

    act: str
    code: int
    wrong: list[str]


def prepared(case: Case, place: Path) -> Path:
    """The place before the command."""
    place.mkdir()
    (place / "recipe.toml").write_text(RECIPE)
    for k, typed in enumerate(case.before):
        last = k == len(case.before) - 1
        kills.forked(typed, place, Shim(KILL, case.cut if last else 0))
    return place


def every_fault(case: Case, faults: Sequence[str], step: int) -> Iterator[Tried]:
    """Fail each act of the command in turn, or every `step`-th."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        before = prepared(case, root / "before")
        after = shutil.copytree(before, root / "after")
        usual = kills.forked(case.typed, after)
        last, _, missed = acts(after)
        if missed or usual == 1:
            yield Tried("none", usual, [f"past the shim: {missed}", said(after)])
        for fault in faults:
            for moment in range(1, last + 1, step):
                place = shutil.copytree(before, root / "place")
                code = kills.forked(case.typed, place, Shim(fault, moment))
                failed = acts(place)[1]
                if failed:
                    wrong = judged(case, fault, code, usual, place, before, after)
                    yield Tried(f"{fault} at {moment}, {failed[0]}", code, wrong)
                shutil.rmtree(place)


def judged(
    case: Case, fault: str, code: int, usual: int, place: Path, before: Path, after: Path
) -> list[str]:
    """What is wrong with what is left."""
    wrong, text = [], said(place)
    errors = [line for line in text.splitlines() if line.startswith("Error: ")]
    if code == 2 and (len(errors) != 1 or SAYS[fault] not in errors[0]):
        wrong.append(f"no paragraph that says it: {text[-400:]}")
    if code not in (usual, 2) or "Traceback" in text or "bug" in text:
        wrong.append(f"exit code {code}: {text[-400:]}")
    if code == 2 and case.trains and (place / "run").exists() and "--resume run" not in text:
        wrong.append(f"not how to go on: {text[-400:]}")
    stray = left_in(place)
    apart = DERIVED if "makes its page" in text else ()
    is_new, is_old = not lacking(place, after, apart), not lacking(place, before)
    if code == usual and not is_new:
        wrong.append(f"exit code {code}, and not done: {lacking(place, after, apart)}")
    if case.trains and not is_new and (place / "run").exists():
        again = kills.forked((*RESUME, *limits_of(case)), place)
        if again != usual:
            wrong.append(f"resumed with exit code {again}: {said(place)[-400:]}")
        elif found := lacking(place, after):
            wrong.append(f"resumed to other bits: {found}")
        stray = [each for each in left_in(place) if each.startswith("run/")] or stray
    elif not is_new and not is_old:
        wrong.append(f"neither as before nor as after: {lacking(place, after)}")
    if stray and fault != "EACCES":
        wrong.append(f"left behind: {stray}")
    return wrong


def limits_of(case: Case) -> Sequence[str]:
    """What was asked of a resume."""
    return case.typed[3:] if case.typed[1] == "--resume" else ()


def acts(place: Path) -> list:
    """How many acts there were, those that failed, and those that were not counted."""
    return json.loads((place / "acts.json").read_text())


def said(place: Path) -> str:
    """What stood on stderr."""
    return (place / "said.txt").read_text("utf-8")


def left_in(place: Path) -> list[str]:
    """Temporary files and folders."""
    return [str(path.relative_to(place)) for path in place.rglob("*") if LEFT.search(path.name)]


def lacking(place: Path, other: Path, apart: Sequence[str] = ()) -> list[str]:
    """What one does not have as the other has it; clocks, and files `apart` by ending, left out."""
    wrong = []
    for path in sorted({*listed(place), *listed(other)}):
        if path.suffix in apart:
            continue
        one, two = place / path, other / path
        if not (one.is_file() and two.is_file()):
            wrong.append(f"{path} is {'there' if one.is_file() else 'not there'}")
        elif path.suffix == ".html" and "run" not in path.parts[:1]:
            wrong += [str(path)] * (page_of(one) != page_of(two))
        elif path.suffix in (".csv", ".svg") and "run" not in path.parts[:1]:
            wrong += [str(path)] * (one.read_bytes() != two.read_bytes())
        elif path.parent.name == "labs" and path.suffix == ".json":
            pair = (kills.timeless(json.loads(each.read_text())) for each in (one, two))
            wrong += [str(path)] * (next(pair) != next(pair))
    if not wrong and (place / "run").is_dir() and (other / "run").is_dir():
        wrong = kills.differences(place / "run", other / "run", but=NOT_SAME)
    return wrong


def listed(place: Path) -> list[Path]:
    """The files of a place that are compared."""
    files = (path.relative_to(place) for path in place.rglob("*") if path.is_file())
    return [
        path
        for path in files
        if path.stem not in kills.LEFT and not LEFT.search(path.name) and path.name not in OURS
        and path != Path("run/report.html")
    ]  # fmt: skip


def page_of(file: Path) -> str:
    """A page without its times."""
    return kills.TIME.sub("some time", file.read_text("utf-8"))


def main() -> None:
    """Print how many acts of each command failed, and what was wrong afterwards."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", choices=[case.name for case in CASES], action="append")
    parser.add_argument("--fault", choices=FAULTS, action="append")
    parser.add_argument("--some", type=int, default=1, help="every so many-th act")
    asked = parser.parse_args()
    import thalweg.cli.program
    import thalweg.jobs.race
    import thalweg.reports.report

    wrong = 0
    for case in CASES:
        if asked.case is not None and case.name not in asked.case:
            continue
        if case.is_network:
            import thalweg.jobs.network  # noqa: F401
        tried = list(every_fault(case, asked.fault or FAULTS, asked.some))
        bad = [each for each in tried if each.wrong]
        refused = sum(each.code == 2 for each in tried)
        print(
            f"{case.name:18}{len(tried):5} acts failed, {refused:4} refused by a sentence,"
            f" {len(bad)} wrong", flush=True,
        )  # fmt: skip
        for each in bad:
            print(f"  {each.act}: exit code {each.code}; {'; '.join(each.wrong)}", flush=True)
        wrong += len(bad)
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
