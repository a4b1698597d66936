import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from linear_data import BOUNDED
from thalweg.certificates.duality import duality_gap
from thalweg.kernels.duality import slopes_pass
from thalweg.kernels.losses import LOSSES
from thalweg.methods.screening import dual_sphere, feature_spread, zero_features

ONE_SCORE = sorted(set(BOUNDED) - {"multinomial"})


def random_problem(seed, loss):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(4, 40)), int(rng.integers(2, 40))
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.7) * 10.0 ** rng.uniform(-1, 1, p)
    X += rng.choice([0.0, 3.0])
    X[:, rng.integers(p)] = X[:, rng.integers(p)]
    scores = X[:, :3].sum(axis=1) + rng.standard_normal(n)
    y = scores if loss in ("squared", "huber") else scores > np.median(scores)
    options = {
        "fit_intercept": bool(rng.random() < 0.5),
        "standardize": bool(rng.random() < 0.3),
        "sample_weight": rng.integers(1, 4, n) if rng.random() < 0.5 else None,
        "delta": 0.7,
    }
    storage = rng.choice([0, 1])
    X = scipy.sparse.csr_array(X) if storage else X
    free = tw.LinearProblem(X, y, loss, l1=1.0, **options)
    steepest = np.max(np.abs(free.gradient(free.start)[:p]))
    l2 = float(rng.choice([0.0, 0.1]) * steepest)
    return tw.LinearProblem(
        X, y, loss, l1=float(rng.choice([0.02, 0.2, 0.6])) * steepest, l2=l2, **options
    )


def zeros(data, value, slopes, v, spread):
    return zero_features(data, dual_sphere(data, value, slopes, v, spread), spread)


def zero_at(data, w):
    slopes = np.empty(data.n)
    slopes_pass(LOSSES[data.loss], data.scores(w), data.y, data.weights, data.delta, slopes)
    _, spread = feature_spread(data)
    return zeros(data, data.value(w), slopes, data.transpose(slopes), spread)


def test_by_hand():
    # F(0) = ½·½(1 + 1) = ½, θ = −y, v = −(½ + ½, 0.1): shrunk by l1/1 = 0.8.
    # D = −Σ½(0.8θy + 0.32) = 0.8 − 0.32 = 0.48, gap 0.02, radius 0.2, ρ = (1, 0.1).
    # 0.8·1 + 0.2 > 0.8 stays; 0.08 + 0.02 < 0.8 goes.
    X = np.array([[1.0, 0.1], [1.0, 0.1]])
    data = tw.LinearProblem(X, [1.0, 1.0], l1=0.8, fit_intercept=False)
    assert zero_at(data, np.zeros(2)).tolist() == [False, True]
    # With ρ = 3.6 the second has 0.288 + 0.72 > 0.8.
    X[:, 1] = [3.7, -3.5]  # v₂ = 0.1, ρ₂ ≈ 3.6
    data = tw.LinearProblem(X, [1.0, 1.0], l1=0.8, fit_intercept=False)
    assert zero_at(data, np.zeros(2)).tolist() == [False, False]


def test_slopes_out_of_balance_widen_the_bound_by_hand():
    # Slopes (3, 1) have one sign: balanced they are θ = 0, moved by √(½(9 + 1)) = √5. v = 1, ρ = 1.
    # D(0) = 0, gap = F = 2.5, radius √5: the bound is 1 + √5 + √5 = 5.47, and not 1 + √5 = 3.24.
    X, y = [[1.0], [-1.0]], [-3.0, -1.0]
    for l1, is_zero in ((3.5, False), (5.4, False), (5.5, True)):
        assert zero_at(tw.LinearProblem(X, y, l1=l1), np.zeros(2)).tolist() == [is_zero]


def test_spread_is_the_weighted_deviation():
    X = np.array([[1.0, 4.0], [4.0, 4.0]])
    data = tw.LinearProblem(X, [0.0, 1.0], sample_weight=[1.0, 2.0])
    means, spread = feature_spread(data)
    np.testing.assert_allclose(means, [3.0, 4.0])
    np.testing.assert_allclose(spread, [np.sqrt(2.0), 0.0], atol=1e-6)
    plain = tw.LinearProblem(X, [0.0, 1.0], sample_weight=[1.0, 2.0], fit_intercept=False)
    np.testing.assert_allclose(feature_spread(plain)[1], [np.sqrt(11.0), 4.0])
    scaled = tw.LinearProblem(X, [0.0, 1.0], sample_weight=[1.0, 2.0], standardize=True)
    np.testing.assert_allclose(feature_spread(scaled)[1], [1.0, 0.0], atol=1e-6)


@pytest.mark.parametrize("loss", ONE_SCORE)
def test_nothing_in_a_solution_is_ever_screened(loss):
    screened = kept = 0
    for seed in range(40):
        data = random_problem(seed, loss)
        best = tw.minimize(data, tw.CD(screening=False), tol=1e-11, max_iter=300)
        # v* of all optima is the same: a coefficient off zero has |v*| = l1 + l2|w|.
        is_support = np.abs(best.w[: data.p]) > 1e-7 * np.max(np.abs(best.w[: data.p]), initial=1)
        rng = np.random.default_rng(seed)
        for distance in (1.0, 0.1, 1e-3, 0.0):
            near = best.w + distance * rng.standard_normal(data.dim) * np.abs(best.w).mean()
            out = zero_at(data, near)
            assert not np.any(out & is_support), (seed, distance)
            screened += np.count_nonzero(out)
            kept += np.count_nonzero(~out & ~is_support)
    assert screened > kept  # and it does screen


@pytest.mark.parametrize("loss", ONE_SCORE)
def test_the_radius_holds_the_optimal_dual_point(loss):
    """|v − v*| ≤ ρ√(2γ·gap), the bound itself, with the certificate's gap."""
    for seed in range(10):
        data = random_problem(100 + seed, loss)
        if data.fit_intercept:
            continue
        best = tw.minimize(data, "cd", tol=1e-12, max_iter=300)
        rng = np.random.default_rng(seed)
        w = best.w + 0.1 * rng.standard_normal(data.dim) * np.abs(best.w).max()
        found = []
        for point in (w, best.w):
            slopes = np.empty(data.n)
            z = data.scores(point)
            slopes_pass(LOSSES[loss], z, data.y, data.weights, data.delta, slopes)
            found.append(slopes)
        v, v_best = (data.transpose(slopes) for slopes in found)
        scale = 1.0 if data.l2 else min(1.0, data.l1 / np.max(np.abs(v)))
        radius = np.sqrt(2.0 * data.curvature_bound * duality_gap(data, w).gap)
        _, spread = feature_spread(data)
        assert np.all(np.abs(scale * v - v_best) <= spread * radius * (1 + 1e-6) + 1e-9)


def test_what_is_known_to_be_zero_can_be_left_out():
    data = random_problem(5, "squared")
    w = tw.minimize(data, "cd", max_iter=3, tol=1e-12).w
    out = zero_at(data, w)
    slopes = np.empty(data.n)
    slopes_pass(LOSSES["squared"], data.scores(w), data.y, data.weights, data.delta, slopes)
    v, (_, spread) = data.transpose(slopes), feature_spread(data)
    assert out.any()
    rest = zeros(data, data.value(w), slopes, v[~out], spread[~out])
    assert rest.shape == (np.count_nonzero(~out),)
    assert not rest.any()  # the same gap, and so the same verdict
    nothing = np.empty(0)
    assert zeros(data, data.value(w), slopes, nothing, nothing).size == 0


def test_without_l1_nothing_is_zero():
    data = tw.LinearProblem(np.eye(3), [1.0, 2.0, 3.0], l2=1.0)
    assert not zero_at(data, np.zeros(4)).any()


def test_a_point_too_far_away_says_nothing():
    data = tw.LinearProblem(np.eye(3), [1.0, 2.0, 3.0], l1=0.1, fit_intercept=False)
    spread = feature_spread(data)[1]
    nothing = zeros(data, np.inf, np.zeros(3), np.zeros(3), spread)
    assert not nothing.any()
