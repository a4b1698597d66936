import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from drawings import plan_of, run_of
from thalweg.cli.result import (
    TONES,
    compiling,
    linear_row,
    ordered,
    planned,
    record,
    spelled_ratio,
    spelled_scores,
    text,
)
from thalweg.cli.screen import BAD, DOUBTFUL, GOOD, Screen
from thalweg.runs.saved import load

WIDE = Screen(100, False, False, "utf-8")


def test_predicted_beside_actual(made):
    saved = load(made / "newton")
    row = linear_row(saved)
    predicted, run = planned(saved.run), saved.run
    assert row[:3] == (
        "newton",
        f"{predicted.predicted_iterations:,.0f} it",
        f"{run.iterations} it",
    )
    assert row[3] == f"{run.iterations / predicted.predicted_iterations:.2g}×"
    assert row[-1].startswith("gap ")
    assert " ≤ " in row[-1]
    assert " > " in linear_row(load(made / "stopped"))[-1]


def test_a_run_and_a_race_read_alike(made):
    one = text(WIDE, load(made / "newton"))
    assert one.splitlines()[3].startswith("CERTIFIED  The tolerance was reached.")
    assert "score      held out: accuracy 0." in one
    many = text(WIDE, load(made / "race"))
    assert [line.split()[0] for line in many.splitlines()[:4]] == [
        "method",
        "newton",
        "lbfgs",
        "gd",
    ]
    assert "CERTIFIED  newton: " in many or "CERTIFIED  lbfgs: " in many
    stopped = text(WIDE, load(made / "stopped"))
    assert "NOT CERTIFIED  The iteration limit came before the tolerance." in stopped
    assert re.search(r"Try -m [\w-]+ and --max-iter \d", " ".join(stopped.split()))
    assert f"thalweg diagnose {made / 'stopped'}" in " ".join(stopped.split())


def test_a_network(made):
    found = text(WIDE, load(made / "network")).splitlines()
    assert found[0].split() == ["optimizer", "steps", "took", "loss", "scores"]
    assert found[1].split()[:2] == ["adam", "6"]
    assert found[3].startswith("FINISHED  All epochs of the training were done.")
    (run,) = record(load(made / "network"))["runs"]
    assert run["predicted_iterations"] is None


def test_plain_values(made):
    found = record(load(made / "race"))
    assert found["best"] in ("newton", "lbfgs")
    assert [each["method"] for each in found["runs"]] == ["newton", "lbfgs", "gd"]
    assert [each["certified"] for each in found["runs"]] == [True, True, False]
    assert record(load(made / "newton"))["best"] is None


def test_colours(made):
    assert (TONES["CERTIFIED"], TONES["STOPPED"], TONES["SADDLE"]) == (GOOD, DOUBTFUL, BAD)
    painted = text(WIDE._replace(has_colour=True), load(made / "newton"))
    assert "\x1b[32mCERTIFIED\x1b[0m  The" in painted


def test_by_hand():
    assert spelled_ratio(10, 4) == "2.5×"
    assert spelled_ratio(10, 0) == ""
    assert spelled_scores({"R²": 0.123456, "log loss": 2.0}) == "R² 0.1235, log loss 2"
    scores = {"training": {"a": 1.0}, "folds": {}, "held out": {"a": 2.0}}
    assert [name for name, _ in ordered(scores)] == ["held out", "training", "folds"]


@pytest.mark.parametrize("columns", [40, 70])
def test_narrow_screens(made, columns):
    for name in ("newton", "race"):
        lines = text(WIDE._replace(columns=columns), load(made / name)).splitlines()
        words = [line for line in lines if str(made) not in line]  # a path is not cut
        assert max(map(len, words)) <= columns


def test_what_was_compiled_is_told_once_for_all():
    plan = plan_of()
    first, second = (
        SimpleNamespace(run=run_of(compiled=seconds, plan=replace(plan, compiled=3.0)))
        for seconds in (1.0, 0.5)
    )
    assert compiling([first, second]) == "4.5 s, once; in none of these times"
    assert compiling([SimpleNamespace(run=run_of(compiled=0.1))]) == ""
