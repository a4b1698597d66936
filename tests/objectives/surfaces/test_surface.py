"""Promises that every surface keeps; each surface's own file has what is special about it."""

import pickle

import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.core.objective import ObjectiveProtocol
from thalweg.objectives.surfaces import (
    SURFACES,
    Cliff,
    DoubleWell,
    LinearChain,
    Noisy,
    Plateau,
    Quadratic,
    Rosenbrock,
    Saddle,
    StyblinskiTang,
    Surface,
)

VARIANTS = [
    Quadratic([2.0, -1.0], rotation=0.7, center=[1.0, -1.0]),
    Quadratic.conditioned(50.0, 6, rotation="random"),
    Rosenbrock(a=-1.5, b=3.0),
    Rosenbrock(dim=3),
    Rosenbrock(dim=5),
    Saddle((2.0, -0.5, -3.0)),
    StyblinskiTang(dim=4),
    DoubleWell(tilt=-1.2, curvature=5.0, dim=4),
    DoubleWell(dim=1),
    Plateau(radius=0.5, dim=3),
    Cliff(gentle=0.5, steep=8.0, width=0.3),
    LinearChain(layers=1),
    LinearChain(layers=3, x=(2.0, -1.0), target=(-0.5, 0.25)),
]
ALL = [make() for make in SURFACES.values()] + VARIANTS


def points(surface, count, seed=0):
    low, high = surface.bounds.T
    return np.random.default_rng(seed).uniform(low, high, (count, surface.dim))


def slope_along(f, w, v, h=1e-5):
    """Derivative of f along v by a fourth-order difference."""
    near = f(w + h * v) - f(w - h * v)
    far = f(w + 2 * h * v) - f(w - 2 * h * v)
    return (8 * near - far) / (12 * h)


@pytest.fixture(params=ALL, ids=repr)
def surface(request):
    return request.param


def test_is_an_objective(surface):
    assert isinstance(surface, ObjectiveProtocol)
    assert isinstance(surface, Surface)


def test_gradient_is_the_slope_of_the_value(surface):
    for w in points(surface, 10):
        numeric = [slope_along(surface.value, w, e) for e in np.eye(surface.dim)]
        scale = 1 + abs(surface.value(w)) + np.abs(numeric).max()
        np.testing.assert_allclose(surface.gradient(w), numeric, atol=1e-7 * scale)


def test_hessian_vector_is_the_slope_of_the_gradient(surface):
    for w, v in zip(points(surface, 10), points(surface, 10, seed=1), strict=True):
        numeric = slope_along(surface.gradient, w, v)
        scale = 1 + np.abs(surface.gradient(w)).max() + np.abs(numeric).max()
        np.testing.assert_allclose(surface.hessian_vector(w, v), numeric, atol=1e-7 * scale)


def test_hessian_is_symmetric(surface):
    for w in points(surface, 3):
        H = np.array([surface.hessian_vector(w, e) for e in np.eye(surface.dim)])
        np.testing.assert_allclose(H, H.T, rtol=1e-12, atol=1e-12 * np.abs(H).max())


def test_grid_values_equal_point_values(surface):
    grid = points(surface, 12).reshape(3, 4, surface.dim)
    values = surface.value(grid)
    assert values.shape == (3, 4)
    one_by_one = [[surface.value(w) for w in row] for row in grid]
    np.testing.assert_allclose(values, one_by_one, rtol=1e-12)
    assert type(one_by_one[0][0]) is float


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_kept(surface, dtype):
    w = surface.start.astype(dtype)
    value, gradient = surface.value_and_gradient(w)
    assert gradient.dtype == surface.hessian_vector(w, w).dtype == dtype
    assert surface.value(np.stack([w, w])).dtype == dtype
    # At the start no surface cancels badly, so float32 agrees with float64 to its own digits.
    exact = surface.gradient(surface.start)
    np.testing.assert_allclose(gradient, exact, rtol=1e-4, atol=1e-4 * np.abs(exact).max())
    assert value == pytest.approx(surface.value(surface.start), rel=1e-4, abs=1e-6)


def test_iterate_is_left_alone(surface):
    w, v = surface.start, np.ones(surface.dim)
    w.setflags(write=False)
    v.setflags(write=False)
    surface.value_and_gradient(w)
    surface.hessian_vector(w, v)
    assert not np.shares_memory(surface.gradient(w), w)


def test_stated_minimum_is_one(surface):
    if surface.minimizer is None:
        assert surface.minimum is None
        return
    assert surface.value(surface.minimizer) == pytest.approx(surface.minimum, abs=1e-12)
    least = min(surface.value(points(surface, 2000)))
    assert surface.minimum <= least + 1e-12
    size = np.abs([surface.hessian_vector(surface.minimizer, e) for e in np.eye(surface.dim)]).max()
    np.testing.assert_allclose(surface.gradient(surface.minimizer), 0.0, atol=1e-14 * (1 + size))


def test_stated_constants_bound_the_curvature(surface):
    for w in points(surface, 50):
        H = np.array([surface.hessian_vector(w, e) for e in np.eye(surface.dim)])
        eigenvalues = np.linalg.eigvalsh((H + H.T) / 2)
        if surface.smoothness is not None:
            assert np.abs(eigenvalues).max() <= surface.smoothness * (1 + 1e-12)
        if surface.strong_convexity is not None:
            assert eigenvalues.min() >= surface.strong_convexity - 1e-12 * eigenvalues.max()


def test_start_lies_in_the_box(surface):
    assert surface.bounds.shape == (surface.dim, 2)
    assert surface.bounds.dtype == np.float64
    if surface.dim == 2:
        assert (surface.bounds[:, 0] <= surface.start).all()
        assert (surface.start <= surface.bounds[:, 1]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e30, 1e200])
def test_far_away_is_silent(surface, size, dtype):
    w = np.full(surface.dim, np.float64(size)).clip(max=np.finfo(dtype).max).astype(dtype)
    surface.value(w)
    surface.value(np.stack([w, -w]))
    surface.gradient(w)
    assert surface.hessian_vector(w, w).shape == w.shape


def test_survives_pickling(surface):
    again = pickle.loads(pickle.dumps(surface))
    assert repr(again) == repr(surface)
    assert again.value(surface.start) == surface.value(surface.start)


def test_names_are_the_keys():
    assert all(make.key == name for name, make in SURFACES.items())
    assert {"rosenbrock", "monkey-saddle"} <= set(SURFACES)


def test_repr_is_short():
    assert repr(Rosenbrock()) == "Rosenbrock(a=1, b=100)"
    assert repr(Rosenbrock(dim=3)) == "Rosenbrock(a=1, b=100, dim=3)"
    assert repr(SURFACES["beale"]()) == "Beale()"
    assert repr(LinearChain(layers=3)) == "LinearChain(layers=3, x=(1, 1), target=(1, 1))"


def test_wrong_shapes_are_named():
    with pytest.raises(InputError, match=r"w must have 2 entries.*got shape \(3,\)"):
        Rosenbrock().value(np.zeros(3))
    with pytest.raises(InputError, match=r"w must be one point of shape \(2,\), got \(4, 2\)"):
        Rosenbrock().gradient(np.zeros((4, 2)))


def test_noisy_wraps_the_surface():
    noisy = Rosenbrock().noisy(0.5, seed=3)
    assert isinstance(noisy, Noisy)
    assert (noisy.sigma, noisy.seed, noisy.exact) == (0.5, 3, Rosenbrock())
