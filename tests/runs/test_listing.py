import shutil

import pytest

from thalweg.core.errors import InputError
from thalweg.jobs.race import train_race
from thalweg.jobs.train import train
from thalweg.runs.folder import locked
from thalweg.runs.job import Job
from thalweg.runs.listing import listing

QUIET = {"progress": False, "report": False}


def test_every_state_in_one_list(tmp_path):
    train(Job("@iris", validation=0.2), tmp_path / "a", **QUIET)
    train_race(Job("@diabetes"), ["gd", "newton"], tmp_path / "b", **QUIET)
    train(Job("@iris", method="gd", max_iter=2), tmp_path / "c", **QUIET)
    (tmp_path / "c" / "result.json").unlink()
    train(Job("@iris"), tmp_path / "d", **QUIET)
    (tmp_path / "d" / "job.json").write_text("{")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes.txt").write_text("")
    found = {each.folder.relative_to(tmp_path).as_posix(): each for each in listing(tmp_path)}
    states = {name: each.state for name, each in found.items()}
    assert states == {
        "a": "CERTIFIED", "b/gd": "CERTIFIED", "b/newton": "CERTIFIED", "c": "UNFINISHED",
        "d": "DAMAGED",
    }  # fmt: skip
    a = found["a"]
    assert a.score[0] == "accuracy"
    assert a.data == "@iris"
    assert a.gap >= 0.0
    assert "not valid JSON" in found["d"].problem
    with locked(tmp_path / "c"):
        assert {each.state for each in listing(tmp_path)} >= {"TRAINING"}


def test_a_race_that_is_damaged_or_not_begun_has_a_line_of_its_own(tmp_path):
    train_race(Job("@diabetes"), ["gd", "newton"], tmp_path / "b", **QUIET)
    for name in ("gd", "newton"):
        shutil.rmtree(tmp_path / "b" / name)
    assert [each.state for each in listing(tmp_path)] == ["UNFINISHED"]
    (tmp_path / "b" / "race.json").write_text("[" * 100_000)
    (found,) = listing(tmp_path)
    assert found.state == "DAMAGED"
    assert "nested too deep" in found.problem


def test_no_runs_and_no_folder(tmp_path):
    assert listing(tmp_path) == []
    assert listing(tmp_path / "nothing") == []
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="root must be a folder"):
        listing(tmp_path / "file")
