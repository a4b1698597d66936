import json

import pytest

from command import answer, sentence, thalweg
from thalweg.jobs import opening
from thalweg.jobs import train as jobs_train

ASKED = ("@cancer", "--standardize", "--no-report")


def test_a_certified_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = answer("train", *ASKED, "--seed", "3")
    (run,) = found["runs"]
    assert run["certified"] is True
    assert run["gap"] <= run["limit"]
    assert run["predicted_iterations"] > 0
    folder = tmp_path / found["folder"]
    assert folder.parent == tmp_path / "runs"
    assert json.loads((folder / "job.json").read_text())["job"]["seed"] == 3
    assert found["report"] is None
    assert not (folder / "report.html").exists()


def test_a_run_that_was_stopped_goes_on(runs):
    done = thalweg("train", "--resume", runs / "stopped", "--max-iter", "10", "--no-report")
    assert done.exit_code == 3
    assert "15 it" in done.stdout
    done = thalweg("train", "--resume", runs / "stopped", "--max-iter", "100000", "--no-report")
    assert done.exit_code == 0, done.output
    assert "is finished (certified)" in sentence("train", "--resume", runs / "stopped")


def test_a_race_goes_on(runs):
    found = answer("train", "--resume", runs / "race", "--max-iter", "60", "--no-report")
    assert {run["method"]: run["iterations"] for run in found["runs"]}["gd"] == 110


def test_divergence_has_its_code(tmp_path):
    done = thalweg(
        "train", "@diabetes", "-m", "gd[step=100]", "--out", tmp_path / "x", "--no-report"
    )
    assert done.exit_code == 4
    assert "\nDIVERGED  " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing argument 'DATA', or --resume RUN."),
        (["@iris", "--resume", "r"], "DATA must be left out with --resume"),
        (["--resume", "r", "--l2", "1"], "--l2 must be left out with --resume"),
        (["--resume", "r", "--folds", "3"], "--folds must be left out with --resume"),
        (["--resume", "r", "--out", "o"], "--out must be left out with --resume"),
        (["--resume", "no-such-run"], "no-such-run does not exist"),
        (["@iris", "--folds", "1"], "Invalid value for '--folds'"),
        (["@iris", "--validation", "3"], "between 0 and 1, or a file"),
        (["@iris", "--max-iter", "-1"], "Invalid value for '--max-iter'"),
        (["@iris", "-m", "gd", "-m", "gd"], "method must differ from the others"),
        (["@iris", "-m", "gd", "-m", "newtn"], "did you mean 'newton'?"),
        (["@moon"], "is no built-in data"),
    ],
)
def test_bad_input(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in sentence("train", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_a_run(runs):
    assert "which holds a run" in sentence("train", *ASKED, "--out", runs / "newton")


def test_ctrl_c_says_what_is_kept(runs, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(jobs_train, "_trained", interrupted)
    folder = runs / "stopped"
    message = sentence("train", "--resume", folder, code=130)
    assert message.endswith(f"thalweg train --resume {folder} goes on")
    monkeypatch.setattr(opening, "table_of", interrupted)
    assert sentence("train", *ASKED, "--out", runs / "new", code=130) == (
        "interrupted: nothing was saved"
    )


def test_quiet(tmp_path):
    done = thalweg("train", *ASKED, "-q", "--out", tmp_path / "x", "--validation", "0.3")
    assert done.stderr == ""
    assert "score      held out" in done.stdout
