import numpy as np
import pytest

from l1_problems import begun, data, shortest_subgradient
from thalweg.methods.cd import CD
from thalweg.methods.working_set import products, wanted_features


def test_the_working_set_holds_the_support_and_the_nearest():
    problem = data(l1=0.3, fit_intercept=False)
    seen, method, state = begun(problem, CD(working_set=3))
    nearness = np.abs(state.v) / state.spread - 0.3 / state.spread
    beyond = np.count_nonzero(nearness > 0)
    nearest = np.sort(np.argsort(nearness)[-min(beyond, 6) :])  # a tenth of 60
    assert beyond > 3
    np.testing.assert_array_equal(wanted_features(problem, state, 3), nearest)
    state = method.advance(seen, state)
    np.testing.assert_array_equal(state.members, nearest)
    support = np.flatnonzero(state.w)
    wanted = wanted_features(problem, state, 3)
    assert set(support) <= set(wanted)
    assert len(wanted) >= max(3, 2 * len(support))
    assert not set(np.flatnonzero(state.is_out)) & set(wanted) - set(support)


def test_under_a_weak_penalty_it_begins_with_no_more_features_than_samples():
    problem = data(20, 1000, l1=1e-4)
    _, _, state = begun(problem)
    assert np.count_nonzero(np.abs(state.v) > problem.l1) > 900
    assert wanted_features(problem, state, 10).size == 20  # a tenth of all would be 100


def test_features_are_gathered_once():
    problem = data(l1=0.05)
    seen, method, state = begun(problem)
    state = method.advance(seen, state)
    for _ in range(5):
        before, state = state, method.advance(seen, state)
        if state is before:
            break
        np.testing.assert_array_equal(state.members[: before.members.size], before.members)
        assert np.unique(state.members).size == state.members.size


@pytest.mark.parametrize("storage", ["C", "csr"])
@pytest.mark.parametrize("options", [{}, {"standardize": True}, {"fit_intercept": False}])
def test_x_is_not_read_again_once_all_that_is_left_is_gathered(storage, options, monkeypatch):
    problem = data(100, 200, "logistic", storage=storage, l1=0.02, **options)
    seen, method, state = begun(problem)
    while np.count_nonzero(~state.is_out) > 40:
        state = method.advance(seen, state)
    state = method.advance(seen, state)
    with monkeypatch.context() as patch:
        patch.setattr(problem, "transpose", None)
        state = method.advance(seen, state)
    is_in = ~state.is_out
    slopes = problem.gradient(state.w)[:200] - problem.l2 * state.w[:200]
    np.testing.assert_allclose(state.v[is_in], slopes[is_in], atol=1e-12)
    theta = np.random.default_rng(0).standard_normal(100)  # out of balance, as slopes may be
    v = products(seen, state, theta)
    np.testing.assert_allclose(v[is_in], problem.transpose(theta)[is_in], atol=1e-12)
    expected = shortest_subgradient(problem, state.w)  # what is out is zero by itself
    np.testing.assert_allclose(state.gradient, expected, rtol=1e-6, atol=1e-11)
