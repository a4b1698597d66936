import numpy as np
import pytest
import scipy.optimize

from linear_data import BOUNDED
from thalweg.certificates.dual_point import (
    argmax,
    balanced,
    best_shift,
    lower_bound,
    slopes,
)
from thalweg.objectives.linear import LinearProblem


def targets(loss, n, rng):
    if loss == "multinomial":
        return np.arange(n) % 3
    if loss in ("logistic", "squared-hinge"):
        return np.arange(n) % 2
    return rng.standard_normal(n)


def bound_at(problem, w, worth=-np.inf):
    z = problem.scores(w)
    return lower_bound(problem, w, z, slopes(problem, z)[1], worth)


def test_bound_by_hand():
    # ½(w − 1)² + ½w² from the sample (1, 1): at w = 0 θ = v = −1 and D = −(yθ + ½θ²) − ½v² = 0; the
    # best multiple s of θ has D = s − ½s² − ½s², largest at s = ½: D = ¼ = P*.
    problem = LinearProblem([[1.0]], [1.0], l2=1.0, fit_intercept=False)
    assert bound_at(problem, np.zeros(1)).value == 0.0
    assert bound_at(problem, np.zeros(1), worth=1.0).value == pytest.approx(0.25, rel=1e-5)


def test_a_point_inside_the_constraint_is_stretched_to_it():
    # ½(w − 1)² + ¼|w|: at w = 0.9 θ = v = −0.1, inside ¼. Stretched to s = 2.5, θ = −¼ is optimal.
    problem = LinearProblem([[1.0]], [1.0], l1=0.25, fit_intercept=False)
    assert bound_at(problem, np.array([0.9])).value == pytest.approx(7 / 32, rel=1e-14)


def test_the_scale_of_the_squared_loss_has_a_closed_form():
    # D(sθ) = −s Σcyθ − ½s² Σcθ² for |s| ≤ l1/‖v‖∞: the classical clipping of the Lasso.
    rng = np.random.default_rng(0)
    for seed in range(20):
        X, y = rng.standard_normal((15, 4)), rng.standard_normal(15)
        l1 = 10.0 ** (seed % 4 - 3)
        problem = LinearProblem(X, y, l1=l1, fit_intercept=False)
        w = rng.standard_normal(4)
        theta, c = X @ w - y, 1 / 15
        s = -(y @ theta) / (theta @ theta)
        s = np.clip(s, 0.0, l1 / np.abs(c * X.T @ theta).max())
        expected = -c * (s * (y @ theta) + 0.5 * s * s * (theta @ theta))
        found = bound_at(problem, w, worth=np.inf).value
        assert found == pytest.approx(max(expected, 0.0), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("loss", BOUNDED)
def test_a_shift_minimises_over_the_intercept(loss):
    rng = np.random.default_rng(1)
    for size in (0.1, 1.0, 3.0):
        n = 25
        X, y = rng.standard_normal((n, 3)), targets(loss, n, rng)
        weights = rng.random(n) * (np.arange(n) % 5 > 0)
        problem = LinearProblem(X, y, loss, l2=0.1, sample_weight=weights, delta=0.5)
        w = size * rng.standard_normal(problem.dim)
        z = problem.scores(w)
        shift = best_shift(problem, z)
        value, theta = slopes(problem, z + shift)
        slow = scipy.optimize.minimize(
            lambda b, z=z, problem=problem: slopes(problem, z + b)[0],
            np.zeros(problem.outputs),
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000},
        )
        # It stops where the slopes cancel to 10⁻³ of their size, for K classes to rounding.
        cancels = 1e-3 if problem.outputs == 1 else 1e-13
        spread = np.abs(problem.weights @ np.abs(theta)).sum()
        assert np.abs(problem.weights @ theta).sum() <= cancels * max(spread, 1.0)
        assert value <= slow.fun + 1e-5 * (1 + size)


def test_a_shift_that_changes_nothing_is_not_made():
    problem = LinearProblem(np.ones((4, 1)), [0, 0, 1, 1], "logistic", l2=1.0)
    assert best_shift(problem, np.zeros(4)) == 0.0


def test_all_weight_on_one_class_has_no_best_shift_and_still_a_bound():
    X, y = np.arange(3.0)[:, None], [0, 1, 1]
    for loss in ("logistic", "multinomial", "squared-hinge"):
        problem = LinearProblem(X, y, loss, l2=1.0, sample_weight=[0, 1, 1])
        found = bound_at(problem, np.ones(problem.dim))
        assert 0.0 <= found.value <= 1e-12


@pytest.mark.parametrize("loss", BOUNDED)
def test_the_balanced_point_sums_to_zero_inside_the_domain(loss):
    rng = np.random.default_rng(2)
    for seed in range(20):
        n = 11
        weights = rng.random(n) * (np.arange(n) != 5)
        y = targets(loss, n, rng)
        problem = LinearProblem(
            rng.standard_normal((n, 3)), y, loss, l2=0.1, sample_weight=weights, delta=0.5
        )
        w = 10.0 ** (seed % 4 - 1) * rng.standard_normal(problem.dim)
        _, theta = slopes(problem, problem.scores(w))
        found = balanced(problem, theta)
        np.testing.assert_allclose(
            problem.weights @ found, 0.0, atol=1e-15 * max(1, np.abs(theta).max())
        )
        if loss == "multinomial":
            q = found + np.eye(3)[problem.y]
            assert q.min() >= -1e-16
            np.testing.assert_allclose(q.sum(axis=1), 1.0, rtol=1e-14)
        else:
            # Towards zero, never across it: every domain here contains that segment.
            assert (found * theta >= 0).all()
            assert (np.abs(found) <= np.abs(theta)).all()
            lighter = np.sign(problem.weights @ theta)
            np.testing.assert_array_equal(found[theta * lighter <= 0], theta[theta * lighter <= 0])


def test_balancing_keeps_the_digits_of_small_slopes():
    # Slopes of 10⁻⁹: added to 1 and taken off again they would lose seven digits, and the bound,
    # here 10⁻⁹ too, would be off by more than the rounding that it states.
    y, slope = np.array([0, 1, 2, 0, 1, 2]), 1e-9
    problem = LinearProblem(np.ones((6, 1)), y, "multinomial", l2=1.0)
    rng = np.random.default_rng(3)
    theta = slope * rng.random((6, 3))
    theta[np.arange(6), y] = 0.0
    theta[np.arange(6), y] = -theta.sum(axis=1)
    found = balanced(problem, theta)
    np.testing.assert_allclose(problem.weights @ found, 0.0, atol=1e-15 * slope)
    np.testing.assert_allclose(found.sum(axis=1), 0.0, atol=1e-15 * slope)


def test_a_balanced_point_stays_as_it_is():
    problem = LinearProblem(np.ones((4, 1)), [0, 0, 1, 1], "logistic", l2=1.0)
    theta = np.array([0.5, 0.25, -0.25, -0.5])
    np.testing.assert_array_equal(balanced(problem, theta), theta)


def test_slopes_of_one_sign_balance_to_zero():
    problem = LinearProblem(np.ones((2, 1)), [0.0, 1.0], l2=1.0)
    np.testing.assert_array_equal(balanced(problem, np.array([1.0, 2.0])), [0.0, 0.0])


@pytest.mark.parametrize("loss", ["logistic", "huber", "multinomial"])
def test_the_edge_is_the_last_factor_inside_the_domain(loss):
    rng = np.random.default_rng(4)
    n = 9
    problem = LinearProblem(
        rng.standard_normal((n, 2)), targets(loss, n, rng), loss, l1=1e9, fit_intercept=False,
        delta=0.5, sample_weight=np.arange(n) > 0,
    )  # fmt: skip
    z = problem.scores(0.3 * rng.standard_normal(problem.dim))
    _, theta = slopes(problem, z)
    theta[0] *= 5.0  # of no weight
    edge = problem.term.stretch(problem.weights, theta)
    seen, y = theta[1:], problem.y[1:]
    if loss == "multinomial":
        inside = [(s * seen + np.eye(3)[y]).min() >= -1e-15 for s in (edge, 1.001 * edge)]
    else:
        widest = 0.5 if loss == "huber" else 1.0
        inside = [np.abs(s * seen).max() <= widest for s in (edge, 1.001 * edge)]
    assert inside == [True, False]


@pytest.mark.parametrize("loss", ["squared", "squared-hinge"])
def test_other_domains_have_no_edge(loss):
    problem = LinearProblem(np.ones((2, 1)), [0, 1], loss, l2=1.0)
    assert problem.term.stretch(problem.weights, np.array([1.0, -1.0])) == np.inf


@pytest.mark.parametrize("peak", [0.0, 0.3, 0.999, 2.0])
def test_golden_sections_find_a_maximum(peak):
    assert argmax(lambda s: -((s - peak) ** 2), 1.0) == pytest.approx(min(peak, 1.0), abs=2e-3)


def test_a_sum_that_overflows_leaves_the_bound_of_zero():
    problem = LinearProblem([[1e200], [1.0]], [0.0, 1.0], l2=1.0, fit_intercept=False)
    assert bound_at(problem, np.array([1e150])) == (0.0, 0.0)
