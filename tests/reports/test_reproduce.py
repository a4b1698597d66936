import json

import numpy as np

from drawings import parsed, run_of
from thalweg.core.finding import Finding, Severity
from thalweg.reports.drawing import Detail
from thalweg.reports.reproduce import as_json, reproduce_section
from thalweg.reports.subject import Subject

FINDING = Finding("long step", Severity.ACT, "it is 3", 3.0, float("inf"))
MADE = {"python": "3.11", "thalweg": "0.1.0", "machine": "a laptop", "date": "2026-01-02T03:04"}


def test_everything_that_is_needed():
    run = run_of(options={"step": 0.5}, seed=7, environment=MADE)
    subject = Subject(
        (run,), command="thalweg train <x>", script="import thalweg", notes=("Be careful.",),
        settings={"l2": "1/n", "reading": {"a": "b" * 1000}},
    )  # fmt: skip
    page = reproduce_section(subject, Detail())
    codes = [code.text for code in parsed(page).iter("code")]
    assert codes == ["thalweg train <x>", "import thalweg", "step=0.5"]
    for text in ("7", "python 3.11, thalweg 0.1.0", "a laptop", "2026-01-02 03:04", "Be careful.",
                 "1/n"):  # fmt: skip
        assert text in page, text
    assert "b" * 400 not in page.partition("data:")[0]


def test_a_bare_run_has_at_least_a_seed_and_its_json():
    page = reproduce_section(Subject((run_of(seed=7),)), Detail())
    assert ">7<" in page
    assert 'download="report.json"' in page


def test_the_page_as_json():
    runs = (run_of("gd", [3, 2, 1]), run_of("adam", [3, 1]))
    found = json.loads(as_json(Subject(runs, findings=(FINDING,), settings={"x": np.float64(2)})))
    assert [run["method"] for run in found["runs"]] == ["adam", "gd"]
    assert found["runs"][0]["verdict"] == "CERTIFIED"
    assert found["runs"][0]["certificate"]["gap"] == 1e-6
    assert found["findings"][0]["severity"] == "ACT"
    assert found["findings"][0]["limit"] == {"number": "inf"}
    assert found["settings"] == {"x": 2.0}
