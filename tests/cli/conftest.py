"""A folder of small runs that the tests of verbs look at, made once."""

import shutil

import pytest

from command import thalweg


@pytest.fixture(autouse=True)
def piped(monkeypatch):
    """As wide as a pipe, whatever terminal the tests run in."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """runs: one that is certified, one that was stopped, a race, and a network."""
    root = tmp_path_factory.mktemp("made") / "runs"
    asked = ("@cancer", "--standardize", "--no-report")
    for name, options, code in (
        ("newton", ["-m", "newton", "--validation", "0.2"], 0),
        ("stopped", ["-m", "nesterov", "--max-iter", "5"], 3),
        ("race", ["-m", "newton", "-m", "lbfgs", "-m", "gd", "--max-iter", "50"], 0),
    ):
        done = thalweg("train", *asked, *options, "--out", root / name)
        assert done.exit_code == code, done.output
    network = [
        "--model", "mlp:4", "--epochs", "3", "--standardize", "--seed", "1", "--validation", "0.2",
    ]  # fmt: skip
    done = thalweg("train", "@iris", *network, "--no-report", "--out", root / "network")
    assert done.exit_code == 0, done.output
    return root


@pytest.fixture
def runs(made, tmp_path):
    """A copy of them that a test may change."""
    return shutil.copytree(made, tmp_path / "runs")
