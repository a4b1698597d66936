import itertools

import numpy as np
import pytest
import scipy.sparse

from linear_data import BOUNDED
from thalweg.objectives.linear import LinearProblem

N, P, L2 = 14, 4, 0.2
STORAGES = {"C": np.ascontiguousarray, "F": np.asfortranarray, "csr": scipy.sparse.csr_array}


def problem(loss, storage="C", seed=0, n=N, **options):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, P)) * np.logspace(-1, 1, P) + 1.0
    y = rng.standard_normal(n) if loss in ("squared", "huber") else np.arange(n) % 2
    y = np.arange(n) % 3 if loss == "multinomial" else y
    options = {"l2": L2, "delta": 0.7, "sample_weight": np.arange(1.0, n + 1), **options}
    return LinearProblem(STORAGES[storage](X), y, loss, **options)


def line(data, w, p, first):
    """φ from the scores at 0 and at `first`."""
    _, gradient, z = data.value_gradient_scores(w)
    *_, ahead = data.value_gradient_scores(w + first * p)
    return data.line(w, p, z, float(gradient @ p), first, ahead)


def test_one_line_by_hand():
    # X = (1, 2), y = (0, 0), w = 1, p = −1, b not fitted: φ(α) = ½·(1 + 4)/2·(1 − α)² + ½(1 − α)².
    data = LinearProblem([[1.0], [2.0]], [0.0, 0.0], l2=1.0, fit_intercept=False)
    found = line(data, np.array([1.0]), np.array([-1.0]), 0.5)
    assert found.value_and_slope(0.0) == (1.75, -3.5)
    assert found.value_and_slope(1.0) == (0.0, 0.0)
    assert found.value_and_slope(3.0) == (7.0, 7.0)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("loss", BOUNDED)
def test_value_and_slope_are_those_of_the_problem(loss, storage):
    rng = np.random.default_rng(1)
    for fit_intercept, standardize in itertools.product((False, True), repeat=2):
        data = problem(loss, storage, fit_intercept=fit_intercept, standardize=standardize)
        w, p = rng.standard_normal(data.dim), rng.standard_normal(data.dim)
        for first in (0.01, 1.0, 5.0):
            found = line(data, w, p, first)
            for step in (0.0, 0.3, first, 2.0):
                value, gradient = data.value_and_gradient(w + step * p)
                assert found.value_and_slope(step) == pytest.approx(
                    (value, gradient @ p), rel=1e-11, abs=1e-12
                )


@pytest.mark.parametrize("loss", BOUNDED)
def test_the_slope_is_that_of_the_values(loss):
    data = problem(loss)
    rng = np.random.default_rng(2)
    found = line(data, rng.standard_normal(data.dim), rng.standard_normal(data.dim), 1.0)
    h = 1e-6
    for step in (0.2, 1.7):
        ends = [found.value_and_slope(step + side)[0] for side in (-h, h)]
        assert found.value_and_slope(step)[1] == pytest.approx((ends[1] - ends[0]) / (2 * h), 1e-6)


def test_near_the_minimum_slopes_keep_their_digits():
    # A step of length 1e-11 from a minimum: φ′ is of the order 1e-20, the rounding of scores 1e-16.
    data = problem("logistic", n=200)
    w = np.zeros(data.dim)
    for _ in range(30):
        w -= np.linalg.solve(data.hessian(w), data.gradient(w))
    rng = np.random.default_rng(3)
    p = 1e-11 * rng.standard_normal(data.dim)
    w = w - p
    found = line(data, w, p, 1.0)
    H = data.hessian(w)
    for step in (0.5, 1.5):
        expected = (step - 1.0) * p @ H @ p
        assert found.value_and_slope(step)[1] == pytest.approx(expected, rel=1e-2, abs=0.0)


def test_float32_lines_are_those_of_float64_scores():
    data = problem("logistic")
    small = LinearProblem(data.matrix.rows.astype(np.float32), data.y, "logistic", l2=L2)
    rng = np.random.default_rng(4)
    w, p = (rng.standard_normal(small.dim).astype(np.float32) for _ in range(2))
    found = line(small, w, p, 1.0)
    value, gradient = small.value_and_gradient(w + np.float32(0.5) * p)
    assert found.value_and_slope(0.5) == pytest.approx((value, gradient @ p), rel=1e-5)


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_any_number_of_threads_gives_the_same_bits(loss, cut_finely):
    rng = np.random.default_rng(5)
    w, p = rng.standard_normal((2, problem(loss).dim))

    def found(threads):
        return line(problem(loss, threads=threads), w, p, 1.0).value_and_slope(0.4)

    whole = found(1)
    cut_finely()
    expected = found(1)
    assert [found(threads) for threads in (2, 3, 8)] == [expected] * 3
    assert expected == pytest.approx(whole, rel=1e-13)
