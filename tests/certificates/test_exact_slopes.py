import numpy as np
import pytest

from linear_data import BOUNDED
from thalweg.certificates.dual_point import slopes
from thalweg.certificates.exact_slopes import exact_losses
from thalweg.certificates.pair import Pair
from thalweg.kernels.duality import class_conjugates_pass, conjugates_pass
from thalweg.objectives.linear import LinearProblem


def a_problem(loss, n=40):
    rng = np.random.default_rng(0)
    z = rng.standard_normal(n)
    y = (
        z
        if loss in ("squared", "huber")
        else np.digitize(z, [-0.4, 0.4])
        if loss == BOUNDED[-1]
        else z > 0
    )
    weights = rng.uniform(0, 1, n) * (rng.random(n) < 0.8)
    return LinearProblem(rng.standard_normal((n, 2)), y, loss, l2=1.0, sample_weight=weights)


@pytest.mark.parametrize("loss", BOUNDED)
def test_slopes_are_those_of_float64_to_its_last_digits(loss):
    problem = a_problem(loss)
    z = 2.0 * np.random.default_rng(1).standard_normal(problem.score_shape)
    right, theta = slopes(problem, z)
    found = exact_losses(problem.term, problem.weights).slopes(Pair.of(z.reshape(problem.n, -1)))
    assert found.losses == pytest.approx(right, rel=1e-14)
    np.testing.assert_allclose(found.theta.high.reshape(z.shape), theta, rtol=1e-14, atol=1e-300)
    bends = problem.hessian_at(z)._h.reshape(problem.n, -1)
    np.testing.assert_allclose(found.bends, bends, rtol=1e-14)


@pytest.mark.parametrize("scale", [1.0, 0.7])
@pytest.mark.parametrize("loss", BOUNDED)
def test_conjugates_are_those_of_float64_to_its_last_digits(loss, scale):
    problem = a_problem(loss)
    z = Pair.of(2.0 * np.random.default_rng(1).standard_normal((problem.n, problem.outputs)))
    losses = exact_losses(problem.term, problem.weights)
    theta = losses.slopes(z).theta
    found, size = losses.conjugates(z, theta, scale)
    if problem.term.is_matrix:
        right = class_conjugates_pass(scale * theta.high, problem.y, problem.weights)[0]
    else:
        scaled = scale * theta.high.ravel()
        code = problem.term.code
        right = conjugates_pass(code, scaled, problem.y, problem.weights, problem.delta)[0]
    assert found == pytest.approx(right, rel=1e-13)
    assert size >= abs(found)


@pytest.mark.parametrize("loss", BOUNDED)
def test_shrinking_some_slopes_costs_no_more_than_twice_their_share_of_the_size(loss):
    problem, share = a_problem(loss), 1e-3
    z = Pair.of(2.0 * np.random.default_rng(1).standard_normal((problem.n, problem.outputs)))
    losses = exact_losses(problem.term, problem.weights)
    theta = losses.slopes(z).theta
    before, size = losses.conjugates(z, theta, 1.0)
    c, rng = problem.weights, np.random.default_rng(2)
    if problem.term.is_matrix:
        # From the first class to the last.
        own = np.eye(problem.outputs)[problem.y]
        q = theta.high + own
        q[:, -1] += share * q[:, 0]
        q[:, 0] *= 1.0 - share
        after = class_conjugates_pass(q - own, problem.y, c)[0]
    else:
        shrunk = theta.high.ravel() * np.where(rng.random(problem.n) < 0.5, 1.0 - share, 1.0)
        after = conjugates_pass(problem.term.code, shrunk, problem.y, c, problem.delta)[0]
    assert after - before <= 2.0 * share * (size + share)
