import time

import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.objectives.surfaces import Quadratic


def test_by_hand():
    # ½(1·2² + 10·1²) = 7, gradient (1·2, 10·1)
    q = Quadratic([1.0, 10.0])
    assert q.value([2.0, 1.0]) == 7.0
    np.testing.assert_array_equal(q.gradient([2.0, 1.0]), [2.0, 10.0])
    np.testing.assert_array_equal(q.hessian_vector([0.0, 0.0], [1.0, -1.0]), [1.0, -10.0])


def test_rotation_by_hand():
    # A quarter turn takes e₁ to e₂: the curvature 10 now lies along −e₁.
    q = Quadratic([1.0, 10.0], rotation=np.pi / 2, center=[1.0, 0.0])
    np.testing.assert_allclose(q.gradient([2.0, 1.0]), [10.0, 1.0])
    assert q.value([2.0, 1.0]) == pytest.approx(5.5)


@pytest.mark.parametrize("rotation", [0.3, "random", np.linalg.qr([[1.0, 2], [3, 4]])[0]])
def test_equals_the_dense_form(rotation):
    q = Quadratic([3.0, -0.5], rotation=rotation, center=[0.5, -2.0], seed=4)
    Q = q.basis
    A = Q @ np.diag(q.eigenvalues) @ Q.T
    w = np.random.default_rng(0).standard_normal(2)
    d = w - q.center
    assert q.value(w) == pytest.approx(0.5 * d @ A @ d)
    np.testing.assert_allclose(q.gradient(w), A @ d)
    np.testing.assert_allclose(q.hessian_vector(w, d), A @ d)


def test_random_rotation_is_orthogonal_and_replays():
    first, second = (Quadratic(np.ones(7), rotation="random", seed=2) for _ in range(2))
    np.testing.assert_allclose(first.basis.T @ first.basis, np.eye(7), atol=1e-14)
    np.testing.assert_array_equal(first.basis, second.basis)
    assert not np.allclose(first.basis, Quadratic(np.ones(7), "random", seed=3).basis)


def test_constants_and_minimum():
    q = Quadratic([2.0, 0.0, 5.0], center=[1.0, 2.0, 3.0])
    assert (q.smoothness, q.strong_convexity, q.minimum) == (5.0, 0.0, 0.0)
    np.testing.assert_array_equal(q.minimizer, [1.0, 2.0, 3.0])
    saddle = Quadratic([2.0, -7.0])
    assert (saddle.smoothness, saddle.strong_convexity) == (7.0, None)
    assert saddle.minimizer is None
    assert saddle.minimum is None


def test_conditioned_keeps_l_at_one():
    q = Quadratic.conditioned(100.0, dim=3)
    np.testing.assert_allclose(q.eigenvalues, [0.01, 0.1, 1.0])
    assert q.smoothness / q.strong_convexity == pytest.approx(100.0)
    assert Quadratic.conditioned(10.0, 5, "random", seed=1).smoothness == 1.0


def test_newton_step_ends_at_the_center():
    q = Quadratic.conditioned(1e3, 4, "random")
    H = np.array([q.hessian_vector(q.start, e) for e in np.eye(4)])
    np.testing.assert_allclose(q.start - np.linalg.solve(H, q.gradient(q.start)), 0, atol=1e-12)


def test_a_million_variables_need_no_matrix():
    q = Quadratic.conditioned(100.0, dim=1_000_000)
    began = time.perf_counter()
    value, gradient = q.value_and_gradient(q.start)
    assert time.perf_counter() - began < 1.0
    assert value == pytest.approx(0.5 * q.eigenvalues.sum())
    np.testing.assert_array_equal(gradient, q.eigenvalues)


def test_arrays_are_its_own():
    eigenvalues = np.array([1.0, 2.0])
    q = Quadratic(eigenvalues, center=[1.0, 1.0])
    eigenvalues[0] = -5.0
    assert q.value([2.0, 1.0]) == 0.5
    q.minimizer[0] = 9.0
    np.testing.assert_array_equal(q.minimizer, [1.0, 1.0])
    with pytest.raises(ValueError, match="read-only"):
        q.eigenvalues[0] = 3.0


def test_repr():
    assert repr(Quadratic([1, 100], rotation=0.5)) == "Quadratic([1, 100], rotation=0.5)"
    assert repr(Quadratic.conditioned(10.0, 50)) == "Quadratic(50 eigenvalues from 0.1 to 1)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"eigenvalues": []}, "eigenvalues must have at least one entry"),
        ({"eigenvalues": [1.0, np.nan]}, "eigenvalues must be finite"),
        ({"eigenvalues": [1.0, 2, 3], "rotation": 0.5}, "an angle says enough in two variables"),
        ({"rotation": [[1.0, 1.0], [0.0, 1.0]]}, "rotation must be orthogonal"),
        ({"rotation": np.eye(3)}, r"rotation must have shape \(2, 2\)"),
        ({"rotation": "spin"}, "orthogonal matrix or \"random\", got 'spin'"),
        ({"center": [1.0]}, "center must have 2 entries"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InputError, match=message):
        Quadratic(**arguments)


def test_condition_numbers_start_at_one():
    with pytest.raises(InputError, match=r"kappa must be at least 1, got 0\.5"):
        Quadratic.conditioned(0.5)
