import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.figures.spec import Axis, Contour, Curve, Figure, Guide, Heatmap, Histogram


def test_marks_hold_arrays_of_their_own():
    x = [1, 2]
    curve = Curve("a", x, np.array([3.0, 4.0], np.float32))
    assert curve.x.dtype == curve.y.dtype == np.float64
    y = np.zeros(2)
    curve = Curve("a", x, y)
    y[0] = 7.0
    assert curve.y[0] == 0.0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Curve("a", [1, 2], [1]), "x must be a vector as long as the others, got x"),
        (lambda: Curve("a", ["p"], ["q"]), "x must hold real numbers"),
        (lambda: Histogram("a", [0, 1], [1, 2]), "edges must be one more than heights"),
        (lambda: Heatmap("a", [1.0]), "values must be a table of rows and columns"),
        (lambda: Heatmap("a", np.empty((0, 3))), "values must be a table of rows and columns"),
        (lambda: Contour([0, 1], [0, 1], np.zeros((2, 3)), [0]), r"values must be float\[2, 2\]"),
        (lambda: Axis("a", "square"), "scale must be a known name, got 'square'"),
        (lambda: Guide("a", 0.0, along="z"), "along must be a known name, got 'z'"),
        (lambda: Figure("a", (), ""), "a figure must have at least one panel"),
    ],
)
def test_bad_input_is_one_sentence(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()
