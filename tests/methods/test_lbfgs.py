import itertools
from collections import deque

import numpy as np
import pytest

import thalweg as tw
from stepping import in_units, linear, without_scores
from thalweg.methods.lbfgs import two_loop
from thalweg.methods.problem import Problem

W0 = np.array([-1.5, 2.0])


def follow(method, objective, w0, count):
    """Copies of the states: the pairs are overwritten in place."""
    w0 = np.asarray(w0)
    problem = Problem(objective, w0.size, w0.dtype)
    state = method.init(problem, w0, np.random.default_rng(0))
    states = [state]
    for _ in range(count):
        state = method.advance(problem, state)
        kept = {name: getattr(state, name).copy() for name in ("S", "Y", "rho")}
        states.append(state._replace(**kept))
    return states


def dense(pairs, dim):
    """The inverse Hessian by the BFGS recursion from (sᵀy/yᵀy)I of the newest pair."""
    s, y = pairs[-1]
    B = (s @ y) / (y @ y) * np.eye(dim)
    for s, y in pairs:
        rho = 1 / (s @ y)
        left = np.eye(dim) - rho * np.outer(s, y)
        B = left @ B @ left.T + rho * np.outer(s, s)
    return B


def test_one_step_by_hand():
    # As in BFGS: s = −1, y = −1 on ½w² from 4, so the second step is Newton's.
    states = follow(tw.LBFGS(), tw.surfaces.Quadratic((1.0,)), [4.0], 2)
    assert [state.w[0] for state in states] == [4.0, 3.0, 0.0]
    assert (states[1].S[0], states[1].Y[0], states[1].rho[0]) == (-1.0, -1.0, 1.0)


@pytest.mark.parametrize("memory", [1, 2, 3, 7])
def test_the_recursion_equals_the_dense_matrix_and_the_ring_a_queue(memory):
    surface = tw.surfaces.Rosenbrock(dim=6)
    states = follow(tw.LBFGS(memory=memory), surface, np.linspace(-2, 2, 6), 25)
    kept = deque(maxlen=memory)
    for before, after in itertools.pairwise(states):
        kept.append((after.w - before.w, after.gradient - before.gradient))
        expected = dense(kept, 6) @ after.gradient
        np.testing.assert_allclose(two_loop(after), expected, rtol=1e-6)
    assert states[-1].pairs == 25


def test_nothing_learnt_is_the_gradient():
    state = follow(tw.LBFGS(), tw.surfaces.Rosenbrock(), W0, 0)[0]
    np.testing.assert_array_equal(two_loop(state), state.gradient)


def test_the_secant_equation_holds():
    states = follow(tw.LBFGS(memory=3), tw.surfaces.Rosenbrock(dim=6), np.linspace(-2, 2, 6), 20)
    for before, after in itertools.pairwise(states):
        s, y = after.w - before.w, after.gradient - before.gradient
        np.testing.assert_allclose(two_loop(after._replace(gradient=y)), s, rtol=1e-7, atol=1e-12)


def test_the_direction_always_descends():
    states = follow(tw.LBFGS(memory=4), tw.surfaces.Rosenbrock(dim=6), np.linspace(-2, 2, 6), 40)
    assert all(two_loop(state) @ state.gradient > 0 for state in states)


@pytest.mark.parametrize("dim", [2, 3, 10])
def test_begins_like_bfgs(dim):
    # From the third step on they part: L-BFGS rescales with each newest pair, BFGS does not.
    surface = tw.surfaces.Quadratic.conditioned(30.0, dim=dim, rotation="random")
    states, full = (
        follow_w(method, surface, surface.start, 2) for method in (tw.LBFGS(), tw.BFGS())
    )
    np.testing.assert_allclose(states, full, rtol=1e-10, atol=1e-12)


def test_in_one_variable_it_is_bfgs():
    # There the secant equation alone decides B.
    surface = tw.surfaces.DoubleWell(dim=1)
    states, full = (follow_w(method, surface, [2.7], 6) for method in (tw.LBFGS(), tw.BFGS()))
    np.testing.assert_allclose(states, full, rtol=1e-9)


def follow_w(method, objective, w0, count):
    w0 = np.asarray(w0)
    problem = Problem(objective, w0.size, w0.dtype)
    state = method.init(problem, w0, np.random.default_rng(0))
    found = [state.w]
    for _ in range(count):
        state = method.advance(problem, state)
        found.append(state.w)
    return found


@pytest.mark.parametrize("memory", [1, 2, 30])
def test_any_memory_converges(memory):
    surface = tw.surfaces.Rosenbrock(dim=20)
    run = tw.minimize(surface, tw.LBFGS(memory=memory), np.full(20, 0.5), tol=1e-10)
    assert run.outcome is tw.Outcome.CONVERGED
    np.testing.assert_allclose(run.w, np.ones(20), atol=1e-6)


def test_more_memory_than_steps_changes_nothing():
    surface = tw.surfaces.Rosenbrock()
    short, long = (follow(tw.LBFGS(memory=m), surface, W0, 12)[-1].w for m in (12, 500))
    np.testing.assert_array_equal(short, long)


def test_the_value_falls_at_every_step():
    run = tw.minimize(tw.surfaces.Rosenbrock(dim=50), "lbfgs", np.linspace(-2, 2, 50))
    assert run.outcome is tw.Outcome.CONVERGED
    assert np.all(np.diff(run.trace["value"]) < 0)


def test_the_minimum_is_a_fixed_point():
    problem = Problem(tw.surfaces.Rosenbrock(), 2, np.dtype(np.float64))
    start = tw.LBFGS().init(problem, np.ones(2), np.random.default_rng(0))
    assert tw.LBFGS().advance(problem, start) is start


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("f_scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("w_scale", [1e-8, 1.0, 1e8])
def test_learns_the_curvature_in_any_units(f_scale, w_scale, dtype):
    objective = in_units(tw.surfaces.Rosenbrock(), f_scale, w_scale)
    states = follow(tw.LBFGS(), objective, (w_scale * W0).astype(dtype), 60)
    assert states[-1].value < 1e-4 * states[0].value


def test_a_region_without_values_is_backed_out_of():
    objective = tw.Objective(
        lambda w: np.sum(w - np.log(w)) if np.all(w > 0) else np.nan,
        lambda w: 1 - 1 / w, dim=2, check_gradient=False,
    )  # fmt: skip
    run = tw.minimize(objective, "lbfgs", [50.0, 0.01], tol=1e-10)
    assert run.outcome is tw.Outcome.CONVERGED
    np.testing.assert_allclose(run.w, [1.0, 1.0], atol=1e-7)


def test_begins_anew_when_what_was_learnt_points_uphill():
    surface = tw.surfaces.Rosenbrock()
    state = follow(tw.LBFGS(memory=3), surface, W0, 5)[-1]
    state = state._replace(rho=-state.rho)  # as if every sᵀy were negative
    assert two_loop(state) @ state.gradient < 0
    after = tw.LBFGS(memory=3).advance(Problem(surface, 2, np.dtype(np.float64)), state)
    assert after.value < state.value
    assert after.pairs == 1


LOSSES = ("squared", "logistic", "squared-hinge", "huber", "multinomial")


def count(method, data, steps, w0=None):
    """How many passes and trials each step took, and the states."""
    w0 = data.start if w0 is None else w0
    problem = Problem(data, data.dim, w0.dtype)
    state = method.init(problem, w0, np.random.default_rng(0))
    passes, trials, points = [], [], [state.w]
    for _ in range(steps):
        before = problem.passes, problem.values
        state = method.advance(problem, state)
        passes.append(problem.passes - before[0])
        trials.append(problem.values - before[1])
        points.append(state.w)
    return passes, trials, points


@pytest.mark.parametrize("loss", LOSSES)
def test_scores_do_not_change_the_steps(loss):
    data, method = linear(loss, l2=1e-3), tw.LBFGS(precondition=False)
    w0 = np.random.default_rng(0).standard_normal(data.dim)
    passes, trials, points = count(method, data, 12, w0)
    reads, _, plain = count(method, without_scores(data), 12, w0)
    np.testing.assert_allclose(points, plain, rtol=1e-6, atol=1e-9)
    assert reads == [k if k == 1 else k - 1 for k in trials]  # the accepted point, looked at twice
    assert max(reads) >= max(passes)


@pytest.mark.parametrize("precondition", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_first_trial_that_is_accepted_reads_the_data_once_and_a_search_twice(loss, precondition):
    data = linear(loss, l2=1e-3)
    w0 = 3 * np.random.default_rng(1).standard_normal(data.dim)
    passes, trials, _ = count(tw.LBFGS(precondition=precondition), data, 12, w0)
    assert passes == [1 if k == 1 else 2 for k in trials]
    assert min(trials) == 1
    assert max(trials) > 2 or (loss, precondition) == ("squared", True)


def test_the_diagonal_means_scaled_variables():
    # The same steps as plain L-BFGS on f(M^−½u), u = M^½w.
    data = linear(l2=1e-2, units=np.array([1.0, 100.0, 1e-3, 7.0, 1.0]))
    root = np.sqrt(data.curvature_diagonal)
    scaled = tw.Objective(
        lambda u: data.value(u / root), lambda u: data.gradient(u / root) / root,
        dim=data.dim, check_gradient=False,
    )  # fmt: skip
    w0 = np.random.default_rng(2).standard_normal(data.dim) / root
    points = count(tw.LBFGS(), data, 10, w0)[2]
    expected = count(tw.LBFGS(), scaled, 10, root * w0)[2]
    np.testing.assert_allclose(np.array(points) * root, expected, rtol=1e-6, atol=1e-8)


def test_units_of_features_do_not_matter():
    units = 2.0 ** np.array([0, 13, -10, 3, -4])
    plain, scaled = (
        count(tw.LBFGS(), linear(units=u), 10)[2][-1][:5] * u for u in (np.ones(5), units)
    )
    np.testing.assert_allclose(plain, scaled, rtol=1e-10)


def test_badly_scaled_features_cost_no_passes():
    data = linear(l2=1e-6, n=400, units=np.array([1.0, 1e3, 1e-3, 30.0, 1.0]))
    runs = [tw.minimize(data, tw.LBFGS(precondition=p), max_iter=3000) for p in (True, False)]
    assert runs[0].outcome is tw.Outcome.CONVERGED
    assert 5 * runs[0].counts["passes"] < runs[1].counts["passes"]
