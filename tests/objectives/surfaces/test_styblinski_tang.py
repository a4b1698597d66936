import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.objectives.surfaces import StyblinskiTang


def test_by_hand():
    # ½(1 − 16 + 5) + ½(16 − 64 − 10) = −5 − 29
    f = StyblinskiTang()
    assert f.value([1.0, -2.0]) == -34.0
    np.testing.assert_array_equal(f.gradient([1.0, -2.0]), [-11.5, 18.5])


@pytest.mark.parametrize("dim", [1, 2, 10])
def test_minimum(dim):
    f = StyblinskiTang(dim)
    np.testing.assert_allclose(f.minimizer, -2.903534027771177, rtol=1e-15)
    assert f.minimum == pytest.approx(-39.16616570377142 * dim, rel=1e-15)


def test_minimizer_is_the_least_root_of_the_cubic():
    roots = np.sort(np.roots([2.0, 0.0, -16.0, 2.5]))
    assert StyblinskiTang(1).minimizer[0] == pytest.approx(roots[0], rel=1e-14)
    values = [StyblinskiTang(1).value([x]) for x in roots]
    assert values[0] == min(values)


def test_start_leads_plain_descent_to_a_worse_minimum():
    f = StyblinskiTang()
    w = f.start
    for _ in range(500):
        w = w - 0.01 * f.gradient(w)
    np.testing.assert_allclose(f.gradient(w), 0.0, atol=1e-9)
    assert f.minimum + 10 < f.value(w)


def test_refusals():
    with pytest.raises(InputError, match="dim must be a whole number, at least 1, got 0"):
        StyblinskiTang(0)
