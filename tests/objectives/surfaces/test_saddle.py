import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.objectives.surfaces import Saddle


def test_by_hand():
    f = Saddle()
    assert f.value([3.0, 1.0]) == 4.0  # (9 − 1)/2
    np.testing.assert_array_equal(f.gradient([3.0, 1.0]), [3.0, -1.0])
    np.testing.assert_array_equal(f.gradient([0.0, 0.0]), 0.0)


def test_descent_is_drawn_in_before_it_escapes():
    # η = 0.1: x shrinks by 0.9 a step, y grows by 1.1, so ‖∇f‖ falls, dwells near zero and rises.
    f = Saddle()
    w = f.start
    norms = []
    for _ in range(120):
        norms.append(np.linalg.norm(f.gradient(w)))
        w = w - 0.1 * f.gradient(w)
    nearest = int(np.argmin(norms))
    assert 20 < nearest < 60
    assert norms[nearest] < 0.1 * norms[0]
    assert norms[-1] > 1.0
    assert f.value(w) < -10


def test_there_is_no_minimum():
    f = Saddle((1.0, 2.0, -3.0))
    assert f.minimizer is None
    assert (f.dim, f.smoothness, f.strong_convexity) == (3, 3.0, None)


@pytest.mark.parametrize("curvatures", [(1.0, 2.0), (-1.0,), (1.0, 0.0)])
def test_needs_both_signs(curvatures):
    with pytest.raises(InputError, match="without both there is no saddle, use Quadratic"):
        Saddle(curvatures)
