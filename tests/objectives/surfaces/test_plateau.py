import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.objectives.surfaces import Plateau


def test_by_hand():
    # ‖w‖² = 2 and s = 1: e = exp(−1)
    f = Plateau()
    assert f.value([1.0, 1.0]) == pytest.approx(1 - np.exp(-1))
    np.testing.assert_allclose(f.gradient([1.0, 1.0]), [np.exp(-1), np.exp(-1)])


def test_the_plain_says_nothing():
    f = Plateau(radius=2.0)
    assert np.linalg.norm(f.gradient(f.start)) == pytest.approx(4 * np.exp(-8.0) / 2.0)
    assert f.value(f.start) > 0.999


def test_digits_survive_at_the_bottom():
    assert Plateau(dim=1).value([1e-10]) == pytest.approx(0.5e-20, rel=1e-12)


def test_convex_within_its_radius_only():
    f = Plateau(radius=0.5, dim=1)
    assert f.hessian_vector([0.499], [1.0])[0] > 0 > f.hessian_vector([0.501], [1.0])[0]


def test_smoothness_is_reached():
    f = Plateau(radius=0.5)
    np.testing.assert_allclose(f.hessian_vector(np.zeros(2), [1.0, 0.0]), [f.smoothness, 0.0])


def test_descent_creeps_from_the_plain_and_arrives_from_the_basin():
    f = Plateau()
    far, near = f.start, 0.25 * f.start
    for _ in range(50):
        far, near = far - f.gradient(far), near - f.gradient(near)
    assert f.value(far) > 0.99
    assert f.value(near) < 1e-12


def test_refusals():
    with pytest.raises(InputError, match="radius must be above 0, got -1"):
        Plateau(radius=-1)
