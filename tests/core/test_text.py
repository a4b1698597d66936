import csv
import io
import json
from html import unescape
from xml.etree import ElementTree

import pytest

from thalweg.core.errors import InputError
from thalweg.core.text import LONGEST, cell, escaped, in_json, one_line, sentence, shown

HOSTILE = [
    "\x1b[31mred", "\x1b]0;title\x07", "\x9b2J", "a\u202eb", "\u2066x\u2069", "\u200bx", "\ufeffx",
    "a\rb", "\x00", "\ud800", "\U000e0041", "\u2028", "\x7f",
]  # fmt: skip
PLAIN = ["", "abc", "Köln ≤ 3", "日本", "nul\u200cja", "a\u00a0b", "back\\slash", "👩\u200d🔬"]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_unseen_is_left_and_something_is_seen(text):
    found = shown(text)
    assert found.isprintable()
    assert "\\" in found
    assert shown(found) == found


@pytest.mark.parametrize("text", PLAIN)
def test_what_people_write_is_left_alone(text):
    assert shown(text) == text
    assert in_json(text) == text
    assert cell(text) == text


def test_line_ends_are_kept_where_lines_are():
    assert shown("a\n\tb") == "a\\n\\tb"
    assert shown("a\n\tb", lines=True) == "a\n\tb"


def test_what_others_say_is_one_line_and_ends():
    assert one_line(ValueError("a\n  b\x1b[31m")) == "a b\\x1b[31m"
    assert one_line("x" * 300) == "x" * 200 + "…"


def test_a_sentence_keeps_both_ends_and_an_error_is_one():
    long = "begins " + "x" * 5000 + " ends"
    found = sentence(long)
    assert found.startswith("begins ")
    assert found.endswith(" ends")
    assert len(found) <= LONGEST
    assert str(InputError("a\x1b[2J\nb")) == "a\\x1b[2J\\nb"


@pytest.mark.parametrize("text", [*HOSTILE, *PLAIN, "<script>alert(1)</script>", "a\"b'&c"])
def test_html_is_xml_and_holds_the_text(text):
    found = ElementTree.fromstring(f"<p title='{escaped(text)}'>{escaped(text)}</p>")
    assert found.text == found.get("title") if text else found.text is None
    assert (found.text or "") == shown(text, lines=True)
    assert "<" not in escaped(text)
    assert unescape(escaped(text)) == shown(text, lines=True)


@pytest.mark.parametrize("text", [*HOSTILE, *PLAIN])
def test_json_says_the_same(text):
    written = in_json(json.dumps({text: [text]}, ensure_ascii=False))
    assert json.loads(written) == {text: [text]}
    assert shown(written) == written


@pytest.mark.parametrize(
    "text",
    [
        "=1+1|cmd",
        "+A1",
        "-A1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        " =1",
        "＝1",
        "-1+cmd",
        "=",
        "-",
    ],
)
def test_no_spreadsheet_computes_a_name(text):
    (row,) = csv.reader(io.StringIO(cell(text)))
    assert row[0][0] in "'\\"
    (raw,) = csv.reader(io.StringIO(cell(text, raw=True), newline=""))
    assert raw == [text]


@pytest.mark.parametrize("text", ["-1.5", "+2", "-1e-7", "-.5", "-inf", "+3.", "1"])
def test_numbers_stay_numbers(text):
    assert cell(text) == text


@pytest.mark.parametrize("text", ["a;=1", 'say "so"', "a,b", "two\nlines"])
def test_a_name_stays_in_its_field_whatever_separates(text):
    assert cell(text).startswith('"')
    (row,) = csv.reader(io.StringIO(cell(text)))
    assert row == [text]
