import math

import pytest

from drawings import parsed
from thalweg.reports.markup import (
    GOOD,
    STACKS,
    Markup,
    badge,
    element,
    facts,
    folded,
    html,
    html_table,
    joined,
    number,
    section,
    to_copy,
    to_save,
)

NASTY = "<b>\"&'"


def test_text_is_escaped_once_and_markup_is_not():
    assert html(NASTY) == "&lt;b&gt;&quot;&amp;&#x27;"
    assert html(html(NASTY)) == html(NASTY)
    assert element("p", element("b", "1 < 2")) == "<p><b>1 &lt; 2</b></p>"
    assert element("p", "x", class_="a", data_head='"', title="") == (
        '<p class="a" data-head="&quot;">x</p>'
    )


@pytest.mark.parametrize(
    "piece",
    [
        html_table(NASTY, (NASTY, NASTY), [(NASTY, NASTY)], numbers=(1,), kind=STACKS),
        facts([(NASTY, NASTY), ("empty", ""), ("none", None)]),
        badge(NASTY, GOOD),
        folded(NASTY, to_copy("x")),
        to_save(NASTY + "\nμ", "a.csv", "text/csv", NASTY),
        section("one", NASTY, [element("p", NASTY)]),
        element("div", to_copy(NASTY, NASTY)),
    ],
)
def test_every_piece_is_well_formed_and_keeps_its_words(piece):
    root = parsed(piece)
    assert NASTY in "".join(root.itertext())
    assert "b" not in {each.tag for each in root.iter()}


def test_a_table_by_hand():
    found = html_table("c", ("a", "b"), [("x", 1)], numbers=(1,))
    assert found == (
        "<table><caption>c</caption>"
        '<thead><tr><th scope="col">a</th><th scope="col" class="n">b</th></tr></thead>'
        '<tbody><tr><th scope="row">x</th><td class="n">1</td></tr></tbody></table>'
    )


def test_a_table_that_stacks_tells_heads_of_numbers_but_not_of_badges():
    found = html_table("c", ("a", "b", "d"), [("x", 1, badge("holds", GOOD))], kind=STACKS)
    assert found.startswith('<table class="stacks">')
    assert 'data-head="b"' in found
    assert 'data-head="d"' not in found


def test_facts_without_content_are_left_out():
    assert facts([("a", ""), ("b", None)]) == ""
    assert facts([("a", 0)]).count("<dt>") == 1


def test_a_badge_tells_by_a_sign_too():
    assert "✓" in badge("holds", GOOD)


def test_a_saved_file_comes_back():
    from urllib.parse import unquote

    link = parsed(to_save('a,"μ"\n<&>', "a.csv", "text/csv", "CSV"))
    assert link.get("download") == "a.csv"
    kind, _, content = link.get("href").partition(",")
    assert kind == "data:text/csv;charset=utf-8"
    assert unquote(content) == 'a,"μ"\n<&>'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"), (12345.0, "12,345"), (0.000123456, "0.000123"), (-2.5, "−2.5"), (1e9, "1e+09"),
        (None, "—"), (math.nan, "—"), (math.inf, "∞"), (-math.inf, "−∞"),
    ],
)  # fmt: skip
def test_numbers_have_three_digits(value, text):
    assert number(value) == text


def test_joined_is_markup():
    assert isinstance(joined([Markup("a"), Markup("b")], " "), Markup)
