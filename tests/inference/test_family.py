import numpy as np
import pytest

from thalweg.inference.family import LOGISTIC, SQUARED, of_power

Z = np.linspace(-1.5, 1.5, 7)
LOSSES = [
    (SQUARED, lambda z, y: 0.5 * (z - y) ** 2),
    (LOGISTIC, lambda z, y: np.logaddexp(0.0, z) - y * z),
    (of_power(1.0), lambda z, y: np.exp(z) - y * z),
    (of_power(1.4), lambda z, y: np.exp(0.6 * z) / 0.6 + y * np.exp(-0.4 * z) / 0.4),
    (of_power(2.0), lambda z, y: z + y * np.exp(-z)),
]


@pytest.mark.parametrize(("family", "loss"), LOSSES)
@pytest.mark.parametrize("y", [0.0, 1.0])
def test_slopes_and_curvatures_are_those_of_the_loss(family, loss, y):
    h = 1e-4
    slope = (loss(Z + h, y) - loss(Z - h, y)) / (2.0 * h)
    curvature = (loss(Z + h, y) - 2.0 * loss(Z, y) + loss(Z - h, y)) / h**2
    np.testing.assert_allclose(family.slope(Z, y), slope, atol=1e-7)
    np.testing.assert_allclose(family.curvature(Z, y), curvature, atol=1e-5)


@pytest.mark.parametrize("family", [family for family, _ in LOSSES])
def test_information_is_the_mean_curvature_and_the_variance_of_the_slope(family):
    mean = family.mean(Z)
    # The curvature is linear in y, so that its mean is that at the mean.
    np.testing.assert_allclose(family.information(Z), family.curvature(Z, mean))
    np.testing.assert_allclose(family.slope(Z, mean), 0.0, atol=1e-15)
    by_target = family.slope(Z, mean + 1.0) - family.slope(Z, mean)
    np.testing.assert_allclose(by_target**2 * family.variance(Z), family.information(Z))


def test_what_has_a_dispersion():
    scaled = [family.is_scaled for family, _ in LOSSES]
    assert scaled == [True, False, False, True, True]
    assert [family.has_exact_spread for family, _ in LOSSES] == [True, False, False, False, False]
    assert of_power(0.0) == SQUARED
