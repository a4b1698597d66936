import json

import pytest

import thalweg as tw
from command import answer, sentence, thalweg
from thalweg.jobs import choosing, opening
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


def test_penalties_are_chosen_and_kept(tmp_path):
    folder = tmp_path / "run"
    asked = ("@diabetes", "--l2", "100,0.001,1/n", "--folds", "3", "--no-report", "--out", folder)
    done = thalweg("train", *asked)
    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.split())
    assert "chosen l2 = 0.001: half the squared error" in said or "chosen l2 = 1/n: half" in said
    assert json.loads((folder / "job.json").read_text())["job"]["l2"] == "100,0.001,1/n"
    saved = tw.load(folder)
    assert str(saved.job.l2) == saved.chosen.point.l2 != "100"
    proved = answer("certify", folder)
    assert proved["holds"] is True
    (run,) = answer("train", "@diabetes", "--l1", "auto", "--one-standard-error", "--no-report",
                    "--out", tmp_path / "other")["runs"]  # fmt: skip
    assert len(run["chosen"]["points"]) == 16
    assert run["chosen"]["rule"] == "one-standard-error"


def test_a_killed_choice_is_made_once(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    asked = ("@diabetes", "--l2", "100,0.001", "-m", "gd", "--max-iter", "3", "--no-report")
    assert thalweg("train", *asked, "--out", folder).exit_code == 3
    before = (folder / "choice.json").read_bytes()
    monkeypatch.setattr(choosing, "path", None)  # no fold is trained again
    done = thalweg("train", "--resume", folder, "--max-iter", "2", "--no-report")
    assert done.exit_code == 3, done.output
    assert (folder / "choice.json").read_bytes() == before
    assert tw.load(folder).run.iterations == 5


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
        (["@iris", "--one-standard-error"], "one_standard_error must be left out where there is"),
        (
            ["@iris", "--l2", "auto", "-m", "gd", "-m", "newton"],
            "l1 and l2 must be one penalty each",
        ),
        (
            ["@iris", "--l2", "auto", "--folds", "60"],
            "folds must be at most the rows of the rarest",
        ),
        (["@iris", "--l1", "auto", "-m", "lbfgs"], "lbfgs"),
        (["@iris", "--l2", "1/n", "--l2", "10/n"], "--l2 must be given once, got it 2 times"),
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
