import numpy as np
import pytest

import thalweg as tw
from stepping import follow
from thalweg.methods.saga import SAGA
from visiting import assert_as_defined, problem

TWO = tw.LinearProblem([[1.0], [2.0]], [1.0, 1.0], l2=0.5, fit_intercept=False)


@pytest.mark.parametrize(
    ("start", "w"),
    [
        # d = −1: w = 0.1, g = −1, m = 1. δ = 0.2 − 1: d = −1.6 − 1 + 0.05.
        ("seen", 0.355),
        # The same with g/2 for g/m: d = −1.6 − 0.5 + 0.05.
        ("zero", 0.305),
        # g = −3, δ = 0: w = 0.15. δ = 0.3: d = 0.6 − 1.5 + 0.075.
        ("full", 0.2325),
    ],
)
def test_two_steps_by_hand(start, w):
    method = SAGA(step=0.1, sampling="cyclic", start=start)
    assert follow(method, TWO, TWO.start, 1)[1].w[0] == pytest.approx(w, rel=1e-14)


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("sampling", ["uniform", "lipschitz"])
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
    assert_as_defined(SAGA(step=0.05, sampling=sampling), data)


@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_a_run_with_batches_is_the_definition(storage):
    data = problem("logistic", storage=storage, l1=0.01, l2=0.05)
    assert_as_defined(SAGA(step=0.2, sampling="shuffled", batch=4), data)


@pytest.mark.parametrize("sampling", ["uniform", "lipschitz"])
def test_the_mean_step_is_the_gradients(sampling):
    # One visit of each sample from one state, weighted by its probability.
    from thalweg.methods.sampling import sampler
    from thalweg.objectives.finite_sum import sample_smoothness
    from visiting import slopes_of, slow_visits

    data = problem("logistic", l2=0.1, fit_intercept=False)
    rng = np.random.default_rng(0)
    w, old = rng.standard_normal((2, data.dim))
    slopes = np.array([slopes_of(data, i, old[:, None], np.zeros(1)) for i in range(data.n)])
    draw = sampler(sampling, sample_smoothness(data) + data.l2)
    mean = sum(
        draw.odds[i] / data.n
        * slow_visits("saga", data, w, slopes.copy(), set(range(data.n)), [i], draw.odds, 0.1)
        for i in range(data.n)
    )  # fmt: skip
    np.testing.assert_allclose(mean, w - 0.1 * data.gradient(w), rtol=1e-12)
