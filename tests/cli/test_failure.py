import tempfile
from pathlib import Path

import click
import pytest

from thalweg.cli.failure import SETTLES, Failure, Quit, failure_of, show
from thalweg.core.errors import InputError, StorageError
from thalweg.tables.problem import Problem, Unsettled


@pytest.mark.parametrize(
    ("problem", "sentence", "code"),
    [
        (InputError("tol must be above 0, got 0"), "tol must be above 0, got 0", 2),
        (InputError("use method='sag'"), "use -m sag", 2),
        (StorageError("runs/x is damaged"), "runs/x is damaged", 2),
        (click.UsageError("Missing 'DATA'"), "Missing 'DATA'. Help: thalweg --help", 2),
        (KeyboardInterrupt(), "interrupted: nothing was saved", 130),
        (click.Abort(), "interrupted: nothing was saved", 130),
        (Quit("interrupted: go on"), "interrupted: go on", 130),
        (PermissionError(13, "Permission denied", "a.csv"), "a.csv: Permission denied", 2),
        (
            ModuleNotFoundError("No module named 'torch'", name="torch"),
            "this needs torch, which is not installed: pip install 'thalweg[nets]'",
            2,
        ),
    ],
)  # fmt: skip
def test_by_hand(problem, sentence, code):
    assert failure_of(problem) == Failure(sentence, code)


def test_no_room():
    sentence, code, *_ = failure_of(MemoryError())
    assert code == 2
    assert sentence.startswith("out of memory: ")


def test_columns_to_be_settled(capsys):
    one = Problem("when", "column 'when' holds dates, with dates='expand'", {"dates": "expand"})
    two = Problem("", "fill them, with impute='median'", {"impute": "median"})
    options = {"--dates", "--impute"}
    alone = failure_of(Unsettled([one], one.remedy), ["train", "a b.csv"], options)
    command = "thalweg train 'a b.csv' --dates expand"
    assert alone == Failure("column 'when' holds dates, with --dates expand", 2, (), command)
    show(alone)
    assert capsys.readouterr().err == f"Error: {alone.sentence}\n{SETTLES}\n{command}\n"
    both = Unsettled([one, two], {**one.remedy, **two.remedy})
    found = failure_of(both, ["train", "a.csv"], options)
    assert found.several == (alone.sentence, "fill them, with --impute median")
    assert found.command == "thalweg train a.csv --dates expand --impute median"
    show(found)
    assert len(capsys.readouterr().err.splitlines()) == 5
    assert failure_of(both, ["certify", "runs/a"], {"--json"}).command == ""
    many = failure_of(Unsettled([one] * 25))
    assert (len(many.several), many.several[-1]) == (21, "and 5 more")


def raised():
    try:
        raise ValueError("odd")
    except ValueError as problem:
        return problem


def test_a_bug_is_put_to_a_file(monkeypatch, tmp_path):
    monkeypatch.delenv("THALWEG_DEBUG", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    sentence, code, *_ = failure_of(raised())
    assert code == 1
    assert sentence.startswith("this is a bug in thalweg (ValueError: odd). ")
    (file,) = tmp_path.iterdir()
    assert str(file) in sentence
    assert 'raise ValueError("odd")' in file.read_text()


def test_where_no_file_can_be_written(monkeypatch):
    monkeypatch.delenv("THALWEG_DEBUG", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(Path("/proc/nowhere")))
    assert failure_of(raised()).sentence.endswith("; THALWEG_DEBUG=1 shows where")


def test_a_bug_is_printed_on_request(monkeypatch, capsys):
    monkeypatch.setenv("THALWEG_DEBUG", "1")
    assert failure_of(raised()) == Failure("this is a bug in thalweg (ValueError: odd)", 1)
    assert "Traceback" in capsys.readouterr().err


def test_one_line_on_stderr(capsys):
    show(Failure("long " * 60, 2))
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"Error: {'long ' * 60}\n"
