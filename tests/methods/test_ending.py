import pytest

import thalweg as tw


@pytest.mark.parametrize(
    "objective",
    [
        tw.Regularized(tw.surfaces.Quadratic.conditioned(1e6, dim=20), l1=1e-6),
        tw.Regularized(tw.surfaces.Rosenbrock(), l1=0.1),
        tw.surfaces.Rosenbrock().noisy(0.1),
    ],
)
def test_no_method_is_advised_that_would_refuse_the_objective(objective):
    for step in (None, 1.0) if not hasattr(objective, "exact") else (1.0, 1e-4):
        run = tw.minimize(objective, tw.FISTA(step=step), tol=1e-12, max_iter=30)
        assert not run.converged
        assert "method=" not in run.reason, run.reason
