import numpy as np

from thalweg.figures.spec import Axis
from thalweg.figures.styles import THEORY, style_of
from thalweg.labbook.drawing import band, curve, figure, panel


def test_a_method_has_its_colour_everywhere():
    assert curve("sag", [0, 1], [1, 2]).style == style_of("sag")
    assert curve("with l1", [0, 1], [1, 2], "sag").style == style_of("sag")
    assert curve("measured", [0, 1], [1, 2], 1).style.hue == "blue"
    assert band("p", [0, 1], [0, 0], [1, 1], 2).style.hue == "vermilion"


def test_theory_is_broken_and_measured_is_not():
    assert curve("a bound", [0, 1], [1, 2], theory=True).style.dash == THEORY
    assert curve("something measured", [0, 1], [1, 2]).style.dash == ()
    assert curve("few", [0, 1], [1, 2], dots=True).style.shape


def test_long_curves_keep_their_extremes():
    y = np.zeros(20_000)
    y[12_345] = 7.0
    drawn = curve("long", np.arange(20_000), y)
    assert len(drawn.x) <= 500
    assert drawn.y.max() == 7.0
    assert drawn.x[[0, -1]].tolist() == [0, 19_999]


def test_long_curves_are_whole_on_either_axis():
    drawn = curve("long", np.arange(1, 20_001), np.zeros(20_000))
    assert drawn.x[:10].tolist() == list(range(1, 11))
    assert np.diff(drawn.x).max() <= 20_000 / 100


def test_axes_by_their_labels():
    made = panel("T", "gap", [], log="y")
    assert (made.x, made.y) == (Axis("T"), Axis("gap", "log"))
    own = Axis("rate", "log", low=1.0)
    assert panel(own, "gap", []).x is own
    drawn = figure("Title", made, "It falls.", "a note")
    assert (drawn.panels, drawn.notes) == ((made,), ("a note",))
    assert figure("Title", [made, made], "It falls.", columns=2).columns == 2
