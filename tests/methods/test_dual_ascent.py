"""Dual ascent for tubes: an ascent, the duals that it keeps, and the optimum that it reaches."""

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.methods.dual_ascent import DualAscent
from thalweg.methods.interior_point import InteriorPoint
from thalweg.methods.problem import Problem
from thalweg.objectives.tube import SquaredTube, Tube

LOSSES = [Tube(1.0, 1.0, 0.2), Tube(0.3, 0.7), SquaredTube(0.2)]


def problem(loss, storage=np.array, n=80, p=5, l2=0.05):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.6)
    y = X @ rng.standard_normal(p) + rng.standard_t(3, n)
    c = rng.uniform(0.5, 2.0, n)
    return tw.LinearProblem(storage(X), y, loss, l2=l2, fit_intercept=False, sample_weight=c)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_the_dual_rises_and_w_is_that_of_its_duals(loss):
    data = problem(loss)
    seen = Problem(data, data.dim, np.dtype(np.float64))
    method, rng = DualAscent(), np.random.default_rng(0)
    state = method.init(seen, np.zeros(data.dim), rng)
    assert state.floor == 0.0
    for _ in range(5):
        after = method.advance(seen, state)
        assert after.floor > state.floor
        assert after.floor <= after.value
        np.testing.assert_allclose(after.w, -data.transpose(after.theta) / data.l2, atol=1e-12)
        state = after


@pytest.mark.parametrize("storage", [np.array, scipy.sparse.csr_array])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_it_ends_where_other_methods_do(loss, storage):
    data = problem(loss, storage)
    other = InteriorPoint() if isinstance(loss, Tube) else "newton"
    start = np.zeros(data.dim)
    ours = tw.minimize(data, DualAscent(), start, tol=1e-11, progress=False)
    theirs = tw.minimize(data, other, start, tol=1e-11, progress=False)
    assert ours.converged
    np.testing.assert_allclose(ours.w, theirs.w, rtol=1e-4, atol=1e-5)
    assert ours.value == pytest.approx(theirs.value, rel=1e-9)


def test_what_it_does_not_take_is_refused():
    X, y = np.eye(3), np.arange(3.0)
    for given, says in (
        ({"l2": 0.1, "fit_intercept": True, "loss": Tube(1.0, 1.0)}, "no intercept"),
        ({"l1": 0.1, "fit_intercept": False, "loss": Tube(1.0, 1.0)}, "penalty"),
        ({"l2": 0.1, "fit_intercept": False}, "needs the loss of a tube"),
    ):
        with pytest.raises(tw.InputError, match=says):
            tw.minimize(tw.LinearProblem(X, y, **given), DualAscent(), progress=False)
