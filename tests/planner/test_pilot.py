"""Gains are those of the quadratic, and steps are few where the spectrum is simple."""

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.certificates.duality import constant_value
from thalweg.planner import pilot as module
from thalweg.planner.pilot import gained, pilot


def problem(X, loss="squared", storage=np.asarray, **options):
    rng = np.random.default_rng(1)
    z = X @ rng.standard_normal(X.shape[1]) + rng.standard_normal(len(X))
    y = z if loss == "squared" else np.digitize(z, [-0.5, 0.5]) if loss == "multinomial" else z > 0
    return tw.LinearProblem(storage(X), y, loss, **{"l2": 1e-3, "fit_intercept": False, **options})


def spectrum(*curvatures, n=400):
    """Features with these curvatures, orthogonal to each other and turned."""
    rng = np.random.default_rng(0)
    p = len(curvatures)
    Q, _ = np.linalg.qr(rng.standard_normal((n, p)))
    turn, _ = np.linalg.qr(rng.standard_normal((p, p)))
    return np.sqrt(n) * Q * np.sqrt(curvatures) @ turn


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
def test_gains_are_those_of_the_quadratic(loss, storage):
    X = spectrum(5.0, 2.0, 1.0, 0.3)
    data = problem(X, loss, storage)
    w = data.start
    gradient, H = data.gradient(w), data.hessian(w)
    best = 0.5 * gradient @ np.linalg.solve(H, gradient)  # what the whole quadratic has to gain
    gains = gained(data)
    assert np.all(gains > 0.0)
    assert gains.sum() == pytest.approx(best, rel=1e-9)


def test_a_few_clusters_take_a_few_steps_whatever_kappa_is():
    steep = problem(spectrum(*[1e4] * 5, *[1.0] * 5), l2=1e-9)
    spread = problem(spectrum(*np.logspace(4, 0, 10)), l2=1e-9)
    few, many = (pilot(data, 1e-8, constant_value(data)) for data in (steep, spread))
    assert few < many


def test_a_smaller_tolerance_takes_more():
    data = problem(spectrum(*np.logspace(3, 0, 12)))
    counts = [pilot(data, tol, constant_value(data)) for tol in (1e-2, 1e-5, 1e-8)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_what_is_not_gained_in_time_is_guessed_from_the_last_third(monkeypatch):
    data = problem(spectrum(*np.logspace(6, 0, 40)), l2=1e-9)
    whole = pilot(data, 1e-9, constant_value(data))
    monkeypatch.setattr(module, "MOST", 12)
    assert 12 < pilot(data, 1e-9, constant_value(data)) < 20 * whole


def test_a_sample_has_enough_rows_or_there_is_none(monkeypatch):
    data = problem(spectrum(*np.ones(10), n=2_000))
    monkeypatch.setattr(module, "ENTRIES", 20_000)
    assert pilot(data, 1e-6, constant_value(data)) >= 1.0
    monkeypatch.setattr(module, "SHARE", 0.0)
    monkeypatch.setattr(module, "ENTRIES", 300)
    assert pilot(data, 1e-6, constant_value(data)) is None


def test_gains_that_rise_show_no_rate_and_no_thousands_of_steps(monkeypatch):
    data = problem(spectrum(1.0, 2.0))
    monkeypatch.setattr(module, "gained", lambda part, least: np.linspace(1.0, 2.0, module.MOST))
    assert pilot(data, 1e-6, 1.0) < 2_000


@pytest.mark.parametrize("share", [0.025, 0.05, 0.2])
@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_a_sample_takes_as_many_steps_as_all_rows(share, decay, monkeypatch):
    """Which the spectrum of a sample, wider by being one, would take twice as many of."""
    n, p = 8_000, 60
    rng = np.random.default_rng(7)
    turn, _ = np.linalg.qr(rng.standard_normal((p, p)))
    X = rng.standard_normal((n, p)) * np.arange(1.0, p + 1.0) ** -decay @ turn
    data = problem(X, "logistic", l2=1e-4)
    truth = pilot(data, 1e-6, constant_value(data), seconds=1.0)
    monkeypatch.setattr(module, "ENTRIES", 0)
    monkeypatch.setattr(module, "SHARE", share)
    monkeypatch.setattr(module, "ROWS_A_FEATURE", share * n / p / 2.0)
    assert pilot(data, 1e-6, constant_value(data)) == pytest.approx(truth, rel=0.35)
