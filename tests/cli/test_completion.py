import subprocess
import sys

import thalweg as tw
from command import CliRunner
from thalweg.cli import completion, main
from thalweg.nets.training.choice import known_names
from thalweg.tables.builtin import BUILTINS


def completed(typed, *before):
    """What bash is offered for the last word."""
    words = " ".join(["thalweg", *before, typed])
    done = CliRunner().invoke(
        main,
        [],
        prog_name="thalweg",
        env={
            "_THALWEG_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(before) + 1),
        },
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_names_are_those_of_the_library():
    assert sorted(completion.method_names()) == sorted(tw.METHODS)
    assert set(completion.OPTIMIZERS) == set(known_names())
    assert set(completion.DATA) == set(BUILTINS)


def test_completing_a_method_imports_none():
    code = (
        "import sys\nfrom thalweg.cli.completion import methods\n"
        "assert [each.value for each in methods(None, None, 'sag')] == ['sag', 'saga']\n"
        "assert not {'numpy', 'numba', 'thalweg.methods.sag'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_verbs_options_data_and_methods():
    assert completed("di") == ["diagnose"]
    assert completed("--stan", "plan") == ["--standardize"]
    assert completed("@ca", "plan") == ["@cancer"]
    assert completed("newt", "train", "@iris", "-m") == ["newton", "newton-cg"]
    assert completed("sag", "methods") == ["sag", "saga"]
    assert completed("ml", "train", "@iris", "--model") == ["mlp:256x256"]


def test_folders_of_runs(made, monkeypatch):
    monkeypatch.chdir(made.parent)
    (made.parent / "runs" / "other").mkdir(exist_ok=True)
    assert completed("runs/", "certify") == [
        f"runs/{name}" for name in ("network", "newton", "race", "stopped")
    ]
    assert completed("runs/st", "diagnose") == ["runs/stopped"]
    assert completed("runs/newt", "train", "--resume") == ["runs/newton"]


def test_else_the_shell_completes_files(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert completed("da", "plan") == ["da"]  # of the type "file", which the script gives to bash
    assert completed("x", "certify") == ["x"]


def test_the_script_of_each_shell():
    for shell in ("bash", "zsh", "fish"):
        done = CliRunner().invoke(
            main, [], prog_name="thalweg", env={"_THALWEG_COMPLETE": f"{shell}_source"}
        )
        assert "_THALWEG_COMPLETE" in done.stdout
