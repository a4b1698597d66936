import io
import sys

import pytest

from thalweg.running.progress import MOST_LINES, Progress


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


def lines_on(monkeypatch, columns, encoding="utf-8", method="lbfgs"):
    """What a terminal was sent for one run of two updates."""
    raw = io.BytesIO()
    screen = io.TextIOWrapper(raw, encoding=encoding, errors="backslashreplace")
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", str(columns))
    with Progress(method, 100, shown=True) as progress:
        progress.update(1, row(0.5), 1e-6)
        assert raw.getvalue() == b""
        progress.update(40, row(1.5), 1e-6)
        progress.update(41, row(1.55), 1e-6)
        progress.update(80, row(2.0), 1e-6)
    return raw.getvalue().decode(encoding).split("\r")


def test_a_terminal_gets_a_bar_that_is_gone_at_the_end(monkeypatch):
    before, first, second, blank, end = lines_on(monkeypatch, 120)
    assert before == end == ""
    assert first.startswith(f"lbfgs  {'━' * 8}{'─' * 12}  40/100  2 s  f = 1.25, ‖∇f‖∞ = 5.00e-01")
    assert second.startswith(f"lbfgs  {'━' * 16}{'─' * 4}  80/100")
    assert blank == " " * len(second)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_narrow_terminal_has_no_bar_and_no_second_line(monkeypatch, encoding):
    for line in lines_on(monkeypatch, 40, encoding):
        assert len(line) < 40
        assert "━" not in line
        assert "\x1b" not in line


def test_a_dumb_terminal_gets_plain_lines(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "dumb")
    with Progress("gd", 100, shown=True) as progress:
        progress.update(40, row(6.0), 1e-6)
    assert screen.getvalue().startswith("gd: 40/100 iterations, 6 s, ")
    assert "\r" not in screen.getvalue()


def test_a_reader_who_has_gone_ends_no_run(monkeypatch):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Closed())
    with Progress("gd", 100, shown=True) as progress:
        progress.update(40, row(6.0), 1e-6)


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_it_can_be_turned_off(monkeypatch, stream):
    screen = stream()
    monkeypatch.setattr(sys, "stderr", screen)
    with Progress("gd", 100, shown=False) as progress:
        progress.update(40, row(1000.0), 1e-6)
    assert screen.getvalue() == ""
