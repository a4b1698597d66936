import numpy as np
import pytest

import thalweg as tw
from stepping import follow
from thalweg.methods.sag import SAG
from thalweg.objectives.finite_sum import sample_smoothness
from thalweg.theory import sag as theory
from visiting import assert_as_defined, optimum, problem

TWO = tw.LinearProblem([[1.0], [2.0]], [1.0, 1.0], l2=0.5, fit_intercept=False)


@pytest.mark.parametrize(
    ("start", "w"),
    [
        # s = −1: w = 0.1. s = 0.2 − 1: g = −1 − 1.6, w = 0.1 − 0.1(−2.6/2 + 0.05).
        ("seen", 0.225),
        # w = 0.1/2. s = 0.1 − 1: g = −1 − 1.8, w = 0.05 − 0.1(−2.8/2 + 0.025).
        ("zero", 0.1875),
        # s = −1, −1, g = −3: w = 0.15. s = 0.3 − 1: g = −2.4, w = 0.15 − 0.1(−1.2 + 0.075).
        ("full", 0.2625),
    ],
)
def test_two_steps_by_hand(start, w):
    method = SAG(step=0.1, sampling="cyclic", start=start)
    assert follow(method, TWO, TWO.start, 1)[1].w[0] == pytest.approx(w, rel=1e-14)


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("sampling", ["uniform", "shuffled", "cyclic", "lipschitz"])
@pytest.mark.parametrize(
    ("loss", "options"),
    [
        ("logistic", {"l2": 0.1, "fit_intercept": False}),
        ("squared", {"l1": 0.05, "weighted": True}),
        ("multinomial", {"l1": 0.01, "l2": 0.05}),
    ],
)
def test_a_run_is_the_definition(loss, options, sampling, storage):
    data = problem(loss, storage=storage, **options)
    assert_as_defined(SAG(step=0.05, sampling=sampling), data)


@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_a_run_with_batches_is_the_definition(storage):
    data = problem("logistic", storage=storage, l1=0.01, l2=0.05)
    assert_as_defined(SAG(step=0.2, sampling="shuffled", batch=4), data)


def logistic_with_rows_of_length_one(n=200):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 10))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = 4 * X[:, 0] + rng.standard_normal(n) > 0
    return tw.LinearProblem(X, y, "logistic", l2=1 / n, fit_intercept=False)


def test_a_pass_of_the_theorems_step_is_faster_than_its_bound():
    data = logistic_with_rows_of_length_one()
    L = float(sample_smoothness(data).max()) + data.l2
    bound = theory.rate_per_pass(samples=data.n, smoothness=L, strong_convexity=data.l2)
    _, best = optimum(data)
    method = SAG(step="theory", sampling="uniform", start="zero")
    values = [state.value for state in follow(method, data, data.start, 30)]
    gaps = np.array(values) - best  # ten passes later there is nothing but rounding
    factor = (gaps[-1] / gaps[10]) ** (1 / 20)
    assert bound < 0.89
    assert factor < bound


def test_a_row_with_half_of_all_curvature_does_not_throw_the_first_pass():
    # Were every sample counted once, the mean over the first would be this row: 1e95 in one pass.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 5))
    X[7] *= 2000**0.5
    data = tw.LinearProblem(X, X @ rng.standard_normal(5) + rng.standard_normal(2000), l2=1e-2)
    for name in ("sag", "saga"):
        run = tw.minimize(data, name, max_iter=100, progress=False)
        assert run.converged
        assert run.trace["value"].max() == run.trace["value"][0]
