import json
import os
import subprocess
import sys

from click.testing import CliRunner

from thalweg.cli import main


def test_help_names_the_verbs():
    for option in ("--help", "-h"):
        done = CliRunner().invoke(main, [option])
        assert done.exit_code == 0
        assert "diagnose" in done.output
    assert "--standardize" in CliRunner().invoke(main, ["diagnose", "-h"]).output


def test_help_is_quick_because_it_imports_nothing_heavy():
    code = (
        "import json, sys, time; begun = time.process_time(); from thalweg.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(json.dumps([time.process_time() - begun, sorted(sys.modules)]))"
    )
    best = 1.0
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        seconds, loaded = json.loads(done.stdout.splitlines()[-1])
        assert {"numpy", "numba", "scipy", "sklearn", "torch", "rich"}.isdisjoint(loaded)
        best = min(best, seconds)
    assert best < 0.3


def test_an_unknown_verb():
    done = CliRunner().invoke(main, ["diagnos"])
    assert done.exit_code == 2
    assert "diagnos" in done.stderr


def test_bad_input_is_a_sentence_and_exit_code_2():
    done = CliRunner().invoke(main, ["diagnose", "@moon"])
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.startswith("Error: source '@moon' is no built-in data")
    assert "Traceback" not in done.stderr


def test_a_terminal_without_greek_letters():
    done = subprocess.run(
        [sys.executable, "-m", "thalweg.cli", "diagnose", "@wine", "--loss", "multinomial"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"unscaled inputs" in done.stdout
    assert b"178 \xd7 13" in done.stdout  # what it has stays
    assert b"that alone ? is" in done.stdout
