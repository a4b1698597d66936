"""What every loss of a mean e^z promises: a value by its definition, and a gap that is a bound."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import mean_tweedie_deviance

import thalweg as tw
from thalweg.certificates.duality import best_constant, constant_value

POWERS = {"poisson": 1.0, "gamma": 2.0, "tweedie": 1.3}
PENALTIES = {"l2": (0.0, 0.05), "l1": (0.02, 0.0), "both": (0.01, 0.02)}
SMOOTH = ("gd", "nesterov", "lbfgs", "bfgs", "newton", "newton-cg", "cd", "fista")
WITH_L1 = ("newton", "cd", "fista")
N, P = 90, 5

every_loss = pytest.mark.parametrize("loss", POWERS)


def problem(loss, seed=0, storage=np.asarray, **options):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, P)) * np.logspace(-0.5, 0.5, P) + 1.0
    X[rng.random((N, P)) < 0.3] = 0.0
    mean = np.exp(1.0 + 0.3 * X[:, 0] - 0.2 * X[:, 3])
    y = rng.gamma(2.0, mean / 2.0) if loss == "gamma" else rng.poisson(mean)
    weights = rng.integers(0, 4, N)
    loss = tw.Tweedie(POWERS["tweedie"]) if loss == "tweedie" else loss
    return tw.LinearProblem(storage(X), y, loss, sample_weight=weights, **options)


@every_loss
@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
def test_the_value_is_half_the_mean_deviance_and_the_penalties(loss, storage):
    data = problem(loss, storage=storage, l1=0.3, l2=0.7)
    w = 0.3 * np.random.default_rng(1).standard_normal(data.dim)
    deviance = mean_tweedie_deviance(
        data.y, np.exp(data.scores(w)), sample_weight=data.weights, power=POWERS[loss]
    )
    penalties = 0.3 * np.abs(w[:P]).sum() + 0.35 * w[:P] @ w[:P]
    assert data.value(w) == pytest.approx(0.5 * deviance + penalties, rel=1e-12)
    h = 1e-6
    ends = np.array([[data.smooth.value(w + s * h * e) for s in (-1, 1)] for e in np.eye(data.dim)])
    np.testing.assert_allclose(data.gradient(w), (ends[:, 1] - ends[:, 0]) / (2 * h), atol=1e-7)


@every_loss
def test_the_best_constant_is_the_logarithm_of_the_mean_and_runs_start_there(loss):
    data = problem(loss, l2=0.1)
    b = best_constant(data)
    assert b == pytest.approx(np.log(data.weights @ data.y), rel=1e-14)
    assert data.start.tolist() == pytest.approx([0.0] * P + [b])
    assert constant_value(data) == pytest.approx(data.value(data.start), rel=1e-12)
    for shift in (-0.01, 0.01):
        assert data.value(data.start + shift * (np.arange(P + 1) == P)) > constant_value(data)


@every_loss
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_every_method_that_takes_it_arrives_and_no_gap_is_too_small(loss, fit_intercept, penalty):
    l1, l2 = PENALTIES[penalty]
    data = problem(loss, l1=l1, l2=l2, fit_intercept=fit_intercept)
    best = tw.minimize(data, "newton", tol=1e-13, progress=False)
    assert best.certificate.gap <= 1e-11 * constant_value(data)
    for method in WITH_L1 if l1 else SMOOTH:
        run = tw.minimize(data, method, tol=1e-6, max_iter=5_000, progress=False)
        assert run.converged, method
        above = data.value(run.w) - best.value
        assert -1e-12 <= above <= run.certificate.gap, method
    rng = np.random.default_rng(2)
    for size in (1e-6, 1e-3, 0.1, 1.0):
        w = best.w + size * rng.standard_normal(data.dim)
        certificate = tw.certify(data, w)
        assert data.value(w) - best.value <= certificate.gap
        # Near the optimum it is of second order too, about ‖∇F‖²/2l2, and no mere bound.
        if size <= 1e-3 and penalty == "l2":
            kappa = data.usual_smoothness / l2
            assert certificate.gap <= 10.0 * kappa * (data.value(w) - best.value) + 1e-12


@every_loss
@pytest.mark.parametrize("method", ["sag", "saga", "svrg", "iag", "sgd", "sdca", "catalyst"])
def test_methods_that_need_a_bound_refuse_and_name_one_that_does_not(loss, method):
    for options, able in (({"l2": 0.1}, "lbfgs"), ({"l1": 0.1}, "cd")):
        data = problem(loss, **options)
        with pytest.raises(tw.InputError, match=f"{method} steps by a bound .*use method='{able}'"):
            tw.minimize(data, method)
        assert tw.minimize(data, able, progress=False).converged
        assert tw.plan(data).best not in ("sag", "saga", "svrg", "iag", "sgd", "sdca", "catalyst")


@every_loss
def test_without_a_penalty_the_decrement_tells_the_distance(loss):
    data = problem(loss)
    best = tw.minimize(data, "newton", tol=1e-14, progress=False)
    run = tw.minimize(data, "lbfgs", tol=1e-5, progress=False)
    assert run.certificate.gap is None
    assert run.certificate.measured == pytest.approx(run.value - best.value, rel=0.1, abs=1e-12)


@every_loss
def test_counts_of_any_size_are_reached(loss):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 2))
    for size in (1e-12, 1e6, 1e12):
        y = size * np.exp(X[:, 0]) * rng.uniform(0.5, 2.0, 60)
        run = tw.minimize(tw.LinearProblem(X, y, loss, l2=1e-3), tol=1e-6, progress=False)
        assert run.converged, size


@pytest.mark.parametrize("loss", ["poisson", "tweedie"])
def test_rows_whose_targets_are_all_zero_are_a_sample_like_others(loss):
    y = np.zeros(50)
    y[7] = 3.0
    data = tw.LinearProblem(np.ones((50, 1)) * np.arange(50)[:, None], y, loss, l2=0.1)
    part = data.sample(np.arange(10, 40))
    assert np.isfinite(part.start).all()
    assert np.isfinite(best_constant(part))
    assert 0.0 <= constant_value(part) < 1e-100
    assert np.isfinite(part.value(part.start))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"y": [1.0, -1.0]}, "y must be at least 0 for the poisson loss, got -1"),
        ({"y": [0.0, 0.0]}, "y must not be all zero for the poisson loss"),
        (
            {"loss": "gamma", "y": [1.0, 0.0]},
            "y must be positive for the gamma loss, got 0.*'poisson'",
        ),
        ({"loss": "gamma", "y": [1.0, -1.0]}, "for the gamma loss, got -1.0 at .*'squared'"),
    ],
)
def test_what_cannot_be_is_refused(change, says):
    given = {"y": [1.0, 2.0], "loss": "poisson", **change}
    with pytest.raises(tw.InputError, match=says):
        tw.LinearProblem([[1.0], [2.0]], **given)
