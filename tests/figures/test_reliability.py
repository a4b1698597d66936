import numpy as np

from thalweg.core.explanation import Bin
from thalweg.figures.reliability import calibration, confusions, residuals
from thalweg.figures.spec import Band, Curve, Heatmap
from thalweg.figures.svg import to_svg

BINS = (Bin(10, 0.1, 0.0, 0.2, 0.4), Bin(5, 0.7, 0.5, 0.6, 0.9))


def test_calibration_stands_beside_the_line_of_what_was_told():
    figure = calibration(BINS, "yes")
    band, curve, line = figure.panels[0].marks
    assert isinstance(band, Band)
    assert (curve.x.tolist(), curve.y.tolist()) == ([0.1, 0.7], [0.2, 0.6])
    assert line.x.tolist() == line.y.tolist() == [0.0, 1.0]
    assert "told 0.10, came true 0.20" in figure.summary
    assert "<svg" in to_svg(figure)


def test_residuals():
    figure = residuals(BINS)
    band, curve, zero = figure.panels[0].marks
    assert band.low.tolist() == [0.0, 0.5]
    assert isinstance(curve, Curve)
    assert zero.at == 0.0
    assert "between 0.2 and 0.6" in figure.summary


def test_confusions_are_shares_of_the_true_class():
    figure = confusions(((8, 2), (0, 0)), ("a", "b"))
    (cells,) = figure.panels[0].marks
    assert isinstance(cells, Heatmap)
    assert np.array_equal(cells.values, [[0.8, 0.2], [0.0, 0.0]])
    assert figure.summary.startswith("80.0%")
