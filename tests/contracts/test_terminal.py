"""Every verb in a real terminal, read as a person sees it: `pyte` draws what `pexpect` is sent.

One interpreter waits in the terminal with everything imported, and forks for each command, as a
shell would: only its start is saved, ten times.
"""

import json
import os
import re
import sys
import time

import pexpect
import pyte
import pytest

SHELL = """
import json, os, signal, sys, warnings
import sklearn.datasets, thalweg.cli.program
import thalweg.jobs.race, thalweg.jobs.certification, thalweg.reports.report
signal.signal(signal.SIGINT, signal.SIG_IGN)
# From Python 3.12 on: some library's threads wait here, which no command of a child asks for.
warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
print("[ready]", flush=True)
for line in open(sys.argv[1]):
    arguments, variables = json.loads(line)
    child = os.fork()
    if not child:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ.update(variables)
        thalweg.cli.program.main(arguments, prog_name="thalweg")
    print(f"[exit {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}]", flush=True)
"""
ROWS = 80


class Terminal:
    """A terminal of `columns` columns, in which commands are given."""

    def __init__(self, folder, columns=80):
        os.mkfifo(folder / "commands")
        environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
        environment |= {"TERM": "xterm-256color", "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"}
        environment.pop("NO_COLOR", None)
        self.process = pexpect.spawn(
            sys.executable,
            ["-c", SHELL, str(folder / "commands")],
            cwd=str(folder),
            env=environment,
            dimensions=(ROWS, columns),
            echo=False,
            timeout=60,
        )
        self.process.expect_exact("[ready]")
        self.commands = open(folder / "commands", "w")  # noqa: SIM115
        self.clear(columns)

    def clear(self, columns):
        self.process.setwinsize(ROWS, columns)
        self.screen = pyte.Screen(columns, ROWS)
        self.stream = pyte.ByteStream(self.screen)
        self.sent = b""  # all that came, codes included

    def give(self, *arguments, columns=80, **variables):
        """Begin a command on an empty screen."""
        self.clear(columns)
        self.commands.write(json.dumps([[str(each) for each in arguments], variables]) + "\n")
        self.commands.flush()

    def wait(self, *patterns):
        """Draw what comes until one of the texts has been sent; which one."""
        found = self.process.expect(list(patterns))
        for piece in (self.process.before, self.process.after):
            self.sent += piece
            self.stream.feed(piece)
        return found

    def finish(self):
        """Draw the rest of the command; its exit code."""
        self.wait(r"\[exit \d+\]")
        return int(self.process.after.split()[1][:-1])

    def run(self, *arguments, **options):
        self.give(*arguments, **options)
        return self.finish()

    @property
    def lines(self):
        """The screen, without empty lines."""
        return [line.rstrip() for line in self.screen.display if line.strip()]

    @property
    def text(self):
        return "\n".join(self.lines)


@pytest.fixture(scope="module")
def terminal(tmp_path_factory):
    found = Terminal(tmp_path_factory.mktemp("terminal"))
    yield found
    found.commands.close()
    found.process.expect(pexpect.EOF)


def test_methods_are_compared_and_saved(terminal):
    code = terminal.run(
        "train", "@cancer", "--standardize", "-m", "newton", "-m", "gd", "--max-iter", "20",
        "--out", "runs/first",
    )  # fmt: skip
    assert code == 0, terminal.text
    assert terminal.lines[0].split()[:2] == ["method", "predicted"]
    assert "CERTIFIED  newton: The tolerance was reached." in terminal.text
    assert "report     runs/first/report.html" in terminal.text
    assert b"\x1b[32mCERTIFIED" in terminal.sent


@pytest.mark.parametrize(
    ("arguments", "code", "beginning"),
    [
        (["plan", "@cancer", "--loss", "logistic", "--standardize"], 0, "Problem"),
        (["predict", "runs/first", "@cancer", "--out", "p.csv"], 0, "written: 569 predictions"),
        (["certify", "runs/first"], 0, "CERTIFIED  duality gap"),
        (["certify", "runs/first/gd"], 3, "NOT CERTIFIED"),
        (["diagnose", "runs/first"], 0, "runs/first/newton: logistic"),
        (["report", "runs/first/gd"], 0, "runs/first/gd/report.html"),
        (["runs"], 0, "run"),
        (["methods", "sag"], 0, "sag, a method"),
        (["lab"], 0, "lab"),
        (["lab", "gd-rate", "--break", "step"], 5, "claim"),
        (["plan", "@canser"], 2, "Error: source '@canser' is no"),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_narrow_and_without_colours(terminal, arguments, code, beginning):
    assert terminal.run(*arguments, columns=40, NO_COLOR="1") == code, terminal.text
    assert terminal.lines[0].startswith(beginning)
    assert b"\x1b" not in terminal.sent
    # Whatever is longer than the screen is a path or a formula, which nothing may cut.
    for line in terminal.sent.decode().splitlines():
        assert len(line) <= 40 or " " not in line.strip() or arguments[0] == "methods", line


def test_a_bar_while_it_trains_and_ctrl_c(terminal):
    terminal.give("train", "@digits", "-m", "gd", "--tol", "1e-12", "--out", "runs/long")
    terminal.wait(r"f = [\d.]+, ‖∇f‖∞".encode())
    assert any("gd  " in line and "/100000" in line for line in terminal.lines), terminal.text
    begun = time.monotonic()
    terminal.process.sendintr()
    assert terminal.finish() == 3, terminal.text
    assert time.monotonic() - begun < 20.0
    assert "/100000" not in terminal.text  # the bar is gone
    assert "thalweg train --resume runs/long" in terminal.text
    assert "saved      runs/long" in terminal.text


def test_it_goes_on(terminal):
    code = terminal.run("train", "--resume", "runs/long", "--max-iter", "3", "--no-report", "-q")
    assert code == 3
    assert "The iteration limit came before the tolerance." in terminal.text


def test_ctrl_c_before_anything_is_done(terminal):
    terminal.give("warm-up")
    terminal.wait("warm-up")
    terminal.process.sendintr()
    assert terminal.finish() == 130
    assert "Error: interrupted: nothing was saved" in terminal.text


def test_a_name_in_the_data_moves_nothing_on_the_screen(terminal, tmp_path):
    """Codes that are sent are those of the palette, whatever columns and classes are called."""
    names = ["\x1b]0;owned\x1b\\", "\x1b[2J\x1b[8mx", "a\u202eb"]
    lines = [",".join([*names, "y"])]
    lines += [f"{k % 7},{k % 5},{k % 3},{chr(27)}[{31 + k % 2}m{k % 2}" for k in range(40)]
    (tmp_path / "h.csv").write_text("\n".join(lines) + "\n")
    code = terminal.run("train", tmp_path / "h.csv", "--target", "y", "--out", "runs/hostile")
    assert code == 0, terminal.text
    assert terminal.run("diagnose", tmp_path / "h.csv", "--target", "y") in (0, 3)
    sent = terminal.sent
    assert terminal.run("predict", "runs/hostile", tmp_path / "h.csv") == 0
    sent += terminal.sent
    assert set(re.findall(rb"\x1b.[^a-zA-Z]*[a-zA-Z]?", sent)) <= {
        b"\x1b[0m", b"\x1b[1m", b"\x1b[2m", b"\x1b[31m", b"\x1b[32m", b"\x1b[33m",
    }  # fmt: skip
    assert rb"\x1b[31m" in sent  # written out, for all to see
    assert b"\x07" not in sent
    assert "\u202e" not in sent.decode()
