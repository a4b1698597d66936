"""The streams of a process of its own, as whoever calls it left them."""

import os
import subprocess
import sys

import pytest

from thalweg.cli.exit_code import BAD_INPUT, PIPE_BROKEN
from thalweg.cli.streams import Forgiving

MODULE = (sys.executable, "-m", "thalweg")
ASKED = {
    "help": ["--help"],
    "predict": ["predict", "newton", "@cancer"],
    "train": ["train", "@iris", "-m", "newton", "--no-report"],
}


def done(runs, asked, redirection):
    """The command by a shell, where the streams are as it says."""
    typed = ["sh", "-c", f'exec "$0" "$@" {redirection}', *MODULE, *ASKED[asked]]
    return subprocess.run(typed, cwd=runs, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("asked", ASKED)
def test_a_stdout_without_room_is_a_sentence(runs, asked):
    found = done(runs, asked, "> /dev/full")
    assert found.returncode == BAD_INPUT
    assert "Traceback" not in found.stderr
    last = found.stderr.splitlines()[-1]
    assert last.startswith("Error: stdout cannot be written (No space left on device)")
    if asked == "train":  # what was trained is not lost with the answer
        (run,) = (runs / "runs").iterdir()
        assert (run / "result.json").exists()


@pytest.mark.parametrize("asked", ASKED)
def test_a_stdout_whose_reader_has_gone(runs, asked):
    read, write = os.pipe()
    os.close(read)
    found = subprocess.run(
        [*MODULE, *ASKED[asked]], cwd=runs, stdout=write, stderr=subprocess.PIPE, text=True
    )
    os.close(write)
    assert found.returncode == PIPE_BROKEN
    assert "Error" not in found.stderr
    assert "Exception" not in found.stderr


@pytest.mark.parametrize("redirection", ["2> /dev/full", "2>&-", "<&-", "<&- 2>&-"])
@pytest.mark.parametrize("asked", ASKED)
def test_a_stderr_that_cannot_be_written_and_no_stdin_stop_nothing(runs, asked, redirection):
    usual, found = done(runs, asked, ""), done(runs, asked, redirection)
    assert found.returncode == usual.returncode == 0
    if asked != "train":
        assert found.stdout == usual.stdout


def test_a_stderr_whose_reader_has_gone_stops_nothing(runs):
    read, write = os.pipe()
    os.close(read)
    found = subprocess.run(
        [*MODULE, *ASKED["predict"]], cwd=runs, stdout=subprocess.PIPE, stderr=write, text=True
    )
    os.close(write)
    assert found.returncode == 0
    assert len(found.stdout.splitlines()) == 570


def test_no_file_gets_the_number_of_a_closed_stream(runs):
    show = "import os, sys; from thalweg.cli.streams import usable\nwith usable(): pass\n"
    show += "file = os.open('new', os.O_CREAT | os.O_WRONLY); print(file, file=open('told', 'w'))"
    typed = ["sh", "-c", 'exec "$0" -c "$1" <&- >&- 2>&-', sys.executable, show]
    subprocess.run(typed, cwd=runs, check=True)
    assert int((runs / "told").read_text()) > 2


def test_what_a_stream_cannot_take_is_lost_from_there_on(tmp_path):
    with open("/dev/full", "w", buffering=1) as full:
        stream = Forgiving(full)
        assert stream.write("lost\n") == 5
        assert stream.write("lost too\n") == 9
        stream.flush()
        assert stream.name == "/dev/full"
    with open(tmp_path / "file", "w") as file:
        Forgiving(file).write("kept")
    assert (tmp_path / "file").read_text() == "kept"
