import json

import pytest

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.nets.treatment.interval import paired_interval
from thalweg.doctor.nets.treatment.treatment import Treatment, Trial, judged
from thalweg.nets.recipes.recipe import Recipe

LARGE, DEAD = (
    Finding(name, Severity.ACT, f"evidence of {name}", 1.0, 0.0)
    for name in ("learning rate too large", "dead ReLUs")
)
BEFORE, AFTER = Recipe(learning_rate=10.0), Recipe(learning_rate=0.1)
GAIN = paired_interval([0.5, 0.51, 0.52])
KEPT = Trial(
    "a hundredth of the learning rate",
    "dead ReLUs",
    BEFORE.difference(AFTER),
    0.5,
    GAIN,
    GAIN,
    "kept",
)
REJECTED = Trial(
    "batch norm", "dead ReLUs", "norm: none → batch", 0.0, outcome="+0.000 in one pair"
)


def treatment(**changed):
    told = {
        "recipe": BEFORE, "treated": AFTER, "findings": (LARGE, DEAD), "accepted": (KEPT,),
        "rejected": (REJECTED,), "gain": GAIN, "left": (), "trainings": 14.5, "budget": 40.0,
        "seconds": 2.0, "measure": "R² on 20 rows",
    }  # fmt: skip
    return Treatment(**{**told, **changed})


def test_it_prints_what_a_reader_needs():
    assert (
        str(treatment())
        == """\
TREATED  dead ReLUs
  evidence  evidence of dead ReLUs
  remedy    a hundredth of the learning rate
            learning_rate: 10.0 → 0.1
  gain      +0.510 [+0.485, +0.535], 3 pairs
  confirmed +0.510 [+0.485, +0.535], 3 pairs
  rejected  batch norm: +0.000 in one pair
  measure   R² on 20 rows
  cost      14.5 of 40 trainings, 2 remedies tried, 2.0 s"""
    )


def test_the_fault_is_the_one_whose_remedy_helped():
    assert treatment().fault is DEAD
    none = treatment(accepted=(), treated=BEFORE, gain=None)
    assert none.fault is LARGE
    assert not none.is_treated
    assert str(none).startswith("NO REMEDY PROVED  learning rate too large")
    assert none.difference == "no difference"


def test_nothing_found():
    text = str(treatment(findings=(), accepted=(), rejected=(), treated=BEFORE, gain=None))
    assert text.startswith("NOTHING FOUND  no remedy was tried")
    assert treatment(findings=(), accepted=()).fault is None


def test_several_changes_are_judged_together_too():
    text = str(treatment(accepted=(KEPT, KEPT), left=(LARGE,), gain=paired_interval([0.9])))
    assert "together  +0.900 in 1 pair" in text
    assert "left      learning rate too large" in text


def test_it_is_plain_values():
    record = json.loads(json.dumps(treatment().to_dict()))
    assert record["fault"] == "dead ReLUs"
    assert record["difference"] == ["learning_rate: 10.0 → 0.1"]
    assert record["accepted"][0]["confirmation"]["low"] == pytest.approx(GAIN.low)
    assert record["rejected"][0]["proof"] is None
    assert Recipe.from_toml(record["treated"]) == AFTER


def test_judged_leaves_the_rest():
    assert judged(REJECTED, "kept", proof=GAIN).remedy == "batch norm"
    assert judged(REJECTED, "kept", proof=GAIN).proof is GAIN
