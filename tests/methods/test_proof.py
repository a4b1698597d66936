import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer

import thalweg as tw
from linear_data import sparse_model
from thalweg.methods import proof
from thalweg.methods.short_way import short_way


def test_a_lower_bound_is_kept_and_a_tighter_one_ends_the_run(monkeypatch):
    problem = sparse_model()
    run = tw.minimize(problem, "fista", tol=1e-6, max_iter=2000)
    assert run.outcome is tw.Outcome.CONVERGED
    # Without Newton's step on the support the bound is of first order, and the run a third longer.
    monkeypatch.setattr(proof, "tightened", lambda problem, w, found: found)
    loose = tw.minimize(problem, "fista", tol=1e-6, max_iter=2000)
    assert loose.outcome is tw.Outcome.CONVERGED
    assert run.iterations <= 0.8 * loose.iterations
    # A gap is the value less the best lower bound so far: that bound never falls.
    paid = np.isfinite(run.trace["gap"])
    bounds = run.trace["value"][paid] - run.trace["gap"][paid]
    assert paid.sum() > 5
    assert (np.diff(bounds) >= -1e-12).all()


def test_with_noise_the_certificate_is_of_the_exact_gradient():
    surface = tw.surfaces.Quadratic((1.0, 2.0))
    run = tw.minimize(surface.noisy(1.0), tw.GD(step=0.1), [1.0, 1.0], max_iter=50)
    assert run.certificate.measured == np.max(np.abs(surface.gradient(run.w)))
    assert run.certificate.measured != run.trace.last["gradient_norm"]


def test_a_method_that_squares_its_error_takes_one_more_step_if_that_gains(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    problem = tw.LinearProblem(X, y, "logistic", l2=1e-3, standardize=True)
    more = tw.minimize(problem, "newton", tol=1e-4, progress=False)
    monkeypatch.setattr(proof, "SQUARING", 0.0)  # no step fell so far
    plain = tw.minimize(problem, "newton", tol=1e-4, progress=False)
    assert more.iterations == plain.iterations + 1
    assert more.certificate.measured < 1e-2 * plain.certificate.measured


def test_a_step_that_rounding_stops_is_proved_by_a_tighter_bound():
    # Columns of timestamps in float32: the slopes at the rounded w alone leave a gap of 12 limits.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 300)) + 2.0
    y = np.argmax(X[:, :3] + rng.standard_normal((100, 3)), axis=1)
    data = tw.LinearProblem(
        (1e8 * X).astype(np.float32), y, "multinomial", l1=9e6, l2=9e4, fit_intercept=False
    )
    run = tw.minimize(data, "newton", tol=1e-6, progress=False)
    assert run.converged
    assert run.certificate.holds


def far_apart(loss, storage=np.asarray, n=2000, copies=True):
    """Milliseconds beside kelvins, some of them twice: slopes are rounding in units of others."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, 4))
    y = Z[:, 0] + Z[:, 1] + rng.standard_normal(n)
    kelvins, prices = 293.0 + 5.0 * Z[:, 3], 1e7 + 1.6e3 * Z[:, 1]
    columns = [kelvins, 1.6e12 + 1.75e8 * Z[:, 0], prices, prices, Z[:, 2], kelvins, np.ones(n)]
    labels = np.digitize(y, [-0.7, 0.7]) if loss == "multinomial" else y > 0.0
    if not copies:
        columns = columns[:3] + columns[4:5]
    X = storage(np.column_stack(columns))
    return tw.LinearProblem(X, labels, loss, l2=5e-4, fit_intercept=not copies)


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge", "multinomial"])
@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
def test_a_run_that_stands_still_is_proved_by_twice_the_digits(loss, storage):
    heard = []  # whoever listens hears the loop
    run = tw.minimize(far_apart(loss, storage), "newton", progress=False, callback=heard.append)
    assert run.converged
    assert run.certificate.holds
    assert run.iterations <= 6  # up to 19, looking for what rounding hid


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge", "multinomial"])
def test_so_is_a_short_way(loss):
    problem = far_apart(loss, copies=False)
    run = short_way(problem, tw.Newton(), np.zeros(problem.dim), tol=1e-6, max_iter=100, seed=0)
    slow = tw.minimize(problem, "newton", progress=False, callback=lambda step: None)
    assert run.certificate.holds
    assert run.value == pytest.approx(slow.value, rel=1e-9)
