import itertools

import numpy as np
import pytest
import scipy.optimize
from threadpoolctl import threadpool_limits

import thalweg as tw
from stepping import follow, in_units
from thalweg.methods.problem import Problem

W0 = np.array([-1.5, 2.0])


def test_one_step_by_hand():
    # f = ½w² from 4: the first trial has length 1, to w = 3, where the slope is ¾ of what it was.
    # s = −1, y = −1: B = 1, and the next step is Newton's.
    states = follow(tw.BFGS(), tw.surfaces.Quadratic((1.0,)), [4.0], 2)
    assert [state.w[0] for state in states] == [4.0, 3.0, 0.0]
    assert states[1].B == [[1.0]]


def test_the_update_equals_the_matrix_formula():
    states = follow(tw.BFGS(), tw.surfaces.Rosenbrock(dim=4), [-1.5, 2.0, 0.5, 1.0], 15)
    identity = np.eye(4)
    for before, after in itertools.pairwise(states):
        s, y = after.w - before.w, after.gradient - before.gradient
        rho = 1 / (s @ y)
        B = before.B if before.updates else (s @ y) / (y @ y) * identity
        left = identity - rho * np.outer(s, y)
        expected = left @ B @ left.T + rho * np.outer(s, s)
        np.testing.assert_allclose(after.B, expected, rtol=1e-8, atol=1e-12)


def test_the_secant_equation_holds_and_b_stays_symmetric_and_positive():
    states = follow(tw.BFGS(), tw.surfaces.Rosenbrock(dim=6), np.linspace(-2, 2, 6), 40)
    for before, after in itertools.pairwise(states):
        s, y = after.w - before.w, after.gradient - before.gradient
        np.testing.assert_allclose(after.B @ y, s, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(after.B, after.B.T, rtol=1e-10, atol=1e-14)
        assert np.linalg.eigvalsh(after.B).min() > 0


def test_the_value_falls_at_every_step():
    run = tw.minimize(tw.surfaces.Rosenbrock(dim=10), "bfgs", np.linspace(-2, 2, 10))
    assert run.outcome is tw.Outcome.CONVERGED
    assert np.all(np.diff(run.trace["value"]) < 0)


def test_the_minimum_is_a_fixed_point():
    start, after = follow(tw.BFGS(), tw.surfaces.Rosenbrock(), [1.0, 1.0], 1)
    assert after is start


def test_converges_faster_than_linearly():
    run = tw.minimize(tw.surfaces.Rosenbrock(), "bfgs", W0, tol=1e-12)
    norms = run.trace["gradient_norm"][-5:]
    ratios = norms[1:] / norms[:-1]
    assert ratios[-1] < 1e-2
    np.testing.assert_allclose(run.w, [1.0, 1.0], atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("f_scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("w_scale", [1e-8, 1.0, 1e8])
def test_learns_the_curvature_in_any_units(f_scale, w_scale, dtype):
    objective = in_units(tw.surfaces.Rosenbrock(), f_scale, w_scale)
    states = follow(tw.BFGS(), objective, (w_scale * W0).astype(dtype), 60)
    assert states[-1].value < 1e-4 * states[0].value


def test_a_linear_function_is_followed_down_not_believed():
    slope = tw.Objective(lambda w: w @ [1.0, 2.0], lambda w: np.array([1.0, 2.0]), dim=2)
    run = tw.minimize(slope, "bfgs", [0.0, 0.0])
    assert run.outcome is tw.Outcome.DIVERGED
    assert "no minimum" in run.reason


def test_begins_anew_when_b_points_uphill():
    surface = tw.surfaces.Rosenbrock()
    state = follow(tw.BFGS(), surface, W0, 5)[-1]._replace(B=-np.eye(2))
    problem = Problem(surface, 2, np.dtype(np.float64))
    after = tw.BFGS().advance(problem, state)
    assert after.value < state.value
    assert after.updates == 1


def test_too_many_variables_name_lbfgs():
    with pytest.raises(tw.InputError) as caught:
        tw.BFGS().check(Problem(tw.surfaces.Rosenbrock(), 10_001, np.dtype(np.float64)))
    assert str(caught.value) == (
        'bfgs keeps a 10001×10001 matrix, at most 10000 variables: use method="lbfgs"'
    )


class _SolvedError(Exception):
    pass


class Counting:
    """Rosenbrock that counts gradients and products, and raises where f ≤ 1e-10 is first seen."""

    dim = 2
    name = "counting"

    def __init__(self):
        self.surface = tw.surfaces.Rosenbrock()
        self.spent = 0

    def value(self, w):
        value = self.surface.value(w)
        if value <= 1e-10:
            raise _SolvedError
        return value

    def gradient(self, w):
        return self.value_and_gradient(w)[1]

    def value_and_gradient(self, w):
        self.spent += 1
        return self.value(w), self.surface.gradient(w)

    def hessian_vector(self, w, v):
        self.spent += 1
        return self.surface.hessian_vector(w, v)


def ours(name, start):
    """What we spend until f ≤ 1e-10; a start that is not solved fails the test."""
    counting = Counting()
    with pytest.raises(_SolvedError):
        tw.minimize(counting, name, start, tol=1e-14)
    return counting.spent


def scipys(name, start):
    """What SciPy spends until f ≤ 1e-10, or until it gives up: tolerances keep it going."""
    counting = Counting()
    try:
        if name == "Newton-CG":
            scipy.optimize.minimize(
                counting.value, start, jac=counting.gradient, hessp=counting.hessian_vector,
                method=name, options={"xtol": 1e-12},
            )  # fmt: skip
        else:
            tight = {"gtol": 1e-14} | ({"ftol": 1e-20} if name == "L-BFGS-B" else {})
            scipy.optimize.minimize(
                counting.value_and_gradient, start, jac=True, method=name, options=tight
            )
    except _SolvedError:
        pass
    return counting.spent


@pytest.mark.parametrize(
    ("name", "rival", "allowance"),
    [("lbfgs", "L-BFGS-B", 1.0), ("bfgs", "BFGS", 1.0), ("newton-cg", "Newton-CG", 1.1)],
)
def test_no_more_gradients_than_scipy_from_a_hundred_starts(name, rival, allowance):
    starts = np.random.default_rng(0).uniform(-2, 2, (100, 2))
    mine = sum(ours(name, start) for start in starts)
    with threadpool_limits(1):  # BLAS threads that wait for a busy core take ten times as long
        theirs = sum(scipys(rival, start) for start in starts)
    assert mine <= allowance * theirs
