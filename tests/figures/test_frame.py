import numpy as np
import pytest

from thalweg.figures.frame import Frame, spans
from thalweg.figures.spec import Axis, Bars, Curve, Guide, Heatmap, Histogram, Panel

FRAME = Frame(10.0, 20.0, 110.0, 70.0, (0.0, 10.0), (1.0, 100.0), "linear", "log")


def test_places_by_hand():
    assert FRAME.across(5.0) == 60.0
    assert FRAME.down(10.0) == 45.0
    assert np.isnan(FRAME.down(np.array([0.0, -1.0, np.nan, np.inf]))).all()


def test_a_line_is_cut_at_the_edge():
    # y falls from 1000, above the box, to 10: it enters at 100, halfway.
    (piece,) = FRAME.lines(np.array([0.0, 10.0]), np.array([1000.0, 10.0]))
    assert piece.tolist() == [[60.0, 20.0], [110.0, 45.0]]


def test_a_line_breaks_where_a_number_is_missing_or_outside():
    x = np.arange(7.0)
    y = np.array([10.0, 20.0, np.nan, 10.0, 20.0, 1e9, 10.0])
    pieces = FRAME.lines(x, y)
    assert [len(piece) for piece in pieces] == [2, 3, 2]
    assert FRAME.lines(x, np.full(7, 1e9)) == []
    assert len(FRAME.lines(np.array([1.0]), np.array([10.0]))) == 1
    assert FRAME.lines(np.array([1.0]), np.array([1e4])) == []
    assert FRAME.lines(np.empty(0), np.empty(0)) == []


def test_every_piece_is_inside():
    rng = np.random.default_rng(0)
    x, y = rng.normal(5, 8, 3000), 10.0 ** rng.normal(1, 2, 3000)
    points = np.concatenate(FRAME.lines(x, y))
    assert points[:, 0].min() >= 10.0
    assert points[:, 0].max() <= 110.0
    assert points[:, 1].min() >= 20.0
    assert points[:, 1].max() <= 70.0
    inside = (x >= 0) & (x <= 10) & (y >= 1) & (y <= 100)
    assert len(points) >= inside.sum()


def test_ranges_hold_all_marks():
    panel = Panel(
        Axis("x"), Axis("y", "log"), (Curve("a", [0, 1], [1.0, 10.0]), Guide("tol", 1e-4))
    )
    (left, right), (low, high) = spans(panel)
    assert left < 0 < 1 < right
    assert low < 1e-4 < 10 < high


def test_a_line_that_does_not_decide_does_not_stretch():
    small, large = Curve("a", [0, 1], [0, 1]), Curve("b", [0, 99], [0, 99], decides_range=False)
    for ends in spans(Panel(Axis("x"), Axis("y"), (small, large))):
        assert ends == pytest.approx((-0.04, 1.04))


def test_rows_count_from_the_top():
    bars = Panel(Axis("x"), Axis("", categories=("a", "b")), (Bars("n", [0, 1], [1, 2]),))
    assert spans(bars)[1] == (1.5, -0.5)
    heat = Panel(Axis("x"), Axis(""), (Heatmap("n", np.zeros((3, 4))),))
    assert spans(heat) == ((-0.5, 3.5), (2.5, -0.5))
    steps = Panel(Axis("x"), Axis("y"), (Histogram("n", [0, 1, 2], [5, 7]),))
    assert spans(steps)[1][0] < 0 < 7 < spans(steps)[1][1]
