import numpy as np
import pytest

import thalweg as tw
from thalweg.certificates.stationarity import gap, limit, norm, stationarity


def test_limit_and_norm_by_hand():
    assert norm(np.array([1.0, -3.0, 2.0])) == 3.0
    assert limit(np.array([0.5]), 1e-3) == 1e-3
    assert limit(np.array([-20.0]), 1e-3) == 2e-2


def test_the_gap_is_exact_where_the_minimum_is_known():
    surface = tw.surfaces.Rosenbrock()
    assert gap(surface, 4.0, np.zeros(2)) == 4.0


def test_under_strong_convexity_the_gradient_bounds_the_gap():
    surface = tw.surfaces.Quadratic((1.0, 10.0))
    objective = tw.Objective(surface.value, surface.gradient, strong_convexity=1.0, dim=2)
    for w in np.random.default_rng(0).standard_normal((100, 2)):
        bound = gap(objective, surface.value(w), surface.gradient(w))
        assert bound >= surface.value(w)
    # Tight along the flattest direction: ‖(1, 0)‖²/2 = f.
    assert gap(objective, 0.5, np.array([1.0, 0.0])) == 0.5


def test_without_either_there_is_no_gap():
    objective = tw.Objective(lambda w: float(w @ w))
    assert gap(objective, 1.0, np.ones(2)) is None
    assert gap(tw.Regularized(tw.surfaces.Quadratic(), l1=1.0), 1.0, np.ones(2)) is None


@pytest.mark.parametrize(("size", "holds"), [(0.9, True), (1.0, True), (1.1, False)])
def test_what_it_shows_and_what_it_does_not(size, holds):
    objective = tw.Objective(lambda w: float(w @ w))
    certificate = stationarity(objective, 0.0, np.array([0.0, -size]), allowed=1.0, tol=0.5)
    assert certificate.holds is holds
    assert certificate.measured == size
    assert ("≤" if holds else ">") in certificate.statement
    assert ("classify" in certificate.does_not_show) is holds


def test_a_nan_gradient_does_not_hold():
    certificate = stationarity(tw.surfaces.Rosenbrock(), 0.0, np.array([np.nan, 0.0]), 1.0, 1.0)
    assert not certificate.holds


def test_with_a_penalty_it_is_the_gradient_mapping():
    composite = tw.Regularized(tw.surfaces.Quadratic(), l1=1.0)
    assert "mapping" in stationarity(composite, 0.0, np.zeros(2), 1.0, 1.0).statement


def test_a_minimum_that_is_undercut_bounds_nothing():
    wrong = tw.Objective(lambda w: w @ w, lambda w: 2 * w, minimum=5.0)
    assert gap(wrong, 1.0, np.array([1.0])) is None
    assert gap(wrong, 5.0 - 1e-9, np.array([1.0])) == 0.0  # rounding
