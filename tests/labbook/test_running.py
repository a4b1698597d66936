import os

import pytest

from laboratory import LAB
from thalweg.labbook import running
from thalweg.labbook.book import read
from thalweg.labbook.ruling import Ruling


def broken_down(*_, **__):
    raise ZeroDivisionError("by nothing")


@pytest.fixture
def known(monkeypatch):
    """Labs in this process: one good, one that breaks down."""
    bad = LAB.__class__(**{**vars(LAB), "name": "odd", "experiment": broken_down, "seconds": 9.0})
    table = {"halving": LAB, "odd": bad}
    monkeypatch.setattr(running, "lab", table.__getitem__)
    return table


def test_longest_first_and_one_that_breaks_down_is_one_that_failed(known, tmp_path):
    found = list(running.run_many(["halving", "odd"], "glance", folder=tmp_path, workers=1))
    assert [(each.name, each.passed) for each in found] == [("odd", False), ("halving", True)]
    assert found[0].verdict is Ruling.FAILS
    assert found[0].checks[0].measured == "ZeroDivisionError: by nothing"
    assert (tmp_path / "odd.json").is_file()


def test_processes_side_by_side_have_one_thread_each(tmp_path):
    before = dict(os.environ)
    names = ["gd-rate", "sgd-lemma"]
    found = list(running.run_many(names, "glance", folder=tmp_path, workers=2))
    assert sorted(each.name for each in found) == names
    assert all(each.passed for each in found)
    assert set(read(tmp_path)) == set(names)
    assert dict(os.environ) == before


def test_threads_are_put_back(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    with running.one_thread():
        assert os.environ["OMP_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "7"


def test_labs_that_need_torch_are_left_out_without_it(monkeypatch, known):
    known["odd"] = known["odd"].__class__(**{**vars(known["odd"]), "needs_torch": True})
    assert running.runnable(["halving", "odd"]) == (["halving", "odd"], [])
    monkeypatch.setattr(running, "find_spec", lambda name: None)
    assert running.runnable(["halving", "odd"]) == (["halving"], ["odd"])
