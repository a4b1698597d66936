import re

import pytest

from drawings import parsed
from laboratory import LAB, result
from thalweg.labbook.page import page
from thalweg.labbook.result import Sheet
from thalweg.labbook.ruling import Check, Ruling


@pytest.fixture(scope="module")
def whole():
    wide = Sheet("wide", tuple("abcdefg"), (("x<y", *range(6)),))
    return page(LAB, result(name="halving", tables=[wide]), before="gd-rate", after="svrg")


def test_it_says_what_is_claimed_measured_and_how_to_try_it(whole):
    for text in (
        LAB.claim, LAB.formula, "A, Somewhere", "PASS: holds", "thalweg lab halving",
        "thalweg lab halving --break factor", "steps that shrink to 0.9", "In ten lines",
    ):  # fmt: skip
        assert text in whole, text
    assert "<p>Each step halves the distance, so that after T of them it is</p>" in whole
    assert '<pre class="formula">2⁻ᵀ</pre>' in whole
    assert whole.count("<svg") == 2  # wide and narrow


def test_it_is_closed_where_it_was_opened_and_escapes(whole):
    body = re.sub(r"<script>.*?</script>|<style>.*?</style>", "", whole, flags=re.S)
    parsed(body.partition("\n")[2])
    assert "x&lt;y" in whole


def test_it_leads_to_its_neighbours_and_nowhere_else(whole):
    links = set(re.findall(r'href="([^"]*)"', whole))
    assert links == {"index.html", "gd-rate.html", "svrg.html"}
    assert "default-src &#x27;none&#x27;" in whole


def test_conditions_corrections_and_failures_are_said():
    with_condition = LAB.__class__(**{**vars(LAB), "condition": "The rate is small."})
    assert "It holds if the rate is small." in page(with_condition, result())
    corrected = LAB.__class__(**{**vars(LAB), "correction": "It is ½."})
    assert "Corrected: It is ½." in page(corrected, result())
    failed = result(checks=[Check("c", False, "m")])
    assert "FAIL: fails, expected: holds" in page(LAB, failed)
    written = [Check("w", False, "m", "as written"), Check("k", True, "m", "corrected")]
    told = page(LAB, result(checks=written, expected=Ruling.FAILS_AS_WRITTEN))
    assert "as the lecture has it" in told
    assert "badge bad" not in told  # what the lecture has wrong is no failure of the lab


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        (("gd", 1.0, "words that may go on in the next line"), "dense"),
        (("gd", 1.0, "oneverylongwordthatmaynotgoonanywhere"), "stacks"),
    ],
)
def test_a_table_too_wide_for_a_narrow_screen_becomes_a_list(row, kind):
    told = page(LAB, result(tables=[Sheet("t", ("name", "loss", "said"), (row,))]))
    assert f'<table class="{kind}">' in told


def test_numbers_and_fractions_are_not_broken_between_lines():
    told = page(LAB, result(tables=[Sheet("t", ("name", "to 1e-6", "L/μ"), (("gd", "1e-06", 2),))]))
    assert "to 1e−6" in told
    assert "1e−06" in told
    assert "L/\N{WORD JOINER}μ" in told


def test_a_list_of_numbers_may_go_on_in_the_next_line():
    told = page(LAB, result(tables=[Sheet("t", ("name", "both"), (("gd", "1, 2"),))]))
    assert 'class="n">1, 2' not in told
    assert ">1, 2</td>" in told
