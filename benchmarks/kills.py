"""Kill trainings, resume them until they are done, and compare every bit with one left in peace.

    SIGKILL   at moments drawn over the whole time that `thalweg train` takes, start and end
              included; what is left is resumed, and killed again, some times over
    SIGINT    the same: it must end by itself, and with 3 say how to go on
    SIGTERM, twice, SIGSTOP, clock     (--way) as SIGKILL; a second SIGINT 0.1 s after the first;
              stopped for as long and continued; a clock of the day that steps two hours to and fro

    writes    (--writes) instead of by the clock, before every single act on the disk (`shim`); or
              with --kills 5 before five of them

All but clocks and dates must agree: model, weights, trace, run.json, result.json; but what a watch
over a network saw, whose looks are counted from a resume, and what it found. Method "auto"
decides by measured times, so its twin follows the plan that the killed run had made; with a method
given, plans are not compared. Here a method that falls behind is not changed, as a clock decides
that, and a checkpoint is taken after every iteration, not every five seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from shim import Shim
from ways import INTERRUPT, KILL, MOMENT, STEPS, WAYS, Way

PAUSE = 0.0  # seconds between checkpoints: every iteration has one
CLOCKS = {"seconds", "actual_seconds", "compiled", "date", "environment"}
STOPPED, QUIT = 3, 130
LEFT = {"checkpoint", "limits", "report"}
NOT_BITS = {"record.npz"}
TIME = re.compile(r"\d[\d.,e-]* ?(µs|ms|s|min|h)\b")  # as it is told in a sentence
RECIPE = """\
layers = "mlp:32x32"
epochs = 4
batch_size = 64
keep = 0.8
norm = "batch"
"""


class Case(NamedTuple):
    """What is trained."""

    name: str
    options: Sequence[str]
    is_network: bool = False

    @property
    def plans(self) -> bool:
        """Whether a measured time decides what is done."""
        return not self.is_network and "-m" not in self.options


CASES = (
    Case("auto", ["@digits", "--tol", "1e-9"]),
    Case("auto, l1", ["@diabetes", "--l1", "0.1", "--standardize", "--tol", "1e-10"]),
    Case("sag", ["@cancer", "--standardize", "--tol", "1e-12", "-m", "sag"]),
    Case("saga", ["@wine", "--standardize", "--tol", "1e-9", "-m", "saga[sampling=lipschitz]"]),
    Case("svrg", ["@wine", "--standardize", "--tol", "1e-10", "-m", "svrg"]),
    Case("lbfgs", ["@digits", "--tol", "1e-6", "-m", "lbfgs", "--validation", "0.2"]),
    Case("sdca", ["@cancer", "--standardize", "--tol", "1e-10", "-m", "sdca"]),
    Case("cd", ["@diabetes", "--standardize", "--l1", "0.01", "--tol", "1e-13", "-m", "cd"]),
    Case("fista", ["@cancer", "--standardize", "--l1", "0.001", "--tol", "1e-9", "-m", "fista"]),
    Case("ridge, folds", ["@diabetes", "-m", "lbfgs", "--tol", "1e-9", "--folds", "3"]),
    Case("multinomial", ["@iris", "-m", "newton-cg", "--tol", "1e-12"]),
    Case("race", ["@cancer", "--standardize", "-m", "lbfgs", "-m", "newton"]),
    Case("network", ["@digits", "--recipe", "recipe.toml", "--validation", "0.2"], True),
)


def command(case: Case, folder: Path) -> list[str]:
    """What is typed to go on with `folder`, or to begin it."""
    if (folder / "job.json").exists() or (folder / "race.json").exists():
        return ["train", "--resume", str(folder), "--no-report"]
    return ["train", *case.options, "--out", str(folder), "--no-report"]


def start(typed: Sequence[str], place: Path, *, steps: bool = False) -> subprocess.Popen:
    """The command in a process of its own."""
    inner = [sys.executable, __file__, "--inside", *typed]
    return subprocess.Popen(
        inner, cwd=place, env={**os.environ, **({STEPS: "1"} if steps else {})},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def forked(typed: Sequence[str], place: Path, shim: Shim | None = None) -> int:
    """The exit code of the command in a copy of this process, its acts on the disk by `shim`."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code: Any = 1
    try:
        os.chdir(place)
        for name, stream in (("answer.txt", 1), ("said.txt", 2)):
            with open(name, "wb") as file:
                os.dup2(file.fileno(), stream)
        inside(typed, shim or Shim())
    except SystemExit as end:
        code = end.code
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        os._exit(code)


def inside(typed: Sequence[str], shim: Shim | None = None) -> None:
    """What the process does; what became of its acts is told in a file."""
    import thalweg.jobs.linear
    import thalweg.planner.hedge
    from thalweg.cli.program import main

    thalweg.jobs.linear.PAUSE = PAUSE
    thalweg.planner.hedge.BY_THE_CLOCK = math.inf
    if "--recipe" in typed or _is_network(typed):
        import thalweg.jobs.network_training

        thalweg.jobs.network_training.PAUSE = PAUSE
    if STEPS in os.environ:
        real, drawn = time.time, random.Random(0)
        time.time = lambda: real() + drawn.choice((-7200.0, 0.0, 7200.0))
    if shim is None:
        main(list(typed), prog_name="thalweg")
    told = Path("acts.json").absolute()
    shim.arm()
    try:
        main(list(typed), prog_name="thalweg")
    finally:
        shim.disarm()
        told.write_text(json.dumps([shim.count, shim.failed, shim.missed]))


def _is_network(typed: Sequence[str]) -> bool:
    job = Path(typed[typed.index("--resume") + 1]) / "job.json" if "--resume" in typed else None
    return job is not None and job.exists() and json.loads(job.read_text())["job"]["recipe"]


def undisturbed(case: Case, folder: Path, place: Path) -> float:
    """Train without a kill; seconds that it took."""
    begun = time.perf_counter()
    code = forked(command(case, folder), place)
    if code not in (0, STOPPED):
        said = (place / "said.txt").read_text()
        raise SystemExit(f"{case.name} ended with {code}: {said}")
    if missed := json.loads((place / "acts.json").read_text())[2]:
        raise SystemExit(f"{case.name} acts past the shim: {missed}")
    return time.perf_counter() - begun


def disturbed(
    case: Case, folder: Path, place: Path, after: Iterator[float], way: Way
) -> tuple[int, list[str]]:
    """Train with signals after so many seconds, again and again; what was wrong in the end."""
    count, wrong = 0, []
    for seconds in after:
        process = start(command(case, folder), place, steps=way.steps)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            for k, each in enumerate(way.signals):
                time.sleep(MOMENT if k else 0.0)
                process.send_signal(each)
            count += 1
        _, said = process.communicate()
        if way.is_asked:
            wrong += impolite(process.returncode, said, folder)
        if is_done(folder):
            break
    for _ in range(3):
        if not is_done(folder):
            undisturbed(case, folder, place)
    return count, wrong


def impolite(code: int, said: str, folder: Path) -> list[str]:
    """What is wrong with how Ctrl-C was answered."""
    begun = (folder / "job.json").exists() or (folder / "race.json").exists()
    if code == -signal.SIGINT and not re.search(r'program\.py", line \d+, in main', said):
        return []  # the interpreter had not yet come to the program
    wrong = [] if code in (0, STOPPED, QUIT) else [f"exit code {code}"]
    if "Traceback" in said:
        wrong.append("a traceback")
    if code in (STOPPED, QUIT) and begun and not is_done(folder) and "--resume" not in said:
        wrong.append(f"not how to resume: {said[-300:]}")
    return wrong


def is_done(folder: Path) -> bool:
    """Whether there is nothing to resume."""
    if (folder / "race.json").exists():
        names = json.loads((folder / "race.json").read_text())["methods"]
        return all(is_done(folder / name) for name in names)
    result = folder / "result.json"
    return result.exists() and json.loads(result.read_text())["outcome"] != "INTERRUPTED"


def twin(folder: Path, place: Path, case: Case) -> Path:
    """The same training left in peace, by the same plan."""
    other = place / "twin"
    shutil.rmtree(other, ignore_errors=True)
    other.mkdir()
    for name in ("job.json", "encoding.json", "plan.json"):
        shutil.copy(folder / name, other)
    undisturbed(case, other, place)
    return other


def differences(one: Path, other: Path, *, but: Collection[str] = ()) -> list[str]:
    """What two folders of runs do not agree on, clocks and what stands under `but` apart."""
    names, others = kept_in(one), kept_in(other)
    if names != others:
        return [f"files: {sorted(map(str, set(names) ^ set(others)))}"]
    wrong = []
    for name in names:
        if name.name in NOT_BITS or name.stem in but:
            continue
        mine, its = ((place / name).read_bytes() for place in (one, other))
        if name.suffix == ".json":
            mine, its = (timeless(json.loads(text), but) for text in (mine, its))
            if name.name in ("job.json", "race.json"):
                mine["command"] = its["command"] = ""
        elif name.suffix == ".csv":
            mine, its = (without_seconds(text.decode()) for text in (mine, its))
        if mine != its:
            wrong.append(f"{name}: {first_difference(mine, its)}")
    return wrong


def kept_in(folder: Path) -> list[Path]:
    """The files of a run but its page, hidden ones, and what a kill at its end leaves to clear."""
    files = (path for path in folder.rglob("*") if path.is_file())
    kept = (path for path in files if path.stem not in LEFT and not path.name.startswith("."))
    return sorted(path.relative_to(folder) for path in kept)


def timeless(content: Any, but: Collection[str] = ()) -> Any:
    """JSON without clocks and dates, and without what stands under `but`."""
    if isinstance(content, str):
        return TIME.sub("some time", content)
    if isinstance(content, dict):
        kept = {key: value for key, value in content.items() if key not in {*CLOCKS, *but}}
        # A finding measures anew, by sums of the linear algebra library, whose last bits depend on
        # where in memory the arrays happen to lie.
        if isinstance(measured := kept.get("measured"), float):
            kept["measured"] = float(f"{measured:.10g}")
        return {key: timeless(value, but) for key, value in kept.items()}
    return [timeless(each, but) for each in content] if isinstance(content, list) else content


def without_seconds(text: str) -> list[list[str]]:
    """A trace without its clock."""
    rows = list(csv.reader(text.splitlines()))
    place = rows[0].index("seconds")
    return [row[:place] + row[place + 1 :] for row in rows]


def first_difference(one: Any, other: Any) -> str:
    """Where two values part."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        key = next(key for key in one if one[key] != other[key])
        return f"{key} {first_difference(one[key], other[key])}"
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return f"{len(one)} and {len(other)} rows"
        place = next(k for k, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1])
        return f"[{place}] {first_difference(one[place], other[place])}"
    return f"{one!r:.120} and {other!r:.120}"


def judged(case: Case, folder: Path, reference: Path, place: Path) -> list[str]:
    """What is wrong with a run that was disturbed."""
    if not is_done(folder):
        return ["not done after three resumes"]
    if hidden := [path.name for path in folder.rglob(".*")]:
        return [f"left behind: {hidden}"]
    if case.plans:
        return differences(folder, twin(folder, place, case))
    return differences(folder, reference, but={"findings"} if case.is_network else {"plan"})


def by_the_clock(case: Case, signals: int, way: Way, drawn: random.Random) -> list[str]:
    """So many disturbances at moments drawn by `drawn`."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "recipe.toml").write_text(RECIPE)
        reference = place / "reference"
        undisturbed(case, reference, place)
        begun = time.perf_counter()
        start(command(case, place / "timed"), place).communicate()
        seconds = time.perf_counter() - begun
        given, tries, wrong = 0, 0, []
        while given < signals:
            folder = place / f"run{tries}"
            tries += 1
            moments = (drawn.uniform(0.0, seconds) for _ in range(min(4, signals - given)))
            count, rude = disturbed(case, folder, place, moments, way)
            given += count
            wrong += rude + judged(case, folder, reference, place)
        print(
            f"{case.name:14}{way.name:9}{given:4} in {tries:3} runs of {seconds:5.1f} s",
            _told(wrong), flush=True,
        )  # fmt: skip
        return wrong


def warm_up(case: Case, place: Path) -> None:
    """Load what is forked later; torch is not run, as its threads would not outlive the fork."""
    if case.is_network:
        import thalweg.jobs.network  # noqa: F401

        return
    unseen = io.StringIO()
    with (
        contextlib.redirect_stdout(unseen), contextlib.redirect_stderr(unseen),
        contextlib.chdir(place), contextlib.suppress(SystemExit),
    ):  # fmt: skip
        inside(command(case, place / "warm"))


def by_writes(case: Case, kills: int | None) -> list[str]:
    """A kill before each write of a training, or before so many of them; then one resume."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "recipe.toml").write_text(RECIPE)
        reference = place / "reference"
        warm_up(case, place)
        undisturbed(case, reference, place)
        last, wrong = json.loads((place / "acts.json").read_text())[0], []
        kills = min(kills or last, last)
        for k in range(kills):
            moment, folder = 1 + k * (last - 1) // max(1, kills - 1), place / f"run{k}"
            code = forked(command(case, folder), place, Shim(moment=moment))
            if code != -signal.SIGKILL and not case.plans:  # another plan may write less
                wrong.append(f"no write {moment}")
            if not is_done(folder):
                undisturbed(case, folder, place)
            wrong += [f"write {moment}, {each}" for each in judged(case, folder, reference, place)]
            shutil.rmtree(folder)
        print(f"{case.name:14}{'SIGKILL':9}{kills:4} before writes: {_told(wrong)}", flush=True)
        return wrong


def _told(wrong: Sequence[str]) -> str:
    return "same bits" if not wrong else "; ".join(wrong)


def main() -> None:
    """Print what was done to each case, and whether it came out the same."""
    if sys.argv[1:2] == ["--inside"]:
        inside(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, help="50 of all, by the clock; or of each, by writes")
    parser.add_argument("--interrupts", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--writes", action="store_true", help="at every write, not by the clock")
    parser.add_argument("--way", choices=WAYS, help="this, --kills times, instead of both")
    parser.add_argument("--case", choices=[case.name for case in CASES], action="append")
    asked = parser.parse_args()
    cases = [case for case in CASES if asked.case is None or case.name in asked.case]
    drawn, wrong = random.Random(asked.seed), []
    import thalweg.cli.program  # what is forked has it
    import thalweg.jobs.race
    import thalweg.tables.read  # noqa: F401

    for k, case in enumerate(cases):
        if asked.writes:
            wrong += by_writes(case, asked.kills)
            continue
        both = ((asked.kills or 50, KILL), (asked.interrupts, INTERRUPT))
        for total, way in [(asked.kills or 50, WAYS[asked.way])] if asked.way else both:
            share = len(range(k, total, len(cases)))
            wrong += by_the_clock(case, share, way, drawn) if share else []
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
