"""Dual points moved to where columns ask them to be: by hand, and in weights and curvatures."""

import numpy as np
import pytest

import thalweg as tw
from column_problems import drawn
from thalweg.certificates.column_dual import column_dual
from thalweg.certificates.column_levels import levelled, must_level
from thalweg.certificates.dual_point import slopes, unit


def test_two_columns_by_hand():
    # x = (1, 1) for the free column: θ loses its mean, and no more.
    problem = tw.LinearProblem(
        np.array([[1.0], [1.0]]), [0.0, 1.0], l1=1.0, penalty=tw.ByColumn(weight=[0.0]),
        fit_intercept=False,
    )  # fmt: skip
    theta = np.array([3.0, 1.0])
    held = column_dual(problem)
    found = levelled(problem, held, np.array([0.5]), np.zeros(2), theta, unit(2))
    np.testing.assert_allclose(found, [1.0, -1.0], atol=1e-15)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_columns_without_a_penalty_have_none_of_the_slopes(loss, offset, sparse):
    if sparse and offset:
        return
    held = {"weight": [0.0, 1.0] * 4}
    problem = drawn(1, 60, 8, loss, held, l1=10.0, offset=offset, sparse=sparse).centred
    w = 0.01 * np.random.default_rng(0).standard_normal(9)
    w[7] = 0.0  # it is column 0 again, with a penalty
    z = problem.scores(w)
    theta = slopes(problem, z)[1]
    found = levelled(problem, column_dual(problem, w), w, z, theta.copy(), unit(60))
    v, size = problem.transpose(found), np.sqrt(problem.weights @ found**2)
    free = np.array([0, 2, 4])
    assert np.all(np.abs(v[free]) <= 1e-13 * size * problem.features.lengths()[free])
    assert abs(problem.weights @ found) <= 1e-13 * size
    # Samples moved in proportion to their curvatures: the change is Σ over columns of these.
    bend = problem.term.bends(problem.rows, z) / np.where(problem.weights > 0, problem.weights, 1)
    seen = problem.weights > 0
    change = (found - theta)[seen] / bend[seen]
    X = np.column_stack([problem.scores(np.eye(9)[j]) for j in range(9)])[seen]
    fit = X @ np.linalg.lstsq(X, change, rcond=None)[0]
    np.testing.assert_allclose(fit, change, atol=1e-9 * np.abs(change).max())


def test_signs_are_kept_clear_of():
    problem = drawn(2, 60, 8, "squared", {"bounds": (0.0, None)}).centred
    best = tw.minimize(problem, "newton", tol=1e-12, progress=False).w
    z = problem.scores(best)
    found = levelled(problem, column_dual(problem), best, z, slopes(problem, z)[1], unit(60))
    v = problem.transpose(found)
    has_variance = problem.column_squares > 1e-20
    assert np.all(v[has_variance] > 0.0)
    np.testing.assert_allclose(v[best[:-1] > 0.0], 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("held", "l2", "must"),
    [
        ({"bounds": (0.0, None)}, 0.0, True),
        ({"bounds": (0.0, None)}, 0.1, False),
        ({"bounds": (0.0, 1.0)}, 0.0, False),
        ({"weight": np.arange(8.0)}, 0.1, True),
    ],
)
def test_when_it_is_needed(held, l2, must):
    assert must_level(drawn(0, 60, 8, "squared", held, l2=l2)) is must
    assert not must_level(tw.LinearProblem(np.eye(3), np.ones(3), l2=0.1))
