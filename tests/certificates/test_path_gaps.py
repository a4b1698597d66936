"""Gaps at many points at once: those of the points one by one, and never below the truth."""

import numpy as np
import pytest

import thalweg as tw
from thalweg.certificates.least_squares import primal_and_bound
from thalweg.certificates.path_gaps import Residuals, path_gaps, residual_gaps

L1S, L2S = np.array([0.3, 0.1, 0.02]), np.array([0.0, 0.05, 0.0])


def problem(fit_intercept=True, standardize=False):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4)) * [1.0, 10.0, 0.1, 1.0] + 3.0
    y = X @ [1.0, 0.1, -3.0, 0.0] + rng.standard_normal(50)
    made = tw.LinearProblem(X, y, fit_intercept=fit_intercept, standardize=standardize)
    return made.centred


def points(made):
    """A point for each penalty, some way off the optimum, the intercept the best for it."""
    rng = np.random.default_rng(1)
    sums = made.least_squares
    H, q, _ = sums.reduced()
    W = np.linalg.solve(H, q) * (1.0 + 0.01 * rng.standard_normal((3, 4)))
    return sums, W, sums.best_intercepts(W)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_they_are_the_gaps_of_the_points_one_by_one(fit_intercept, standardize):
    made = problem(fit_intercept, standardize)
    sums, W, b = points(made)
    gaps, slopes = path_gaps(sums, made.n, W, W, L1S, L2S, np.zeros(3))
    for k, gap in enumerate(gaps):
        alone = made.replaced(l1=L1S[k], l2=L2S[k])
        w = alone.features.join(W[k], b[k])
        primal, _, bound = primal_and_bound(alone, w)
        assert gap.primal == pytest.approx(primal, rel=1e-12)
        assert gap.primal == pytest.approx(alone.value(w), rel=1e-12)
        if L2S[k] == 0.0:  # there t is the best one; golden sections come near it
            assert gap.dual >= bound.value - 1e-9 * abs(bound.value)
        best = tw.minimize(alone, "newton", tol=1e-12).value
        assert gap.dual <= best * (1 + 1e-12) <= gap.primal * (1 + 1e-12)
        np.testing.assert_allclose(slopes[k], alone.smooth.gradient(w)[:4] - L2S[k] * W[k])


def test_a_rounded_point_is_proved_by_the_slopes_from_before():
    made = problem()
    sums, _, _ = points(made)
    H, q, _ = sums.reduced()
    l1s = np.array([1e-6])
    U = np.linalg.solve(H, q - l1s * np.sign(np.linalg.solve(H, q)))[None]
    W = U.astype(np.float32).astype(np.float64)
    (ours,), _ = path_gaps(sums, made.n, W, U, l1s, np.zeros(1), np.zeros(1))
    (own,), _ = path_gaps(sums, made.n, W, W, l1s, np.zeros(1), np.zeros(1))
    assert ours.primal == own.primal
    assert ours.gap < 0.1 * own.gap


def test_what_an_intercept_is_off_by_is_part_of_the_gap():
    made = problem()
    sums, W, _ = points(made)
    without, _ = path_gaps(sums, made.n, W, W, L1S, L2S, np.zeros(3))
    with_delta, _ = path_gaps(sums, made.n, W, W, L1S, L2S, np.full(3, 0.1))
    for a, b in zip(without, with_delta, strict=True):
        assert b.gap - a.gap == pytest.approx(0.005)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_residuals_tell_the_same(fit_intercept):
    made = problem(fit_intercept)
    sums, W, b = points(made)
    b = b if fit_intercept else np.zeros(3)
    by_sums, slopes = path_gaps(sums, made.n, W, W, L1S, L2S, np.zeros(3))
    R = np.column_stack(
        [made.scores(made.features.join(w, at)) - made.y for w, at in zip(W, b, strict=True)]
    )
    penalties = L1S * np.abs(W).sum(axis=1) + 0.5 * L2S * np.sum(W**2, axis=1)
    sizes = np.abs(b) + np.abs(W) @ made.features.lengths()
    found = Residuals(R, R, slopes, sizes, b)
    for one, other in zip(
        residual_gaps(made, found, penalties, L1S, L2S, np.zeros(3)), by_sums, strict=True
    ):
        assert one.primal == pytest.approx(other.primal, rel=1e-11)
        assert one.dual == pytest.approx(other.dual, rel=1e-9)
        assert 0.0 < one.rounding < 1e-10 * one.primal
