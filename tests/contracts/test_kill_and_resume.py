"""A training that was killed or interrupted is resumed to the same bits, and a disk that fails at
any write leaves what was there before or what is there afterwards.

`benchmarks/kills.py` and `benchmarks/faults.py` do the same at all moments, and to more commands.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import faults
import kills
from click.testing import CliRunner

from thalweg.cli.program import main
from thalweg.methods.journey import Journey
from thalweg.runs.saved import load


def test_a_kill_before_any_write_is_resumed_to_the_same_bits():
    cases = ("auto, l1", "saga", "race")
    chosen = [word for case in cases for word in ("--case", case)]
    command = [sys.executable, kills.__file__, "--writes", "--kills", "3", *chosen]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("3 before writes: same bits") == len(cases)


def test_ctrl_c_ends_politely_and_is_resumed_to_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["@iris", "-m", "gd", "--max-iter", "60", "--no-report"]

    def ended(*typed):
        return CliRunner().invoke(main, ["train", *typed])

    assert ended(*options, "--out", "whole").exit_code == 3
    with monkeypatch.context() as patch:
        note = Journey.note

        def interrupted(journey):
            note(journey)
            if journey.iteration == 7 and journey.method.name == "gd":
                os.kill(os.getpid(), signal.SIGINT)

        patch.setattr(Journey, "note", interrupted)
        stopped = ended(*options, "--out", "stopped")
    assert stopped.exit_code == 3
    assert "thalweg train --resume stopped" in stopped.stderr
    assert load("stopped").run.iterations == 7
    assert ended("--resume", "stopped", "--no-report").exit_code == 3
    whole, again = tmp_path / "whole", tmp_path / "stopped"
    assert kills.differences(again, whole, but={"plan"}) == []


def test_a_disk_that_fails_leaves_what_was_before_or_what_is_afterwards():
    cases = ("train", "resume", "resume, a race", "predict again", "report", "certify")
    chosen = [word for case in cases for word in ("--case", case)]
    command = [sys.executable, faults.__file__, "--some", "17", *chosen]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("refused by a sentence, 0 wrong") == len(cases)
    assert re.search(r"^train +([2-9]\d) acts failed", done.stdout, re.MULTILINE), done.stdout


def test_no_act_on_the_disk_passes_the_shim(tmp_path):
    acts = """
import os, pathlib, shutil, sys
from shim import Shim
shim = Shim()
shim.arm()
pathlib.Path("a").write_text("x")        # open, write
os.rename("a", "b")                      # 1
os.mkdir("c")                            # 1
shutil.copy2("b", "c")                   # open, write
with open("b", "r+b") as file:           # open
    file.write(b"yy")                    # write
    os.fsync(file.fileno())              # 1, before the write
shutil.rmtree("c")                       # unlink, rmdir
shim.disarm()
print(shim.count, shim.missed)
"""
    place = str(Path(faults.__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", acts], cwd=tmp_path, env={**os.environ, "PYTHONPATH": place},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "11 []\n"
