"""Fits at one scale after another: the constant's scale, the secants, and scales that vanish."""

import numpy as np
import pytest

import thalweg as tw
from thalweg.certificates.scale_gap import best_scale, scale_slope, scale_value
from thalweg.estimators.learned_scale import LearnedScale


def fit_of(X, y, epsilon=1.35, a=1e-4):
    base = tw.LinearProblem(X, y, "huber")
    return LearnedScale(
        lambda loss, delta, l2: base.with_loss(loss, delta).replaced(l2=l2), epsilon, a
    )


def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    return X, X @ [1.0, 2.0, -1.0] + rng.standard_t(2, 80) + 5.0


def test_the_constant_is_the_best_one():
    X, y = data()
    fit, c = fit_of(X, y), np.full(80, 1 / 80)
    for b in fit.constant + np.linspace(-0.5, 0.5, 11):
        sigma = best_scale(b - y, c, 1.35)
        assert scale_value(b - y, c, sigma, 1.35) >= fit.scale * (1.0 - 1e-9)


def test_it_ends_where_no_slope_is_left_and_the_gap_is_small():
    X, y = data()
    fit = fit_of(X, y)
    run = fit.run(None, None, "auto", tol=1e-8, max_iter=100)
    assert run.converged
    assert run.certificate.gap <= 1e-8 * fit.scale
    r = X @ run.w[:3] + run.w[3] - y
    assert scale_slope(r, np.full(80, 1 / 80), fit.sigma, 1.35) == pytest.approx(0.0, abs=1e-6)
    values = run.trace["value"]
    assert values[-1] == values.min()


def test_too_few_iterations_are_told():
    X, y = data()
    run = fit_of(X, y).run(None, None, "auto", tol=1e-8, max_iter=1)
    assert run.iterations == 1
    assert not run.converged


def test_a_scale_vanishes_where_most_samples_are_met_exactly():
    X, y = data()
    y = X @ [1.0, 2.0, -1.0] + 5.0
    y[:10] += 30.0
    fit = fit_of(X, y, a=1e-9)
    run = fit.run(None, None, "auto", tol=1e-6, max_iter=200)
    assert run.converged
    np.testing.assert_allclose(run.w, [1.0, 2.0, -1.0, 5.0], atol=1e-4)
    assert fit.sigma < 1e-3
