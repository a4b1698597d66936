import numpy as np
import pytest

import thalweg as tw
from stepping import follow
from thalweg.methods.svrg import SVRG
from visiting import assert_as_defined, problem

TWO = tw.LinearProblem([[1.0], [2.0]], [1.0, 1.0], l2=0.5, fit_intercept=False)
# s = −1, −1, g = −3. δ = 0: w = 0.15. s₂ = 0.3 − 1, δ = 0.3: d = 0.6 − 1.5 + 0.075.
BY_HAND = [0.15, 0.2325]


def test_the_last_iterate_by_hand():
    method = SVRG(step=0.1, sampling="cyclic", inner=1.0)
    assert follow(method, TWO, TWO.start, 1)[1].w[0] == pytest.approx(BY_HAND[1], rel=1e-14)


def test_a_random_iterate_by_hand():
    method = SVRG(step=0.1, sampling="cyclic", inner=1.0, iterate="random")
    found = set()
    for seed in range(20):
        run = tw.minimize(TWO, method, max_iter=1, seed=seed, tol=1e-15, progress=False)
        found.add(round(float(run.w[0]), 12))
    assert found == set(BY_HAND)


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
    assert_as_defined(SVRG(step=0.05, sampling=sampling, inner=1.5), data, inner=1.5)


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("standardize", [False, True])
def test_value_and_gradient_of_a_state_are_exact(storage, standardize):
    data = problem("logistic", storage=storage, l2=0.1, standardize=standardize, weighted=True)
    for state in follow(SVRG(), data, data.start, 3):
        value, gradient = data.value_and_gradient(state.w)
        assert state.value == pytest.approx(value, rel=1e-13)
        np.testing.assert_allclose(state.gradient, gradient, rtol=1e-9, atol=1e-14)


def test_the_theorem_halves_the_gap_in_the_mean():
    from visiting import optimum

    data = problem("logistic", n=20, l2=1.0, fit_intercept=False)
    best = optimum(data)[1]
    L = float(data.row_smoothness.max())
    method = SVRG(
        step="theory", sampling="uniform", iterate="random", inner=50 * L / data.l2 / data.n
    )
    start = data.value(data.start) - best
    gaps = [
        tw.minimize(data, method, max_iter=1, seed=s, tol=1e-15, progress=False).value - best
        for s in range(10)
    ]
    assert np.mean(gaps) <= 0.5 * start


@pytest.mark.parametrize("start", ["seen", "zero"])
def test_it_begins_with_a_snapshot(start):
    with pytest.raises(tw.InputError, match=f"got '{start}': use method='saga'"):
        SVRG(start=start)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"inner": 0.0}, r"inner must be above 0"),
        ({"iterate": "mean"}, r"iterate must be"),
    ],
)
def test_options_are_checked(options, says):
    with pytest.raises(tw.InputError, match=says):
        SVRG(**options)
