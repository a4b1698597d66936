"""Folders of runs: what a verb makes of one in which one file is not as it was written.

    exits with 0, 2, 3 or 4, and where it is 2, says one paragraph
    what only reads leaves no file behind
    predictions are those of the whole folder wherever the file does not decide them
    a folder that cannot be loaded is listed as damaged, and no other

A case is a template, a verb, the name of the file and its new content; a name with - before it is a
file that has been removed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from thalweg.cli.program import main
from thalweg.core.errors import ThalwegError
from thalweg.jobs.race import train_race
from thalweg.jobs.train import train
from thalweg.runs.folder import RACE
from thalweg.runs.job import Job
from thalweg.runs.listing import DAMAGED, listing
from thalweg.runs.saved import load

from .damage import edited
from .readers import File

VERBS = {"predict": 4.0, "runs": 4.0, "report": 1.0, "diagnose": 2.0, "certify": 1.0, "resume": 0.5}
KEEP = ("predict", "runs", "diagnose")  # verbs that write nothing
DECIDES = ("encoding", "model", "recipe", "job", "result", "race")  # what predictions rest on
LONGEST = 2000
GONE = "-"
QUIET = {"progress": False, "report": False}


@cache
def home() -> Path:
    """A folder of this process, with data and one run of each kind."""
    place = Path(tempfile.mkdtemp(prefix="thalweg-fuzz-"))
    rng = np.random.default_rng(0)
    rows = [
        f"{rng.normal():.3f},{rng.integers(9)},{'uvw'[k % 3]},{'nmo'[k * k % 3]}" for k in range(36)
    ]
    data = str(place / "data.csv")
    Path(data).write_text("\n".join(["a,b,kind,y", *rows]) + "\n")
    runs = place / "whole"
    train(Job(data, "y", standardize=True, validation=0.25), runs / "classes", **QUIET)
    train(Job(data, "a", l1=0.01, folds=2), runs / "numbers", **QUIET)
    train(Job(data, "a", method="gd", max_iter=3), runs / "stopped", **QUIET)
    train_race(Job(data, "a"), ["newton", "gd[step=0.01]"], runs / "race", **QUIET)
    shutil.copytree(runs / "classes", runs / "old")  # of a version that kept no hash
    result = runs / "old" / "result.json"
    result.write_text(json.dumps({**json.loads(result.read_text()), "model": None}))
    shutil.copytree(runs / "stopped", runs / "killed")
    (runs / "killed" / "result.json").unlink()
    with contextlib.suppress(ModuleNotFoundError):
        net = {"layers": "mlp:3", "epochs": 1}
        train(Job(data, "y", recipe=net, method="adam"), runs / "network", **QUIET)
        shutil.copytree(runs / "network", runs / "old-network")
        result = runs / "old-network" / "result.json"
        result.write_text(json.dumps({**json.loads(result.read_text()), "model": None}))
    return place


@cache
def templates() -> dict[str, dict[str, bytes]]:
    """The files of each run."""
    return {
        folder.name: {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        for folder in sorted((home() / "whole").iterdir())
    }


def draw(rng: np.random.Generator) -> tuple[str, File]:
    """A run and a verb, and one file of it edited, cut, exchanged or removed."""
    name = str(rng.choice(list(templates())))
    shares = np.array(list(VERBS.values()))
    verb = str(rng.choice(list(VERBS), p=shares / shares.sum()))
    files = templates()[name]
    file = str(rng.choice(list(files)))
    way = rng.random()
    if way < 0.03:
        return f"{name}.{verb}", File(GONE + file, b"")
    if way < 0.08:
        others = [each for each in templates().values() if file in each]
        content = others[int(rng.integers(len(others)))][file]
    elif way < 0.1:
        content = files[str(rng.choice(list(files)))]
    else:
        content = edited(file, files[file], rng)
    return f"{name}.{verb}", File(file, content)


@contextlib.contextmanager
def laid_out(name: str, file: File, place: Path, keeps: bool):
    """The folder of the run with that file changed; where a verb `keeps` it, it stays for others.

    To write and to remove all files of a run takes longer than most verbs do.
    """
    folder = place / name / name
    if not folder.exists():
        for path, content in templates()[name].items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
    changed = file.name.removeprefix(GONE)
    if file.name != changed:
        (folder / changed).unlink()
    else:
        (folder / changed).write_bytes(file.content)
    try:
        yield folder
        if keeps and changed in templates()[name]:
            (folder / changed).write_bytes(templates()[name][changed])
        else:
            shutil.rmtree(folder)
    except BaseException:
        shutil.rmtree(folder)
        raise


def files_in(folder: Path) -> set[str]:
    """Names of the files of a run."""
    return {
        os.path.join(root, file)[len(str(folder)) + 1 :]
        for root, _, files in os.walk(folder)
        for file in files
    }


def arguments(verb: str, folder: Path) -> list[str]:
    """What is typed."""
    data = str(home() / "data.csv")
    return {
        "predict": ["predict", str(folder), data],
        "resume": ["train", "--resume", str(folder), "--max-iter", "2", "--time-limit", "1s", "-q"],
        "runs": ["runs", str(folder.parent)],
    }.get(verb, [verb, str(folder)])


@cache
def whole(name: str) -> str:
    """What `predict` says of the run as it was written."""
    folder = home() / "whole" / name
    return CliRunner().invoke(main, arguments("predict", folder)).stdout


def judged(format_: str, file: File, place: Path) -> tuple[str, str]:
    """Do it; what came of it, and how the rule was broken."""
    name, verb = format_.split(".")
    with laid_out(name, file, place, verb in KEEP) as folder:
        done = CliRunner().invoke(main, arguments(verb, folder), env={"THALWEG_DEBUG": "1"})
        if verb in KEEP and (stray := files_in(folder) - {*templates()[name], file.name}):
            return "failed", f"left behind: {sorted(stray)}"
        if done.exit_code not in (0, 2, 3, 4):
            return "failed", f"exit {done.exit_code}: {done.output[-1500:]} {done.exception!r}"
        if done.exit_code == 2:
            return "refused", _no_paragraph(done.stderr)
        if verb == "runs":
            is_race = file.name != GONE + RACE  # no more, but a folder of runs
            return "read", _wrongly_listed(folder) if is_race else ""
        decides = Path(file.name.removeprefix(GONE)).name.partition(".")[0] in DECIDES
        if verb == "predict" and not decides and name != "killed":
            same = done.stdout == whole(name)
            return "equal", "" if same else "other predictions"
        return "read", ""


def _no_paragraph(said: str) -> str:
    last = (said.splitlines() or [""])[-1]
    is_one = last.startswith("Error: ") and len(last) <= LONGEST and last.isprintable()
    return "" if is_one and "bug" not in last else f"no paragraph: {said[-600:]!r}"


def _wrongly_listed(folder: Path) -> str:
    try:
        load(folder)
        is_whole = True
    except (ThalwegError, OSError):
        is_whole = False
    found = [each.state for each in listing(folder.parent)]
    if is_whole == (DAMAGED in found) or not found:
        return f"listed as {found}, and load {'reads' if is_whole else 'refuses'} it"
    return ""
