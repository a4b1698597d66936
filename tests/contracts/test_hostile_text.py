"""Names out of files, hostile ones: no terminal obeys them, no browser, no spreadsheet.

One file of data has ANSI and OSC codes, bidirectional marks, formulas and HTML in its own name, in
names of columns and in names of classes; every verb, page and file that tells them is looked at.
"""

import csv
import io
import json
import re

import numpy as np
import pytest

from command import answer, thalweg
from drawings import parsed
from laboratory import LAB, result
from thalweg.core.certificate import Certificate
from thalweg.core.errors import InputError
from thalweg.core.finding import Finding, Severity
from thalweg.core.plan import Plan, PlanRow
from thalweg.core.text import shown
from thalweg.labbook.page import page
from thalweg.labbook.result import Sheet
from thalweg.labbook.ruling import Check

ANSI, OSC, BIDI = "\x1b[31mred\x1b[8m", "\x1b]0;owned\x1b\\", "gpj\u202eexe.\u2066"
FORMULA, HTML, C1 = "=1+1|cmd", "<img src=x onerror=alert(1)>", "\x9b2J"
HOSTILE = [ANSI, OSC, BIDI, FORMULA, HTML, C1]
CLASSES = [f"={ANSI}", f"+{BIDI}", f"{HTML}{OSC}"]
TARGET = f"@{HTML}{OSC}"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The data and a run on them."""
    place = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(0)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([*HOSTILE, "kind", TARGET])
    for k in range(60):
        words = ["u", OSC][k % 2], CLASSES[k % 3]
        writer.writerow([*(f"{x:.3f}" for x in rng.normal(size=6) + k % 3), *words])
    file = place / f"{ANSI}{BIDI}.csv"
    file.write_text(out.getvalue())
    done = thalweg("train", file, "--target", TARGET, "--out", place / "runs" / "one")
    assert done.exit_code == 0, done.output
    return place, file, done


def is_clean(text):
    return shown(text, lines=True) == text


VERBS = {
    "plan": lambda place, file: ["plan", file, "--target", TARGET],
    "predict": lambda place, file: ["predict", place / "runs" / "one", file],
    "certify": lambda place, file: ["certify", place / "runs" / "one"],
    "diagnose": lambda place, file: ["diagnose", file, "--target", TARGET],
    "report": lambda place, file: ["report", place / "runs" / "one"],
    "runs": lambda place, file: ["runs", place / "runs"],
}  # fmt: skip


def test_training_tells_them_without_a_code(place):
    _, _, done = place
    assert is_clean(done.stdout + done.stderr)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("as_json", [False, True])
def test_every_verb(place, verb, as_json):
    folder, file, _ = place
    arguments = VERBS[verb](folder, file)
    done = thalweg(*arguments, *(["--json"] if as_json else []))
    assert done.exit_code in (0, 3), done.output
    assert is_clean(done.stdout + done.stderr)
    if as_json:
        json.loads(done.stdout)


def test_json_has_the_names_as_they_are(place):
    folder, file, _ = place
    found = answer("predict", folder / "runs" / "one", file)
    assert sorted(found["classes"]) == sorted(CLASSES)
    assert found["target"] == TARGET


@pytest.mark.parametrize(
    "arguments", [["plan", HOSTILE[0]], [ANSI], ["plan", "@iris", f"--{ANSI}"],
                  ["plan", "@iris", "--loss", OSC], ["plan", "@iris", "-m", BIDI],
                  ["plan", "@iris", "--target", ANSI], ["runs", "--config", OSC]]
)  # fmt: skip
def test_errors_repeat_what_was_typed_without_a_code(arguments):
    done = thalweg(*arguments)
    assert done.exit_code == 2
    assert is_clean(done.stderr)
    assert len(done.stderr.splitlines()) == 1


def test_no_spreadsheet_computes_a_prediction(place):
    folder, file, _ = place
    rows = list(csv.reader(io.StringIO(thalweg(*VERBS["predict"](folder, file)).stdout)))
    assert rows[0][0].startswith("'@")
    for row in rows[1:]:
        assert row[0][0] not in "=+-@\t\r"
        assert all(0.0 <= float(cell) <= 1.0 for cell in row[1:])
    assert {row[0][0] for row in rows[1:]} == {"'", "<"}


def test_raw_leaves_them(place, tmp_path):
    folder, file, _ = place
    thalweg(*VERBS["predict"](folder, file), "--raw", "--out", tmp_path / "p.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "p.csv").read_bytes().decode(), newline="")))
    assert rows[0][0] == TARGET
    assert {row[0] for row in rows[1:]} == set(CLASSES)


def page_is_safe(html):
    assert is_clean(html)
    body = re.sub(r"<script>.*?</script>|<style>.*?</style>", "", html, flags=re.S)
    assert "img" not in {each.tag for each in parsed(body.partition("\n")[2]).iter()}
    assert "<img" not in body


def test_the_report_shows_them_and_runs_nothing(place):
    folder, _, _ = place
    html = (folder / "runs" / "one" / "report.html").read_text()
    page_is_safe(html)
    assert "\\x1b[31mred" in html


def test_the_lab_book_too():
    text = ANSI + OSC + BIDI + HTML
    whole = page(
        LAB,
        result(name="halving", tables=[Sheet(text, (text, "b"), ((text, 1.0),))],
               checks=[Check(text, True, text)]),
        before=text, after=text,
    )  # fmt: skip
    page_is_safe(whole)
    assert "\\x1b[31mred" in whole


def test_files_of_the_run_can_be_printed(place):
    folder, _, _ = place
    for file in (folder / "runs" / "one").glob("*.json"):
        assert is_clean(file.read_text())


@pytest.mark.parametrize(
    "record",
    [
        InputError(ANSI + OSC),
        Finding(ANSI, Severity.WARN, OSC, 1.0, 2.0, BIDI, C1, ANSI),
        Certificate(ANSI, False, 1.0, 2.0, OSC, BIDI, C1),
        Plan(ANSI, 1.0, 1.0, {}, (PlanRow(OSC, True, BIDI), PlanRow("b", False, C1)), 0.1, ANSI),
    ],
    ids=lambda each: type(each).__name__,
)
def test_records_in_a_shell_of_python(record):
    assert is_clean(str(record) if isinstance(record, InputError) else f"{record!s}")
    if hasattr(record, "_repr_html_"):
        assert is_clean(record._repr_html_())
