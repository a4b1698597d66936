import json

import pytest

from command import answer, sentence, thalweg
from thalweg.labbook.catalogue import NAMES


def test_all_are_listed_with_their_times():
    listed = answer("lab")["labs"]
    assert [each["name"] for each in listed] == list(NAMES)
    assert all(each["quick_seconds"] > 0 and each["result"] is None for each in listed)
    text = thalweg("lab").stdout
    assert text.splitlines()[0].split()[:4] == ["lab", "from", "expected", "time"]
    assert "gd-rate" in text


def test_one_is_run_shown_and_kept(tmp_path):
    done = thalweg("lab", "gd-rate", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    for text in ("claim ", "f(w_T) − f* ≤", "measured/bound", "PASS  ", "gd-rate holds"):
        assert text in done.stdout
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "gd-rate-1-narrow.svg", "gd-rate-1.svg", "gd-rate.html", "gd-rate.json", "index.html",
    ]  # fmt: skip
    assert json.loads((tmp_path / "gd-rate.json").read_text())["passed"]


def test_broken_it_fails_with_5_and_leaves_nothing(tmp_path):
    done = thalweg("lab", "gd-rate", "--break", "step", "--out", tmp_path)
    assert done.exit_code == 5
    assert "FAIL  " in done.stdout
    assert "broken on purpose: a step of 3/L" in " ".join(done.stdout.split())
    assert list(tmp_path.iterdir()) == []


def test_answers_in_json(tmp_path):
    (found,) = answer("lab", "gd-rate", "--seed", "2", "--out", tmp_path)["labs"]
    assert (found["result"]["seed"], found["result"]["verdict"]) == (2, "holds")
    (found,) = answer("lab", "gd-rate", "--break", "step", code=5)["labs"]
    assert found["result"]["passed"] is False


def test_all_of_them_make_a_book(tmp_path, monkeypatch):
    from thalweg.labbook import catalogue, running

    monkeypatch.setattr(catalogue, "NAMES", ("gd-rate", "sgd-lemma"))
    done = thalweg("lab", "--all", "--out", tmp_path, "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert "2 of 2 pass" in done.stdout
    assert (tmp_path / "index.html").is_file()
    assert answer("lab", "--all", "--out", tmp_path, "--jobs", "1")["book"].endswith("index.html")
    monkeypatch.setattr(running, "find_spec", lambda name: None)
    assert thalweg("lab", "--all", "--out", tmp_path, "--jobs", "1").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gd-rat"], "got 'gd-rat': did you mean 'gd-rate'?"),
        (["gd-rate", "--all"], "--all runs every lab, got 'gd-rate' too"),
        (["--break", "step"], "--break needs the name of a lab"),
        (["gd-rate", "--break", "nothing"], "a way to break gd-rate, got 'nothing'"),
        (["gd-rate", "--jobs", "2"], "--jobs is of --all"),
    ],
)
def test_bad_usage_is_one_sentence(arguments, said):
    assert said in sentence("lab", *arguments)
