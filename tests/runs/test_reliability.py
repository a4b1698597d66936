from statistics import NormalDist

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import confusion_matrix

from thalweg.runs.reliability import Z, calibration, confusion, residuals, wilson


def test_confusion_is_scikit_learns_without_unknown_classes():
    rng = np.random.default_rng(0)
    y, told = rng.integers(0, 3, (2, 200))
    assert np.array_equal(confusion(y, told, 3), confusion_matrix(y, told))
    y[:50] = -1
    assert np.array_equal(confusion(y, told, 3), confusion_matrix(y[50:], told[50:]))
    assert confusion(y, told, 4)[3] == (0, 0, 0, 0)


def test_calibration_is_scikit_learns_with_counts():
    rng = np.random.default_rng(1)
    p = rng.random(1000) ** 2
    y = rng.random(1000) < p
    share, told = calibration_curve(y, p, n_bins=10)
    found = calibration(p, y)
    assert [each.middle for each in found] == pytest.approx(share.tolist())
    assert [each.told for each in found] == pytest.approx(told.tolist())
    assert sum(each.rows for each in found) == 1000
    assert calibration(np.array([1.0]), np.array([True]))[0].rows == 1


def test_the_interval_covers_as_often_as_it_says():
    assert pytest.approx(NormalDist().inv_cdf(0.975), abs=1e-6) == Z
    rng = np.random.default_rng(2)
    inside = []
    for k in rng.binomial(80, 0.3, 4000):
        low, middle, high = wilson(k / 80, 80)
        assert 0.0 <= low <= middle <= high <= 1.0
        inside.append(low <= 0.3 <= high)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.015)


def test_residuals_by_rising_prediction():
    told = np.arange(200.0)[::-1]
    y = told + np.where(np.arange(200) % 2, 1.0, -1.0)
    y[0] = np.nan
    found = residuals(y, told)
    assert sum(each.rows for each in found) == 199
    assert [each.told for each in found] == sorted(each.told for each in found)
    assert len(found) == 19
    assert all((each.low, each.high) == (-1.0, 1.0) for each in found)
    assert residuals(np.array([np.nan]), np.array([1.0])) == ()
    assert len(residuals(np.zeros(5), np.arange(5.0))) == 1
