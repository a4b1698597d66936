import copy
import pickle

import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.core.objective import ObjectiveProtocol, name_of
from thalweg.objectives.function import Objective
from thalweg.objectives.regularized import Regularized
from thalweg.objectives.surfaces import Himmelblau, Noisy, Quadratic, Rosenbrock

W = np.array([-1.5, 2.0])


def test_noise_is_the_seed_s_by_hand():
    noisy = Rosenbrock().noisy(0.1, seed=7)
    xi = np.random.default_rng(7).standard_normal((2, 2))
    g = Rosenbrock().gradient(W)
    np.testing.assert_array_equal(noisy.gradient(W), g + 0.1 * xi[0])
    value, gradient = noisy.value_and_gradient(W)
    np.testing.assert_array_equal(gradient, g + 0.1 * xi[1])
    assert value == noisy.value(W) == Rosenbrock().value(W)


def test_moments():
    noisy = Quadratic([1.0, 2.0]).noisy(3.0)
    draws = np.array([noisy.gradient(np.zeros(2)) for _ in range(20_000)])
    np.testing.assert_allclose(draws.mean(axis=0), 0.0, atol=5 * 3.0 / np.sqrt(20_000))
    np.testing.assert_allclose(np.cov(draws.T), 9.0 * np.eye(2), atol=0.5)


def test_bound_copy_draws_from_the_run_s_generator():
    noisy = Rosenbrock().noisy(0.1)
    a, b = (noisy.bind(np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(a.gradient(W), b.gradient(W))
    # Binding leaves the original where it was.
    np.testing.assert_array_equal(noisy.gradient(W), Rosenbrock().noisy(0.1).gradient(W))


def test_everything_else_is_that_of_the_surface():
    surface = Himmelblau()
    noisy = surface.noisy(1.0)
    assert isinstance(noisy, ObjectiveProtocol)
    assert noisy.dim == 2
    assert noisy.minimum == 0.0
    assert noisy.smoothness is None
    np.testing.assert_array_equal(noisy.minimizers, surface.minimizers)
    np.testing.assert_array_equal(noisy.bounds, surface.bounds)
    np.testing.assert_array_equal(noisy.hessian_vector(W, W), surface.hessian_vector(W, W))
    assert noisy.exact is surface
    assert not hasattr(noisy, "no_such_thing")
    assert name_of(noisy) == "Himmelblau() with noise 1"


def test_any_objective_will_do():
    f = Objective(lambda w: float(w @ w), lambda w: 2 * w)
    noisy = Noisy(f, 0.5)
    assert noisy.dim is None
    assert noisy.hessian_vector_error(W, W) == f.hessian_vector_error(W, W)
    assert np.abs(noisy.gradient(W) - 2 * W).max() > 0


def test_float32_sees_the_same_noise():
    surface = Quadratic([1.0, 1.0])
    single = surface.noisy(1.0).gradient(np.zeros(2, np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, surface.noisy(1.0).gradient(np.zeros(2)), rtol=1e-6)


def test_no_noise_is_exact():
    np.testing.assert_array_equal(Rosenbrock().noisy(0.0).gradient(W), Rosenbrock().gradient(W))


def test_copies_and_pickles_go_on_where_it_was():
    noisy = Rosenbrock().noisy(1.0)
    noisy.gradient(W)
    copies = [copy.deepcopy(noisy), pickle.loads(pickle.dumps(noisy))]
    following = noisy.gradient(W)
    for other in copies:
        np.testing.assert_array_equal(other.gradient(W), following)


def test_refusals():
    with pytest.raises(InputError, match="sigma must be at least 0, got -1"):
        Rosenbrock().noisy(-1)
    with pytest.raises(InputError, match=r"wrap a plain function in Objective"):
        Noisy(np.sum, 1.0)
    with pytest.raises(InputError, match=r"add noise to its smooth part"):
        Noisy(Regularized(Rosenbrock(), l1=1.0), 1.0)
