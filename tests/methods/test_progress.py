import io
import sys

import pytest

from thalweg.methods.progress import MOST_LINES, Progress


def row(seconds):
    return {"seconds": seconds, "value": 1.25, "gradient_norm": 0.5}


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_short_run_shows_nothing(capsys):
    with Progress("gd", 100, shown=True) as progress:
        progress.update(1, row(0.5), 1e-6)
    assert capsys.readouterr() == ("", "")


def test_elsewhere_than_a_terminal_at_most_ten_plain_lines_on_stderr(capsys):
    with Progress("gd", 10**6, shown=True) as progress:
        for second in range(1, 100_000):
            progress.update(second, row(float(second)), 1e-6)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert len(lines) == MOST_LINES
    assert lines[0] == "gd: 5/1000000 iterations, 5 s, f = 1.25, ‖∇f‖∞ = 5.00e-01 (to 1.0e-06)"
    assert [int(line.split(",")[1].split()[0]) for line in lines] == [5 * 2**k for k in range(10)]
    assert "\x1b" not in err


def test_a_terminal_gets_a_bar(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    with Progress("lbfgs", 100, shown=True) as progress:
        progress.update(1, row(0.5), 1e-6)
        assert screen.getvalue() == ""
        progress.update(40, row(1.5), 1e-6)
    assert "lbfgs" in screen.getvalue()
    assert "40/100" in screen.getvalue()


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_it_can_be_turned_off(monkeypatch, stream):
    screen = stream()
    monkeypatch.setattr(sys, "stderr", screen)
    with Progress("gd", 100, shown=False) as progress:
        progress.update(40, row(1000.0), 1e-6)
    assert screen.getvalue() == ""
