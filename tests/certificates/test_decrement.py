import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from linear_data import BOUNDED
from thalweg.certificates import decrement as module
from thalweg.certificates.decrement import (
    decrement,
    decrement_certificate,
    has_decrement,
    rough_decrement,
)


def problem(loss="logistic", n=60, p=4, scale=1.0, storage=np.asarray, seed=0, **options):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    z = X[:, 0] + rng.standard_normal(n)
    y = (
        z
        if loss in ("squared", "huber")
        else np.digitize(z, [-0.7, 0.7] if loss == BOUNDED[-1] else [0])
    )
    return tw.LinearProblem(storage(scale * X), y, loss, **options)


def test_by_hand():
    # ½·½[(w − 2)² + w²]: slope −1 and curvature 1 at 0, so ½λ² = ½, and F(0) − F* = 1 − ½.
    data = tw.LinearProblem([[1.0], [1.0]], [2.0, 0.0], fit_intercept=False)
    assert decrement(data, np.zeros(1)) == pytest.approx(0.5, rel=1e-14)
    assert rough_decrement(data, np.array([-1.0])) == pytest.approx(0.5, rel=1e-14)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_of_the_squared_loss_it_is_the_distance(fit_intercept):
    data = problem("squared", fit_intercept=fit_intercept)
    w = np.random.default_rng(1).standard_normal(data.dim)
    A = np.column_stack([data.matrix.rows, np.ones(data.n)])[:, : data.dim]
    residual = data.y - A @ np.linalg.lstsq(A, data.y)[0]
    assert decrement(data, w) == pytest.approx(data.value(w) - 0.5 * np.mean(residual**2), rel=1e-9)


@pytest.mark.parametrize("loss", BOUNDED)
def test_near_the_optimum_it_is_nearly_so(loss):
    data = problem(loss)
    run = tw.minimize(data, "newton", tol=1e-14, progress=False)
    w = run.w + 1e-3 * np.random.default_rng(1).standard_normal(data.dim)
    rel = 0.05 if loss in ("huber", "squared-hinge") else 5e-3
    assert decrement(data, w) == pytest.approx(data.value(w) - run.value, rel=rel)


@pytest.mark.parametrize("scale", [2.0**-30, 2.0**30])
def test_units_of_features_do_not_matter(scale):
    w = np.random.default_rng(1).standard_normal(5)
    other = w / np.append(np.full(4, scale), 1.0)
    one, two = problem(), problem(scale=scale)
    assert decrement(two, other) == pytest.approx(decrement(one, w), rel=1e-9)
    gradients = one.gradient(w), two.gradient(other)
    rough = rough_decrement(one, gradients[0]), rough_decrement(two, gradients[1])
    assert rough[1] == pytest.approx(rough[0], rel=1e-9)


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
def test_by_products_it_is_the_same(storage, monkeypatch):
    data = problem("multinomial", storage=storage)
    w = np.random.default_rng(2).standard_normal(data.dim)
    whole = decrement(data, w)
    monkeypatch.setattr(module, "MOST_VARIABLES", 0)
    assert decrement(data, w) == pytest.approx(whole, rel=1e-9)


@pytest.mark.parametrize("method", ["auto", "lbfgs", "newton-cg", "gd"])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_a_run_ends_by_it_in_any_units(method, scale):
    """By the norm of its gradient, a run on columns of 1e-9 would end where it begins."""
    data = problem(scale=scale, fit_intercept=False)
    exact = tw.minimize(problem(fit_intercept=False), "newton", tol=1e-14, progress=False)
    run = tw.minimize(data, method, progress=False)
    assert run.outcome is tw.Outcome.CONVERGED
    assert run.certificate.kind == "Newton decrement"
    assert run.value - exact.value <= 1.1e-6 * np.log(2)


def test_features_that_are_alike_do_not_hide_it():
    rng = np.random.default_rng(3)
    X = np.repeat(rng.standard_normal((40, 2)), 2, axis=1)
    data = tw.LinearProblem(X, rng.standard_normal(40))
    assert decrement(data, np.zeros(5)) == pytest.approx(
        data.value(np.zeros(5)) - tw.minimize(data, "cholesky", progress=False).value, rel=1e-9
    )


@pytest.mark.parametrize("most", [module.MOST_VARIABLES, 0])
def test_a_slope_without_curvature_is_far_from_an_optimum(most, monkeypatch):
    """All residuals beyond Huber's δ: H = 0, and F falls all the way."""
    monkeypatch.setattr(module, "MOST_VARIABLES", most)
    X = np.random.default_rng(4).standard_normal((30, 3))
    data = tw.LinearProblem(X, 1e3 * X[:, 0], "huber", delta=1e-3, fit_intercept=False)
    assert decrement(data, np.zeros(3)) > data.value(np.zeros(3))
    run = tw.minimize(data, progress=False)
    assert run.value <= 1e-5 * data.value(np.zeros(3))


def test_what_the_certificate_says():
    squared, logistic = problem("squared"), problem()
    for data in (squared, logistic):
        w = tw.minimize(data, "newton", tol=1e-14, progress=False).w
        holds, fails = (decrement_certificate(data, at, 1e-6) for at in (w, 0 * w))
        assert holds.holds
        assert not fails.holds
        assert f"{fails.measured:.3g} > {fails.limit:.3g}" in fails.statement
    assert "F(w) − F* =" in decrement_certificate(squared, w, 1e-6).shows
    assert "add an l2 or l1 penalty" in holds.does_not_show


def test_who_has_one():
    assert has_decrement(problem())
    assert not has_decrement(problem(l2=1e-9))
    assert not has_decrement(problem(l1=1e-9))
    assert not has_decrement(tw.surfaces.Rosenbrock())
