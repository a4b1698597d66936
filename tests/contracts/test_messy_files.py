"""From a messy file to a report in two commands, the second as the message of the first printed it.

The message is read as a person reads it: its last line is the command, and a shell runs it.
"""

import json
import os
import shutil
import subprocess
import sys

import pytest

import thalweg as tw
from messy import FLAWS, messy
from thalweg.tables.problem import Unsettled

NAMED = {  # what the issue names, a file each, and the seeds that drew them
    "European decimals": (11, "decimals", "grouped"),
    "dates": (12, "dates", "marks"),
    "ids": (13, "ids", "dates", "categories"),
    "missing marks": (14, "marks", "ids"),
    "all of it": (15, *FLAWS),
}
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash is here")


def typed(command, folder):
    """What a shell says of a line, `thalweg` being the one that is tried."""
    shell = f'thalweg() {{ "{sys.executable}" -m thalweg "$@"; }}\n{command}\n'
    return subprocess.run(
        ["bash", "-c", shell], cwd=folder, capture_output=True, text=True, env=os.environ
    )


def settled(first, folder):
    """The second command, if the first did not do; and what came of the last one."""
    done = typed(first, folder)
    if done.returncode != 2:
        return done
    *_, before, last = done.stderr.splitlines()
    assert before.startswith("This settles it"), done.stderr
    assert last.startswith("thalweg train "), done.stderr
    assert done.stdout == ""
    return typed(last, folder)


@needs_bash
@pytest.mark.parametrize("name", NAMED)
def test_five_files_in_two_commands(name, tmp_path):
    seed, *flaws = NAMED[name]
    file, target, y = messy(seed, tmp_path, *flaws)
    done = settled(f"thalweg train '{file.name}' --target {target} --out run", tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "report.html").exists()
    saved = tw.load(tmp_path / "run")
    table = saved.predict(file)
    assert len(table.values) == len(y)
    assert table.scores["accuracy"] > 1.3 / len(set(y))  # what is in the file was read
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert all(word in page for word in saved.encoding.target.classes)


def remedy_of(file, target):
    """What the error advises; nothing where there is none."""
    try:
        tw.read(file, target)
    except Unsettled as problem:
        return problem.remedy or {"drop": str(problem)}
    return {}


@pytest.mark.parametrize("seed", range(2000, 2060))
def test_what_is_advised_does(seed, tmp_path):
    """The same of many files, without a shell: `read` with all that its error advises."""
    file, target, y = messy(seed, tmp_path)
    advised = remedy_of(file, target)
    assert "drop" not in advised  # nothing of these files has to be given up
    table = tw.read(file, target, **advised)
    assert table.rows == len(y)
    names = {column.name for column in table.encoding.columns}
    ids = {"x0", "Kunde", "customer_id", "order", "comment"}
    assert not names & {"Kunde", "customer_id", "comment"}
    left = set(table.encoding.left_out)
    assert left <= ids | {f"x{k}" for k in range(20)}, left


@needs_bash
def test_the_message_is_for_people_and_the_command_for_the_shell(tmp_path):
    (tmp_path / "it's.csv").write_text(
        "a b,y\n" + "".join(f'"{1 + k % 9},{100 + k}",{"NY"[k % 2]}\n' for k in range(60))
    )
    done = typed('thalweg train "it\'s.csv" --target y --no-report --out r -q', tmp_path)
    assert done.returncode == 2
    error, _, command = done.stderr.splitlines()
    assert error.startswith("Error: column 'a b' holds '1,100', which may be 1.1 (--decimal ,)")
    assert command.endswith("--target y --no-report --out r -q --thousands ,")
    assert typed(command, tmp_path).returncode == 0
    assert json.loads((tmp_path / "r" / "job.json").read_text())["job"]["reading"] == {
        "thousands": ","
    }
