import tempfile
from pathlib import Path

import click
import pytest

from thalweg.cli.failure import Failure, Quit, failure_of, show
from thalweg.core.errors import InputError, StorageError


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
    sentence, code = failure_of(MemoryError())
    assert code == 2
    assert sentence.startswith("out of memory: ")


def raised():
    try:
        raise ValueError("odd")
    except ValueError as problem:
        return problem


def test_a_bug_is_put_to_a_file(monkeypatch, tmp_path):
    monkeypatch.delenv("THALWEG_DEBUG", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    sentence, code = failure_of(raised())
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
