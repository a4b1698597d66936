"""Column generation: the whole problem's corner, found through a few of its features."""

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.methods import column_generation
from thalweg.methods.column_generation import ColumnGeneration
from thalweg.methods.interior_point import InteriorPoint
from thalweg.methods.problem import Problem
from thalweg.objectives.tube import Tube


def drawn(seed, n=80, p=200, l1=0.02, storage=np.array):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.5) + 3.0 * (seed % 2)
    y = X[:, :5] @ rng.standard_normal(5) + rng.standard_t(2, n) + 100.0
    return tw.LinearProblem(storage(X), y, Tube(0.4, 0.6), l1=l1)


def run(problem, method):
    return tw.minimize(problem, method, np.zeros(problem.dim), progress=False)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("l1", [0.005, 0.05])
@pytest.mark.parametrize("storage", [np.array, scipy.sparse.csr_array])
def test_it_ends_where_all_features_at_once_do(seed, l1, storage, monkeypatch):
    monkeypatch.setattr(column_generation, "FIRST", 10)
    problem = drawn(seed, l1=l1, storage=storage)
    whole, few = run(problem, InteriorPoint()), run(problem, ColumnGeneration())
    assert whole.converged
    assert few.converged
    np.testing.assert_allclose(few.w, whole.w, rtol=1e-7, atol=1e-8)
    assert few.certificate.gap <= 1e-8 * few.value


def test_prices_decide_who_joins_and_sets_grow(monkeypatch):
    monkeypatch.setattr(column_generation, "FIRST", 3)
    problem = drawn(0).centred
    seen = Problem(problem, problem.dim, np.dtype(np.float64))
    method, rng = ColumnGeneration(), np.random.default_rng(0)
    state = method.init(seen, np.zeros(problem.dim), rng)
    assert not state.features.size
    prices = np.abs(problem.transpose(state.theta))
    after = method.advance(seen, state)
    assert set(after.features) == set(np.argsort(-prices)[:3])
    while after is not state:
        state, after = after, method.advance(seen, after)
        assert set(state.features) <= set(after.features)
        assert after.value <= state.value
    assert np.abs(problem.transpose(state.theta)).max() <= problem.l1 * (1.0 + 1e-8)


def test_other_penalties_are_refused():
    for options in ({"l1": 0.0}, {"l1": 0.1, "l2": 0.1}):
        problem = tw.LinearProblem(np.eye(3), [1.0, 2.0, 4.0], Tube(0.5, 0.5), **options)
        with pytest.raises(tw.InputError, match="column-generation needs l1 > 0 and l2 = 0"):
            run(problem, ColumnGeneration())
