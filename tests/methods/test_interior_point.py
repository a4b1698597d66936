"""The interior point: its first step, its invariants, and corners where linear programming ends."""

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import linprog

import thalweg as tw
from thalweg.methods.interior_point import InteriorPoint, both_sides
from thalweg.methods.problem import Problem
from thalweg.objectives.tube import Tube


def drawn(seed, n=60, p=4, **options):
    rng = np.random.default_rng(seed)
    X = rng.normal(rng.normal(0.0, 2.0, p), 10.0 ** rng.uniform(-1, 1, p), (n, p))
    y = X @ rng.standard_normal(p) + rng.standard_t(2, n)
    loss = Tube(*rng.uniform(0.2, 1.0, 2), rng.uniform(0.0, 1.0) * (seed % 2))
    return tw.LinearProblem(X, y, loss, sample_weight=rng.uniform(0.2, 1.0, n), **options)


def program(problem):
    """min F by its linear program, in (w⁺, w⁻, b, u, v) with t − ε ≤ u and −t − ε ≤ v."""
    X, y, c, loss = problem.matrix.rows, problem.y, problem.weights, problem.term.loss
    n, p = X.shape
    one, none, eye = np.ones((n, 1)), np.zeros((n, n)), np.eye(n)
    A = np.block([[X, -X, one, -eye, none], [-X, X, -one, none, -eye]])
    right = np.concatenate([y + loss.width, loss.width - y])
    cost = np.concatenate([np.full(2 * p, problem.l1), [0.0], loss.above * c, loss.below * c])
    bounds = [(0, None)] * (2 * p) + [(None, None)] + [(0, None)] * (2 * n)
    found = linprog(cost, A_ub=A, b_ub=right, bounds=bounds)
    return found.fun, np.append(found.x[:p] - found.x[p : 2 * p], found.x[2 * p])


def run(problem, **options):
    return tw.minimize(problem, InteriorPoint(), np.zeros(problem.dim), progress=False, **options)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("l1", [0.0, 0.02, 0.3])
def test_it_ends_where_the_linear_program_does(seed, l1):
    problem = drawn(seed, l1=l1)
    best, w = program(problem)
    found = run(problem)
    assert found.converged
    assert found.value <= best * (1.0 + 1e-9)
    assert found.certificate.gap <= 1e-9 * best
    np.testing.assert_allclose(found.w, w, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_with_l2_it_is_at_the_optimum_of_a_quadratic_program(seed):
    problem = drawn(seed, l2=0.1, fit_intercept=False)
    found = run(problem)
    theta, data = found.dual, problem
    assert found.converged
    assert found.certificate.gap < 1e-10 * found.value
    # w = −Σcθx/l2, and θ at the end of its range on the side where the residual is.
    np.testing.assert_allclose(found.w, -data.transpose(theta) / data.l2, rtol=1e-9, atol=1e-12)
    t, loss = data.scores(found.w) - data.y, data.term.loss
    np.testing.assert_array_equal(theta[t > loss.width + 1e-9], loss.above)
    np.testing.assert_array_equal(theta[t < -loss.width - 1e-9], -loss.below)


def test_a_step_stays_inside_and_lowers_the_gap():
    problem = drawn(1, l1=0.02).centred
    seen = Problem(problem, problem.dim, np.dtype(np.float64))
    method, rng = InteriorPoint(), np.random.default_rng(0)
    state = method.init(seen, np.zeros(problem.dim), rng)
    for _ in range(6):
        after = method.advance(seen, state)
        assert min(after.rows.min(), after.columns.min()) > 0.0
        np.testing.assert_allclose(after.columns[0] + after.columns[1], 2.0 * problem.l1)
        assert after.gap < state.gap
        state = after


def test_both_sides_meet_at_the_optimum_and_nowhere_before():
    problem = drawn(0, l1=0.05).centred
    found = run(problem)
    w = problem.enter(found.w, problem)
    value, floor, v = both_sides(problem, w, found.dual)
    assert value == pytest.approx(floor, rel=1e-9)
    np.testing.assert_allclose(v, problem.transpose(found.dual))
    assert both_sides(problem, w, 0.5 * found.dual)[1] < floor


@pytest.mark.parametrize("l1", [0.0, 0.05])
def test_sparse_is_dense(l1):
    dense = drawn(2, l1=l1)
    X = np.where(np.abs(dense.matrix.rows) < 1.0, 0.0, dense.matrix.rows)
    fits = [
        run(tw.LinearProblem(kind(X), dense.y, dense.term.loss, l1=l1)).w
        for kind in (np.array, scipy.sparse.csr_array)
    ]
    np.testing.assert_allclose(fits[0], fits[1], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("target", ["constant", "line", "two values"])
@pytest.mark.parametrize("l1", [0.0, 0.01])
def test_degenerate_targets_end_in_a_proof(target, l1):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (40, 3)).astype(float)
    y = {"constant": np.full(40, 7.0), "line": X @ [1.0, 2.0, 3.0], "two values": X[:, 0] > 1}
    found = run(tw.LinearProblem(X, y[target], Tube(0.5, 0.5), l1=l1))
    assert found.converged


def test_columns_far_from_zero_and_constant_ones_cost_no_digits():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    y = X @ [1.0, -1.0, 2.0] + rng.standard_t(3, 80)
    near = run(tw.LinearProblem(X, y, Tube(0.3, 0.7), l1=0.01)).w[:3]
    far = np.column_stack([X + 1e6, np.full(80, 3.0)])
    found = run(tw.LinearProblem(far, y, Tube(0.3, 0.7), l1=0.01))
    assert found.converged
    np.testing.assert_allclose(found.w[:4], [*near, 0.0], atol=1e-8)


def test_other_losses_are_refused():
    with pytest.raises(tw.InputError, match="needs a loss with corners, got squared"):
        run(tw.LinearProblem(np.eye(3), [1.0, 2.0, 4.0], l2=0.1))
