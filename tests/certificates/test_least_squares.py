import numpy as np
import pytest

import thalweg as tw
from thalweg.certificates.duality import duality_gap
from thalweg.certificates.least_squares import primal_and_bound

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 6)) * 10.0 ** np.arange(-2, 4)
Y = X @ RNG.standard_normal(6) + RNG.standard_normal(80) + 7.0


def problem(**options):
    return tw.LinearProblem(X, Y, **options)


def test_by_hand():
    # ½·½(w − 2)²·2 + ½w²: from w = 0, θ = −2 and g = −2, A = 4, D(t) = −2t² + 4t − 2t².
    data = tw.LinearProblem([[1.0], [1.0]], [2.0, 2.0], l2=1.0, fit_intercept=False)
    primal, _, bound = primal_and_bound(data, np.zeros(1))
    assert primal == pytest.approx(2.0)
    assert bound.value == pytest.approx(1.0, rel=1e-5)  # at t = ½, which is the optimum


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("penalties", [{"l2": 0.1}, {"l1": 0.3}, {"l1": 0.2, "l2": 0.1}])
def test_bounds_the_optimum_from_below_and_closes_at_it(fit_intercept, standardize, penalties):
    data = problem(fit_intercept=fit_intercept, standardize=standardize, **penalties)
    best = tw.minimize(data, "newton", tol=1e-12, progress=False)
    for scale in (0.0, 0.5, 0.99, 1.01, 3.0):
        primal, error, bound = primal_and_bound(data, scale * best.w)
        assert primal == pytest.approx(data.value(scale * best.w), rel=1e-9)
        assert bound.floor <= best.value + error
    primal, _, bound = primal_and_bound(data, best.w)
    assert primal - bound.value <= 1e-7 * primal


def test_the_gap_from_sums_is_that_of_a_look_at_the_data():
    data, other = problem(l2=0.1), problem(l2=0.1)
    w = tw.minimize(data, "newton", tol=1e-9, progress=False).w
    assert data.is_summed
    far = w + 1e-3 * np.abs(w)
    from_sums, by_passes = duality_gap(data, far), duality_gap(other, far)
    assert from_sums.passes == 0.0 < by_passes.passes
    assert from_sums.primal == pytest.approx(by_passes.primal, rel=1e-9)
    assert from_sums.gap <= by_passes.gap * (1 + 1e-6)


def test_a_gap_lost_in_rounding_is_looked_for_in_the_data():
    data = problem(l2=1e-3)
    w = tw.minimize(data, "newton", tol=1e-14, progress=False).w
    assert duality_gap(data, w).passes > 0.0
    assert duality_gap(data, w, enough=1.0).passes == 0.0
