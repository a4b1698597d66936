import numpy as np

from thalweg.core.chosen import Chosen, Tried
from thalweg.figures.choice import choice
from thalweg.figures.spec import Band, Curve, Point


def of(pairs, index=0):
    points = tuple(Tried(str(l1), str(l2), (l1, l2), mean, error) for l1, l2, mean, error in pairs)
    return choice(Chosen("log loss", 5, "best", index, index, points))


def test_the_curve_and_its_error_by_hand():
    figure = of([(0.0, 1.0, 3.0, 0.5), (0.0, 0.1, 2.0, 0.25), (0.0, 0.01, 2.5, 0.5)], index=1)
    band, curve, point = figure.panels[0].marks
    assert (type(band), type(curve), type(point)) == (Band, Curve, Point)
    assert curve.x.tolist() == [0.01, 0.1, 1.0]
    assert curve.y.tolist() == [2.5, 2.0, 3.0]
    assert (band.high - band.low).tolist() == [1.0, 0.5, 1.0]
    assert (point.x, point.y) == (0.1, 2.0)
    assert figure.panels[0].x.scale == "log"


def test_each_l1_stands_with_its_best_l2():
    figure = of([(1.0, 1.0, 5.0, 0.1), (1.0, 2.0, 4.0, 0.1), (0.5, 1.0, 3.0, 0.1)], index=2)
    assert figure.panels[0].marks[1].y.tolist() == [3.0, 4.0]
    assert "each with its best l2" in figure.panels[0].x.label


def test_a_penalty_of_zero_has_a_place():
    figure = of([(0.0, 0.0, 5.0, 0.1), (0.0, 2.0, 4.0, 0.1)])
    assert figure.panels[0].x.scale == "linear"
    np.testing.assert_array_equal(figure.panels[0].marks[1].x, [0.0, 2.0])
