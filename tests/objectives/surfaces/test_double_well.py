import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.objectives.surfaces import DoubleWell


def test_by_hand():
    # (4 − 1)² + 0.3·2 + ½·1·9 = 14.1; gradient (4·2·3 + 0.3, 3)
    f = DoubleWell()
    assert f.value([2.0, 3.0]) == pytest.approx(14.1)
    np.testing.assert_allclose(f.gradient([2.0, 3.0]), [24.3, 3.0])


@pytest.mark.parametrize("tilt", [-1.5, -0.3, 0.0, 0.01, 0.3, 1.5])
def test_roots_are_those_of_the_cubic(tilt):
    f = DoubleWell(tilt=tilt)
    left, barrier, right = np.sort(np.roots([4.0, 0.0, -4.0, tilt]).real)
    assert sorted(f.minimizers[:, 0]) == pytest.approx([left, right], abs=1e-9)
    assert f.barrier[0] == pytest.approx(barrier, abs=1e-9)


@pytest.mark.parametrize("tilt", [-0.7, 0.3, 1.2])
def test_one_well_is_deeper(tilt):
    f = DoubleWell(tilt=tilt, dim=3)
    deep, shallow = f.minimizers
    assert deep[0] * tilt < 0 < shallow[0] * tilt
    assert f.value(deep) < f.value(shallow) < f.value(f.barrier)
    for w in (deep, shallow, f.barrier):
        np.testing.assert_allclose(f.gradient(w), 0.0, atol=1e-14)
    np.testing.assert_array_equal(f.minimizer, deep)


def test_level_wells():
    f = DoubleWell(tilt=0.0, dim=1)
    np.testing.assert_allclose(f.minimizers, [[-1.0], [1.0]], atol=1e-15)
    np.testing.assert_allclose(f.barrier, 0.0, atol=1e-15)


def test_start_leads_plain_descent_to_the_shallow_well():
    f = DoubleWell()
    w = f.start
    for _ in range(500):
        w = w - 0.02 * f.gradient(w)
    np.testing.assert_allclose(w, f.minimizers[1], atol=1e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tilt": 1.6}, "a steeper one leaves a single well"),
        ({"curvature": 0.0}, "curvature must be above 0"),
        ({"dim": 0}, "dim must be a whole number, at least 1"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InputError, match=message):
        DoubleWell(**arguments)
