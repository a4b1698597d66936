from thalweg.core.card import BAD, GOOD, WIDTH, count_of, html_card, text_card


def test_text_has_the_verdict_first_and_no_empty_lines():
    assert text_card("CONVERGED", "gd on f", ["a", "", "b"]) == "CONVERGED  gd on f\n  a\n  b"


def test_long_lines_are_wrapped_and_lose_no_word():
    words = [f"word-{i}" for i in range(60)]
    card = text_card("STALLED", "f", [" ".join(words)])
    assert max(map(len, card.splitlines())) <= WIDTH
    assert card.split() == ["STALLED", "f", *words]
    assert all(line.startswith("    ") for line in card.splitlines()[2:])


def test_html_is_escaped_static_and_skips_empty_rows():
    page = html_card("DIVERGED", "<f> & g", [("why", "1 < 2"), ("empty", "")], tone=BAD)
    assert "&lt;f&gt; &amp; g" in page
    assert "1 &lt; 2" in page
    assert "empty" not in page
    assert "<script" not in page
    assert "http" not in page


def test_a_number_takes_the_right_noun():
    assert [count_of(n, "step") for n in (0, 1, 2)] == ["0 steps", "1 step", "2 steps"]


def test_tones_differ():
    assert html_card("A", "b", [], tone=GOOD) != html_card("A", "b", [], tone=BAD)
