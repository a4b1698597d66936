from drawings import parsed, run_of
from thalweg.core.finding import Finding, Severity
from thalweg.reports.drawing import Detail
from thalweg.reports.findings import MOST_NUMBERS, findings_of, findings_section
from thalweg.reports.subject import Subject

ACT = Finding("long step", Severity.ACT, "it is 3", 3.0, 2.0, "a cause", "step=1", "a theorem")
NOTE = Finding("flat", Severity.NOTE, "κ is 5", 5.0, 1.0)
WELL = Finding("scales", Severity.OK, "all alike", 1.0, 10.0)


def test_worst_first_and_each_once():
    subject = Subject((run_of(findings=(NOTE, ACT)),), findings=(WELL, ACT))
    assert findings_of(subject) == [ACT, NOTE, WELL]


def test_claim_cause_evidence_and_advice():
    page = findings_section(Subject((run_of(),), findings=(NOTE, ACT, WELL)), Detail())
    root = parsed(page)
    assert [
        "".join(heading.itertext()) for heading in root.iter("h3")
    ] == ["✕ act long step", "● note flat"]  # fmt: skip
    assert [code.text for code in root.iter("code")] == ["step=1"]
    for text in ("it is 3", "a cause", "a theorem", "all alike"):
        assert text in page, text


def test_evidence_is_told_in_words_and_not_too_much_of_it():
    evidence = {
        "L": 4.5, "which": "layer 3", "w": list(range(500)), "is full": True,
        "inflation": {f"column {k}": 10.0 * k for k in range(30)},
    }  # fmt: skip
    finding = Finding("a", Severity.WARN, "b", 1.0, 2.0, evidence=evidence)
    page = findings_section(Subject((run_of(),), findings=(finding,)), Detail())
    cells = [cell.text for cell in parsed(page).iter("td")]
    assert len(cells) == MOST_NUMBERS
    assert cells[:4] == ["1", "2", "4.5", "layer 3"]
    assert cells[4].startswith("0, 1, 2")
    assert cells[4].endswith("…")
    assert cells[5] == "True"
    assert f"and {2 + 4 + 30 - MOST_NUMBERS} more" in page


def test_nothing_found_is_no_section():
    assert findings_section(Subject((run_of(),)), Detail()) == ""
