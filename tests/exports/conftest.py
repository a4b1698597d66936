"""Runs that are exported, and a thousand rows that none of them has seen."""

import numpy as np
import pytest

import thalweg as tw
from command import thalweg
from exported_rows import CASES, DATED, DATES, TARGETS, rows_of, written


@pytest.fixture(scope="session")
def exported(tmp_path_factory):
    """A folder of runs by the names of `CASES`, new rows, and the file of these."""
    place = tmp_path_factory.mktemp("exports")
    file = written(rows_of(600, 0), place / "rows.csv")
    for name, (target, options) in CASES.items():
        drop = (TARGETS - {target}) | (set() if name in DATED else DATES - set(options))
        done = thalweg(
            "train", file, "--target", target, *options, "--standardize",
            "--no-report", "--out", place / name, "-q",
            *(word for column in sorted(drop) for word in ("--drop", column)),
        )  # fmt: skip
        assert done.exit_code == 0, done.output
    new = rows_of(1000, 1, is_new=True)
    return place, new, written(new, place / "new.csv")


@pytest.fixture(scope="session")
def matrix(tmp_path_factory):
    """A run on a sparse matrix without names, and rows of it."""
    place = tmp_path_factory.mktemp("matrix")
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 30)) * (rng.random((200, 30)) < 0.2)
    y = (X @ rng.normal(size=30) + 0.1 * rng.normal(size=200) > 0).astype(int)
    np.savez(place / "train.npz", X=X, y=y)
    done = thalweg("train", place / "train.npz", "--no-report", "-q", "--out", place / "run")
    assert done.exit_code == 0, done.output
    return tw.load(place / "run"), X
