"""Commands in a process with little address space: they work, or say how much they would need."""

import re
import resource
import subprocess
import sys

import pytest

from thalweg.cli import address_space
from thalweg.cli.address_space import Gate
from thalweg.core.errors import InputError

GB = 1 << 30
CSV = "a,b,y\n" + "".join(f"{k % 7},{k % 5},{k % 2}\n" for k in range(60))


def within(place, limit, *typed):
    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    return subprocess.run(
        [sys.executable, "-m", "thalweg", *typed],
        cwd=place, preexec_fn=limited, capture_output=True, text=True, check=False,
    )  # fmt: skip


COMMANDS = {
    "help": ("--help",),
    "plan": ("plan", "@cancer"),
    "train": ("train", "@cancer", "--out", "new"),
    "train a table": ("train", "table.csv", "--target", "y", "--out", "new"),
    "train a network": ("train", "@iris", "--model", "mlp:4", "--epochs", "1", "--out", "new"),
    "diagnose": ("diagnose", "@cancer"),
    "report": ("report", "newton"),
    "lab": ("lab", "convexity"),
}


@pytest.mark.parametrize("asked", COMMANDS)
@pytest.mark.parametrize("limit", [2 * GB, GB, GB // 2])
def test_it_works_or_says_how_much_it_needs(runs, asked, limit):
    (runs / "table.csv").write_text(CSV)
    found = within(runs, limit, *COMMANDS[asked])
    assert "Traceback" not in found.stderr
    if limit == 2 * GB or (limit == GB and asked != "train a network"):
        assert found.returncode == 0, found.stderr
    if found.returncode:
        assert found.returncode == 2, found.stderr
        said = re.fullmatch(
            r"Error: this needs some [\d.]+ GB of addresses, for \w+ among others, and ulimit -v "
            r"allows [\d.]+ GB: allow more, with ulimit -v (\d+)",
            found.stderr.splitlines()[-1],
        )
        assert said, found.stderr
        assert int(said[1]) * 1024 > limit


def test_what_is_advised_suffices(runs):
    said = within(runs, GB, *COMMANDS["train a network"]).stderr.splitlines()[-1]
    advised = int(said.rsplit(" ", 1)[1]) * 1024
    assert within(runs, advised, *COMMANDS["train a network"]).returncode == 0


def test_the_gate_asks_for_what_is_large_alone(monkeypatch):
    monkeypatch.setattr(address_space, "used", lambda: 100 << 20)
    gate = Gate(600 << 20)
    assert gate.find_spec("json") is None
    gate.check("polars")
    spec = gate.find_spec("torch")  # who looks whether it is there is not refused
    sentence = r"some 1\.2 GB .* torch .* 0\.6 GB: .* -v 1300000$"
    with pytest.raises(InputError, match=sentence):
        gate.check("torch")
    if spec is not None:
        with pytest.raises(InputError, match=sentence):
            spec.loader.create_module(spec)


def test_without_a_limit_nothing_is_done(monkeypatch):
    monkeypatch.setattr(address_space, "limit_of_addresses", lambda: None)
    before = list(sys.meta_path)
    address_space.keep_within()
    assert sys.meta_path == before
