import numpy as np
import pytest

import thalweg as tw
from thalweg.certificates.duality import duality_gap
from thalweg.certificates.small_gap import small_gap

LOSSES = ("squared", "logistic", "squared-hinge", "huber")
PENALTIES = ({"l2": 0.1}, {"l1": 0.1}, {"l1": 0.05, "l2": 0.1}, {"l1": 1e-4})


def problem(seed, loss, fit_intercept, penalties):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(5, 120)), int(rng.integers(1, 12))
    X = rng.standard_normal((n, p)) * 10.0 ** rng.uniform(-2, 2, p) + 10.0 ** rng.uniform(-2, 2, p)
    y = X @ rng.standard_normal(p) / 10.0 + rng.standard_normal(n)
    if loss in ("logistic", "squared-hinge"):
        y = y > np.quantile(y, 0.3)
    weights = rng.random(n) * (rng.random(n) < 0.9)
    weights[:2] = 1.0
    return tw.LinearProblem(
        X, y, loss, fit_intercept=fit_intercept, sample_weight=weights, **penalties
    ).centred


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("penalties", PENALTIES, ids=str)
@pytest.mark.parametrize("loss", LOSSES)
def test_it_is_the_gap_that_many_calls_make(loss, penalties, fit_intercept):
    for seed in range(6):
        asked = problem(seed, loss, fit_intercept, penalties)
        rng = np.random.default_rng(seed)
        for w in (np.zeros(asked.dim), 0.1 * rng.standard_normal(asked.dim)):
            mine = small_gap(asked, asked.features.dense, w)
            other = duality_gap(asked, w)
            within = mine.rounding + other.rounding
            assert abs(mine.primal - other.primal) <= within
            assert abs(mine.gap - other.gap) <= 2.0 * within
            # The same bounds, of entries that are small once the mean is off them.
            assert mine.rounding <= 1.5 * other.rounding


@pytest.mark.parametrize("loss", LOSSES)
def test_it_is_never_below_the_distance_to_the_optimum(loss):
    for seed in range(4):
        asked = problem(seed, loss, True, {"l2": 0.01})
        best = tw.minimize(asked, "newton", tol=1e-13, progress=False)
        rng = np.random.default_rng(seed)
        for size in (1e-1, 1e-4, 1e-8, 0.0):
            w = best.w + size * rng.standard_normal(asked.dim)
            found = small_gap(asked, asked.features.dense, w)
            assert found.gap >= found.primal - best.value
            assert found.rounding > 0.0


def test_at_scores_that_overflow_nothing_is_proved():
    asked = problem(0, "squared", True, {"l2": 0.1})
    found = small_gap(asked, asked.features.dense, np.full(asked.dim, 1e200))
    assert not found.gap <= 1e300
