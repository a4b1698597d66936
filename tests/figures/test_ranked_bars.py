import pytest

from thalweg.core.errors import InputError
from thalweg.figures.ranked_bars import MOST, ranked_bars, spelled
from thalweg.figures.svg import to_svg


def test_lengths_are_sizes_and_hues_are_signs():
    figure = ranked_bars("A", ["a", "b", "c"], [3.0, -2.0, 1.0], "size")
    (panel,) = figure.panels
    up, down = panel.marks
    assert (up.rows.tolist(), up.values.tolist()) == ([0.0, 2.0], [3.0, 1.0])
    assert (down.rows.tolist(), down.values.tolist()) == ([1.0], [2.0])
    assert up.style != down.style
    assert down.labels == ("−2",)
    assert panel.x.low == 0.0
    assert panel.y.categories == ("a", "b", "c")
    assert "b −2" in figure.summary
    assert "−2" in to_svg(figure)


def test_the_first_are_drawn_and_a_note_says_so():
    figure = ranked_bars("A", [str(k) for k in range(40)], list(range(40, 0, -1)), "size")
    assert len(figure.panels[0].y.categories) == MOST
    assert figure.notes == (f"showing {MOST} of 40",)
    assert len(figure.panels[0].marks) == 1


def test_nothing_to_draw():
    with pytest.raises(InputError, match="must have an entry"):
        ranked_bars("A", [], [], "size")


@pytest.mark.parametrize(
    ("value", "text"), [(-1234.5, "−1.23e+03"), (-1e-9, "−1e-09"), (0.5, "0.5")]
)
def test_three_digits(value, text):
    assert spelled(value) == text
