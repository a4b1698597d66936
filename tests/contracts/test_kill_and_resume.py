"""A training that was killed or interrupted is resumed to the same bits.

`benchmarks/kills.py` does the same at all moments, by the clock too, and to more methods.
"""

import os
import signal
import subprocess
import sys

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
