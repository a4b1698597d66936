import numpy as np
import pytest

import thalweg as tw


@pytest.mark.parametrize("name", ["nesterov", "heavy-ball", "fista"])
def test_accelerated_methods_are_held_to_the_root_of_kappa(name):
    surface = tw.surfaces.Quadratic.conditioned(1e6, dim=20)
    method = tw.METHODS[name]()
    run = tw.minimize(surface, method, np.ones(20), max_iter=30, tol=1e-9)
    assert run.findings[0].measured == pytest.approx(1e6, rel=1e-4)
    if "allows" in run.reason:
        assert "√κ allows" in run.reason


def test_no_forecast_from_nothing():
    assert "rate" not in tw.minimize(tw.surfaces.Rosenbrock(), "gd", max_iter=0).reason
    assert "fall in" not in tw.minimize(tw.surfaces.Rosenbrock(), "gd", max_iter=0).reason


def test_circling_is_named_at_the_iteration_limit_too():
    run = tw.minimize(tw.surfaces.Rosenbrock(), "rmsprop")
    assert run.outcome is tw.Outcome.ITERATION_LIMIT
    assert "steps of about lr = 0.01 circle the minimum" in run.reason
