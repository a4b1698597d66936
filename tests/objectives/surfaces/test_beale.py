import numpy as np
import pytest

from thalweg.objectives.surfaces import Beale

F = Beale()


def test_by_hand():
    # x = 1, y = 1: every residual is its constant, and only ∂r/∂y = kx differs from zero.
    assert F.value([1.0, 1.0]) == 1.5**2 + 2.25**2 + 2.625**2
    np.testing.assert_array_equal(
        F.gradient([1.0, 1.0]), [0.0, 2 * (1.5 * 1 + 2.25 * 2 + 2.625 * 3)]
    )


def test_equals_the_written_out_formula():
    x, y = 0.7, -1.3
    formula = (1.5 - x + x * y) ** 2 + (2.25 - x + x * y**2) ** 2 + (2.625 - x + x * y**3) ** 2
    assert F.value([x, y]) == pytest.approx(formula)


def test_minimum():
    assert F.minimum == 0.0
    np.testing.assert_array_equal(F.gradient([3.0, 0.5]), 0.0)
    H = np.array([F.hessian_vector([3.0, 0.5], e) for e in np.eye(2)])
    assert np.linalg.eigvalsh(H).min() > 0
