import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from command import schema_of, sentence, thalweg
from thalweg.cli import main
from thalweg.cli.program import VERBS, Program
from thalweg.core.errors import InputError
from thalweg.core.outcome import Outcome

MODULE = [sys.executable, "-m", "thalweg"]


def test_help_names_the_verbs():
    for option in ("--help", "-h"):
        done = thalweg(option)
        assert done.exit_code == 0
        for verb in VERBS:
            assert f"\n  {verb.name} " in done.output
    assert "_THALWEG_COMPLETE=zsh_source" in done.output
    assert "--standardize" in thalweg("diagnose", "-h").output


def test_without_a_word_there_is_help():
    assert thalweg().stdout == thalweg("--help").stdout
    assert thalweg().exit_code == 0


def test_without_a_stdout():
    done = subprocess.run(f"{sys.executable} -m thalweg methods >&-", shell=True, check=False)
    assert done.returncode == 0


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
        heavy = {"numpy", "numba", "scipy", "sklearn", "torch", "polars", "rich"}
        assert heavy.isdisjoint(loaded)
        best = min(best, seconds)
    assert best < 0.3


def test_options_stand_before_or_after_the_verb():
    after = thalweg("lab", "--json")
    for arguments in (["--json", "lab"], ["-q", "--json", "lab"]):
        assert thalweg(*arguments).stdout == after.stdout
    before = thalweg("--tol", "0", "--loss=logistic", "-m", "plan", "plan", "@iris")
    assert "tol must be above 0" in before.stderr or "got 'plan'" in before.stderr
    assert thalweg("-h", "plan").stdout == thalweg("plan", "-h").stdout
    assert thalweg("--version").stdout.startswith("main, version ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["diagnos"], "No such verb 'diagnos': did you mean 'diagnose'?"),
        (["--json", "plam", "x"], "No such verb 'plam': did you mean 'plan'?"),
        (["plan", "@iris", "--standardise"], "--standardise: did you mean --standardize?"),
        (["--jso", "plan", "@iris"], "No such option --jso: did you mean --json?"),
        (["--nonsense"], "No such option --nonsense"),
        (["--json", "--tol", "3"], "Missing verb, one of plan, train, predict, certify"),
        (["plan"], "Missing argument 'DATA'. Help: main plan --help"),
        (["plan", "@iris", "@wine"], "Got unexpected extra argument (@wine)."),
        (["diagnose", "@moon"], "source '@moon' is no built-in data"),
    ],
)  # fmt: skip
def test_bad_usage_is_a_sentence_and_exit_code_2(arguments, message):
    assert message in sentence(*arguments)


def test_with_json_an_error_leaves_stdout_empty():
    assert "is no built-in data" in sentence("plan", "@moon", "--json")


@click.group(cls=Program)
def odd():
    """Verbs that end badly."""


@odd.command()
@click.argument("what")
def end(what):
    """End so."""
    problems = {
        "bug": ZeroDivisionError("by 0"),
        "input": InputError("x must be 1, got 2"),
        "memory": MemoryError(),
        "interrupt": KeyboardInterrupt(),
    }
    if what in problems:
        raise problems[what]
    return int(what)


@pytest.mark.parametrize(
    ("what", "code", "start"),
    [
        ("bug", 1, "Error: this is a bug in thalweg (ZeroDivisionError: by 0)"),
        ("input", 2, "Error: x must be 1, got 2\n"),
        ("memory", 2, "Error: out of memory"),
        ("interrupt", 130, "\nError: interrupted: nothing was saved\n"),
        ("0", 0, ""),
        ("3", 3, ""),
    ],
)
def test_how_a_verb_ends(what, code, start, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = CliRunner().invoke(odd, ["end", what])
    assert done.exit_code == code
    assert done.stderr.startswith(start)
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) <= 1


def test_a_reader_who_has_gone():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*MODULE, "methods"], stdout=write, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write)
    assert done.returncode == 141
    assert done.stderr == ""


def test_a_terminal_without_greek_letters():
    done = subprocess.run(
        [*MODULE, "methods", "sag"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode("latin-1")
    assert "(l2/2)||w||² + l1||w||1" in text  # what it has stays
    assert "16·max(L_max/(nmu), ½) log(1/eps) passes" in text
    assert "?" not in text


def test_without_standing_alone_errors_are_raised():
    with pytest.raises(InputError):
        odd.main(["end", "input"], standalone_mode=False)
    assert main.main(["lab", "-q"], standalone_mode=False) == 0


COMMAND = re.compile(r"^(?:\$ |    )thalweg (?P<words>.*)$", re.M)
PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"


@pytest.mark.parametrize("words", COMMAND.findall(PAGE.read_text("utf-8").partition("\n## ")[2]))
def test_every_command_of_the_documentation_can_be_given(words, monkeypatch, tmp_path):
    """It is read as it would be, with all its options, and not run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "settings.toml").write_text('[train]\ntime-limit = "30s"')
    verb, *arguments = shlex.split(words.partition("|")[0])
    with main.make_context("thalweg", [verb, *arguments], resilient_parsing=True) as parent:
        command = main.commands[verb]
        command.make_context(verb, arguments, parent=parent)


@pytest.mark.parametrize("verb", ["train", "diagnose"])
def test_schemas_know_every_outcome(verb):
    names = [outcome.name for outcome in Outcome]
    assert f'"enum": {json.dumps(names)}' in json.dumps(schema_of(verb))
