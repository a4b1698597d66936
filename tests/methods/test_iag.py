import numpy as np
import pytest

import thalweg as tw
from stepping import follow
from thalweg.methods.iag import IAG
from thalweg.methods.problem import Problem
from thalweg.theory.stability import remembered_limit
from visiting import assert_as_defined, problem


def test_two_steps_by_hand():
    # As SAG in turn: w = 0.1; then s = 0.2 − 1, g = −2.6, w = 0.1 − 0.1(−1.3 + 0.05).
    two = tw.LinearProblem([[1.0], [2.0]], [1.0, 1.0], l2=0.5, fit_intercept=False)
    states = follow(IAG(step=0.1), two, two.start, 1)
    assert states[1].w[0] == pytest.approx(0.225, rel=1e-14)
    assert states[1].g[0] == pytest.approx(-2.6, rel=1e-14)


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize(
    ("loss", "options"), [("logistic", {"l2": 0.1}), ("squared", {"l1": 0.05, "weighted": True})]
)
def test_a_run_is_the_definition(loss, options, storage):
    assert_as_defined(IAG(step=0.05), problem(loss, storage=storage, **options), passes=4)


def test_every_seed_gives_the_same_run():
    runs = [tw.minimize(problem(l2=0.1), "iag", seed=seed, max_iter=20) for seed in (0, 1)]
    assert runs[0].w.tobytes() == runs[1].w.tobytes()


@pytest.mark.parametrize("passes", [1, 40])
def test_a_step_beyond_the_limit_diverges_and_the_default_does_not(passes):
    # Equal curvatures: every row is (1), so that the limit is exact.
    n = 50
    ones = tw.LinearProblem(np.ones((n, 1)), np.zeros(n), fit_intercept=False)
    limit = remembered_limit(1.0, samples=n, order="cyclic")
    assert IAG().fixed_step(Problem(ones, 1, np.dtype(float)), 0.0) == pytest.approx(limit / 2)
    for used, falls in ((0.85, True), (1.15, False)):
        method = IAG(step=used * limit, start="full")
        states = follow(method, ones, np.ones(1), 40 + passes)
        early, late = (max(abs(s.w[0]) for s in states[k : k + 8]) for k in (8, len(states) - 8))
        assert (late < early) == falls


def test_it_takes_no_other_order():
    with pytest.raises(tw.InputError, match="got sampling='uniform': use method='sag'"):
        IAG(sampling="uniform")
