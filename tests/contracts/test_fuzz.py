"""Files, folders and texts drawn by seed and damaged: read as others read them, or refused."""

import io
import itertools
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from fuzz.campaign import CASES, WORD, Trial, campaign, drawn, keep, kept, tried
from fuzz.folders import VERBS
from fuzz.readers import READERS, File, difference
from fuzz.words import WORDS
from thalweg.tables.load import load

SECONDS = 8.0


def parquet(cell):
    out = io.BytesIO()
    pl.DataFrame({"a": [cell]}).write_parquet(out)
    return out.getvalue()


def test_a_short_campaign():
    trials = list(campaign(itertools.count(1), SECONDS))
    broken = [f"{each.format}, seed {each.seed}: {each.fault}" for each in trials if each.fault]
    assert broken == []
    assert len(trials) > 20


def test_a_seed_is_one_file():
    assert drawn(5) == drawn(5)
    assert len({drawn(seed)[1].content for seed in range(20)}) > 15


@pytest.mark.parametrize(
    ("format_", "name", "right", "wrong"),
    [
        ("delimited", "t.csv", b"a,b\n1,x\n", b"a,b\n2,x\n"),
        ("delimited", "t.csv", b"a,b\n1,x\n,y\n", b"a,b\n1,x\n2,y\n"),
        ("parquet", "t.parquet", parquet(1.0), parquet(2.0)),
        ("parquet", "t.parquet", parquet("x"), parquet(1)),
        ("svmlight", "t.svm", b"1 1:2\n", b"1 1:3\n"),
        ("idx", "images", b"\0\0\x09\x02\0\0\0\1\0\0\0\1\5", b"\0\0\x09\x02\0\0\0\1\0\0\0\1\6"),
    ],
)
def test_a_wrong_reading_is_seen(tmp_path, format_, name, right, wrong):
    (tmp_path / name).write_bytes(right)
    raw = load(tmp_path / name)
    for reference in READERS[format_].references:
        assert difference(raw, reference(right)) == ""
        assert difference(raw, reference(wrong)) != ""


def test_a_traceback_is_seen(tmp_path, monkeypatch):
    def broken(*_, **__):
        raise KeyError("x")

    monkeypatch.setattr("fuzz.campaign.load", broken)
    assert "KeyError" in tried("delimited", 0, File("t.csv", b"a\n1\n"), tmp_path).fault


def test_the_long_one_runs():
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "--seconds", "1", "--seed", "7"],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "from seed 7 on, 0 broke the rule" in done.stdout


def test_a_case_is_kept_by_its_name(tmp_path, monkeypatch):
    monkeypatch.setattr("fuzz.campaign.CASES", tmp_path)
    for format_, name in (("idx", "images"), ("folder.old-network.runs", "-gd/run.json")):
        trial = Trial(format_, 17, File(name, b"x"), "read", "")
        assert kept(keep(trial)) == (format_, 17, trial.file)


def test_kept_cases_are_named_by_what_they_are():
    known = {*READERS, *(f"{WORD}{each}" for each in WORDS)}
    for case in CASES.glob("[a-z]*"):
        format_, _, _ = kept(case)
        assert format_ in known or format_.rpartition(".")[2] in VERBS


def test_a_change_that_is_not_noticed_is_seen(tmp_path, monkeypatch):
    """Were predictions not those of the whole folder, or a damaged one not listed, it is told."""
    monkeypatch.setattr("fuzz.folders.whole", lambda name: "other")
    told = tried("folder.numbers.predict", 0, File("report.html", b""), tmp_path)
    assert told.fault == "other predictions"
    monkeypatch.setattr("fuzz.folders.listing", lambda root: [])
    assert "listed as []" in tried("folder.numbers.runs", 0, File("x", b""), tmp_path).fault


@pytest.mark.parametrize(
    ("kind", "text", "wrong"),
    [("time", b"2m", 2.0), ("size", b"2kB", 2.0), ("penalty", b"2/n", (2.0, False)),
     ("options", b"a[b=1]", ("a", {"b": 2}))],
)  # fmt: skip
def test_a_wrong_meaning_is_seen(tmp_path, monkeypatch, kind, text, wrong):
    assert tried(WORD + kind, 0, File(kind, text), tmp_path).outcome == "equal"
    monkeypatch.setitem(WORDS, kind, WORDS[kind]._replace(read=lambda _: wrong))
    assert "by reference" in tried(WORD + kind, 0, File(kind, text), tmp_path).fault
