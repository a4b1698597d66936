"""Newton with l1: the step against its definition, and the optimum against other methods."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

import thalweg as tw
from thalweg.methods.problem import Problem
from thalweg.methods.prox_newton import penalties, prox_newton_step, shortest_subgradient


def problem(loss="logistic", **options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 5))
    y = X @ [2.0, -1.0, 0.0, 0.0, 0.5] + rng.standard_normal(80)
    y = y > 0 if loss != "squared" else y
    return tw.LinearProblem(X, y, loss, **{"l1": 0.05, "l2": 0.01, **options})


def test_a_full_step_minimises_the_model():
    data = problem()
    counted = Problem(data, data.dim, np.dtype(np.float64))
    point = counted.point(np.full(6, 0.1))
    found = prox_newton_step(counted, point, data.hessian(point.w))
    H, g, thresholds = data.hessian(point.w), point.gradient, penalties(counted)
    slope = g + H @ (found.w - point.w)
    zero = found.w == 0.0
    distance = np.abs(shortest_subgradient(counted, point.w, g)).max()
    assert (np.abs(slope[zero]) <= thresholds[zero] + 0.02 * distance).all()
    others = slope[~zero] + thresholds[~zero] * np.sign(found.w[~zero])
    assert np.abs(others).max() <= 0.02 * distance


def test_intercepts_have_no_penalty():
    data = problem()
    counted = Problem(data, data.dim, np.dtype(np.float64))
    assert penalties(counted).tolist() == [0.05] * 5 + [0.0]


def test_the_shortest_subgradient():
    data = problem(fit_intercept=False)
    counted = Problem(data, data.dim, np.dtype(np.float64))
    g = np.array([0.2, -0.2, 0.01, 0.2, -0.2])
    w = np.array([0.0, 0.0, 0.0, 1.0, 1.0])
    np.testing.assert_allclose(shortest_subgradient(counted, w, g), [0.15, -0.15, 0.0, 0.25, -0.15])


def test_the_squared_loss_takes_one_step():
    run = tw.minimize(problem("squared"), "newton", tol=1e-10, progress=False)
    assert run.converged
    assert run.iterations == 1


@pytest.mark.parametrize("loss", ["squared", "logistic", "squared-hinge", "huber"])
@pytest.mark.parametrize("sparse", [False, True])
def test_it_agrees_with_coordinate_descent(loss, sparse):
    X, y = (load_diabetes if loss in ("squared", "huber") else load_breast_cancer)(return_X_y=True)
    X = scipy.sparse.csr_array(X) if sparse else X
    y = y / y.std() if loss in ("squared", "huber") else y
    data = tw.LinearProblem(X, y, loss, l1=0.01, l2=0.001, standardize=True)
    run, other = (tw.minimize(data, name, tol=1e-8, progress=False) for name in ("newton", "cd"))
    assert run.converged
    assert run.value == pytest.approx(other.value, rel=2e-8)
    assert run.iterations <= 30


def test_several_classes_with_l1():
    data = tw.LinearProblem(
        *load_digits(n_class=4, return_X_y=True), "multinomial", l1=1e-2, standardize=True
    )
    run = tw.minimize(data, "newton", progress=False)
    assert run.converged
    assert 0 < np.count_nonzero(run.w) < run.w.size / 2


def test_float32_keeps_exact_zeros():
    X, y = load_breast_cancer(return_X_y=True)
    data = tw.LinearProblem(X.astype(np.float32), y, "logistic", l1=0.05, standardize=True)
    run = tw.minimize(data, "newton", tol=1e-4, progress=False)
    assert run.converged
    assert run.w.dtype == np.float32
    assert (run.w[:-1] == 0.0).sum() > 10


def test_samples_of_the_rows_come_first_on_large_data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60_000, 20))
    data = tw.LinearProblem(X, X[:, 0] + rng.standard_normal(60_000) > 0, "logistic", l1=0.01)
    run = tw.minimize(data, "newton", progress=False)
    assert run.converged
    assert run.iterations <= 4
    assert np.count_nonzero(run.w[:-1]) < 10


def test_a_penalty_of_another_objective_is_refused():
    surface = tw.Regularized(tw.surfaces.Quadratic(), l1=0.1)
    with pytest.raises(tw.InputError, match="newton needs a smooth objective"):
        tw.minimize(surface, "newton", [1.0, 1.0])
