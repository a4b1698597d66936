import math

import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.core.objective import ObjectiveProtocol, known, name_of
from thalweg.objectives.function import Objective
from thalweg.objectives.surfaces import SURFACES, Rosenbrock

ROSENBROCK = Rosenbrock()
W = np.array([0.3, -0.7])


def plain_rosenbrock(w):
    return (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2


def counted(function):
    """`function` with a list of the points it was called at."""
    calls = []

    def wrapper(*arguments):
        calls.append(np.array(arguments[0]))
        return function(*arguments)

    return wrapper, calls


def test_by_hand():
    f = Objective(lambda w: w[0] ** 2 + 3 * w[0] * w[1])
    w = np.array([2.0, 1.0])
    assert f.value(w) == 10.0
    np.testing.assert_allclose(f.gradient(w), [7.0, 6.0], rtol=1e-9)
    np.testing.assert_allclose(f.hessian_vector(w, [1.0, 0.0]), [2.0, 3.0], rtol=1e-8)


def test_what_is_given_is_used():
    f = Objective(
        ROSENBROCK.value,
        ROSENBROCK.gradient,
        ROSENBROCK.hessian_vector,
        value_and_gradient=ROSENBROCK.value_and_gradient,
    )
    v = np.array([1.0, 2.0])
    assert f.value(W) == ROSENBROCK.value(W)
    np.testing.assert_array_equal(f.gradient(W), ROSENBROCK.gradient(W))
    np.testing.assert_array_equal(f.hessian_vector(W, v), ROSENBROCK.hessian_vector(W, v))
    value, gradient = f.value_and_gradient(W)
    assert value == ROSENBROCK.value(W)
    np.testing.assert_array_equal(gradient, ROSENBROCK.gradient(W))
    assert f.hessian_vector_error(W, v) == f.gradient_error(W) == 0.0


def test_value_and_gradient_alone_serves_as_gradient():
    pair, calls = counted(ROSENBROCK.value_and_gradient)
    f = Objective(ROSENBROCK.value, value_and_gradient=pair, check_gradient=False)
    np.testing.assert_array_equal(f.gradient(W), ROSENBROCK.gradient(W))
    f.value_and_gradient(W)
    assert len(calls) == 2


@pytest.mark.parametrize("name", SURFACES)
@pytest.mark.parametrize("with_gradient", [False, True])
def test_errors_cover_the_truth(name, with_gradient):
    surface = SURFACES[name]()
    f = Objective(surface.value, surface.gradient if with_gradient else None)
    rng = np.random.default_rng(0)
    points = [surface.start, *rng.uniform(*surface.bounds.T, (6, surface.dim))]
    if surface.minimizer is not None:
        points.append(surface.minimizer)
    for w in points:
        v = rng.standard_normal(surface.dim)
        off = np.linalg.norm(f.gradient(w) - surface.gradient(w))
        assert off <= f.gradient_error(w)
        truth = surface.hessian_vector(w, v)
        off = np.linalg.norm(f.hessian_vector(w, v) - truth)
        error = f.hessian_vector_error(w, v)
        assert off <= error
        # And it is worth having: small against the curvature.
        scale = max(np.linalg.norm(surface.hessian_vector(w, e)) for e in np.eye(surface.dim))
        assert error <= 1e-3 * (scale + abs(surface.value(w))) * np.linalg.norm(v)


@pytest.mark.parametrize("v", [(1.0, 0.0), (0.0, 1.0), (1.0, 2.0), (-2.0, 1.0)])
def test_rosenbrock_from_values_alone_at_its_minimum(v):
    # (1, 2) runs along the valley, where the product is a thousand times smaller than across.
    f = Objective(plain_rosenbrock)
    w = np.ones(2)
    truth = ROSENBROCK.hessian_vector(w, np.array(v))
    off = np.linalg.norm(f.hessian_vector(w, np.array(v)) - truth)
    assert off <= 1e-6 * np.linalg.norm(truth)
    assert off <= f.hessian_vector_error(w, np.array(v)) <= 1e-4 * np.linalg.norm(truth)


def test_a_flat_minimum_has_no_curvature_within_the_error():
    f = Objective(lambda w: w[0] ** 4 + w[1] ** 4)
    for v in (np.array([1.0, 0.0]), np.array([1.0, -3.0])):
        product = np.linalg.norm(f.hessian_vector(np.zeros(2), v))
        assert product <= f.hessian_vector_error(np.zeros(2), v) <= 1e-8


def test_error_of_a_rough_function_says_so():
    # A ripple of length 1e-5 is invisible to the step that values alone need.
    f = Objective(lambda w: w[0] ** 2 + 1e-8 * math.sin(1e5 * w[0]))
    w, v = np.array([0.37]), np.ones(1)
    truth = 2 - 1e2 * math.sin(3.7e4)
    assert abs(f.hessian_vector(w, v)[0] - truth) > 1
    assert f.hessian_vector_error(w, v) > 1e-3


@pytest.mark.parametrize("length", [1e-8, 1.0, 1e8])
def test_products_are_linear_in_v(length):
    f = Objective(plain_rosenbrock)
    g = Objective(plain_rosenbrock, ROSENBROCK.gradient)
    v = np.array([1.0, -0.5])
    truth = length * ROSENBROCK.hessian_vector(W, v)
    for objective in (f, g):
        np.testing.assert_allclose(objective.hessian_vector(W, length * v), truth, rtol=1e-6)


def test_zero_vector_needs_no_evaluation():
    value, calls = counted(plain_rosenbrock)
    f = Objective(value)
    np.testing.assert_array_equal(f.hessian_vector(W, np.zeros(2)), 0.0)
    assert f.hessian_vector_error(W, np.zeros(2)) == 0.0
    assert not calls


def test_large_coordinates_take_large_steps():
    value, calls = counted(lambda w: (w[0] - 1e9) ** 2)
    np.testing.assert_allclose(Objective(value).gradient([1e9 + 3.0]), [6.0], rtol=1e-4)
    assert np.ptp(calls) == pytest.approx(2e9 * np.finfo(np.float64).eps ** (1 / 3))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_kept_and_differences_are_double(dtype):
    value, calls = counted(plain_rosenbrock)
    f = Objective(value)
    w = W.astype(dtype)
    for result in (f.gradient(w), f.hessian_vector(w, w)):
        assert result.dtype == dtype
    assert {call.dtype for call in calls} == {np.dtype(np.float64)}
    exact = ROSENBROCK.gradient(w.astype(np.float64))
    np.testing.assert_allclose(f.gradient(w), exact, rtol=np.finfo(dtype).eps * 10 + 1e-9)
    given = Objective(ROSENBROCK.value, lambda w: ROSENBROCK.gradient(w.astype(np.float64)))
    assert given.gradient(w).dtype == dtype


@pytest.mark.parametrize("with_gradient", [False, True])
def test_error_covers_the_rounding_of_a_float32_result(with_gradient):
    f = Objective(ROSENBROCK.value, ROSENBROCK.gradient if with_gradient else None)
    w, v = W.astype(np.float32), np.array([1.0, 0.7], np.float32)
    truth = ROSENBROCK.hessian_vector(w.astype(np.float64), v)
    off = np.linalg.norm(f.hessian_vector(w, v) - truth)
    assert off <= f.hessian_vector_error(w, v) <= 1e-5 * np.linalg.norm(truth)


def test_grid_of_points():
    f = Objective(plain_rosenbrock)
    grid = np.random.default_rng(0).standard_normal((3, 4, 2))
    np.testing.assert_allclose(f.value(grid), ROSENBROCK.value(grid))
    assert type(f.value(W)) is float


# The functions are the user's: what they do to their arguments stays with them.


def test_a_function_that_works_in_place_is_harmless():
    def value(w):
        w *= 2
        return float(w @ w) / 4

    def gradient(w):
        w *= 2
        return w

    f = Objective(value, gradient, lambda w, v: np.multiply(v, 2, out=v))
    w, v = W.copy(), np.ones(2)
    f.value_and_gradient(w)
    f.hessian_vector(w, v)
    np.testing.assert_array_equal(w, W)
    np.testing.assert_array_equal(v, 1.0)


def test_a_reused_buffer_is_copied():
    buffer = np.empty(2)
    f = Objective(lambda w: float(w @ w), lambda w: np.multiply(w, 2, out=buffer))
    first = f.gradient(np.array([1.0, 2.0]))
    f.gradient(np.array([5.0, 5.0]))
    np.testing.assert_array_equal(first, [2.0, 4.0])


def test_exceptions_propagate_unchanged():
    class MineError(Exception):
        pass

    def value(w):
        raise MineError("not today")

    with pytest.raises(MineError, match="not today"):
        Objective(value).value(W)
    with pytest.raises(MineError, match="not today"):
        Objective(value, lambda w: w).gradient(W)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_values_are_returned(bad):
    f = Objective(lambda w: bad, lambda w: np.full(2, bad))
    np.testing.assert_equal(f.value(W), bad)
    np.testing.assert_equal(f.gradient(W), [bad, bad])


# What it states, and what it refuses.


def test_states_what_it_was_told():
    f = Objective(
        plain_rosenbrock,
        smoothness=10,
        strong_convexity=0,
        minimizer=[1, 1],
        minimum=0,
        bounds=[[-2, 2], [-1, 3]],
        start=[-1.5, 2],
    )
    assert isinstance(f, ObjectiveProtocol)
    assert (f.dim, f.smoothness, f.strong_convexity, f.minimum) == (2, 10.0, 0.0, 0.0)
    np.testing.assert_array_equal(f.minimizer, [1.0, 1.0])
    assert f.bounds.shape == (2, 2)
    assert name_of(f) == "plain_rosenbrock"
    assert repr(f) == "Objective(plain_rosenbrock, dim=2)"
    silent = Objective(plain_rosenbrock, name="valley")
    assert silent.dim is None
    assert known(silent, "smoothness") is None
    assert repr(silent) == "Objective(valley)"


@pytest.mark.parametrize(
    ("returned", "what"),
    [
        (None, "got None"),
        (1j, "got 1j"),
        ("1", "got '1'"),
        (True, "got True"),
        (np.zeros(1), r"got an array of shape \(1,\)"),
        (np.array(1j), r"got an array of shape \(\) and dtype complex128"),
        ([1.0, 2.0], r"got \[1\.0, 2\.0\]"),
    ],
)
def test_bad_values_get_a_sentence(returned, what):
    with pytest.raises(InputError, match=f"value must return one real number, {what}.*return a f"):
        Objective(lambda w: returned).value(W)


@pytest.mark.parametrize("returned", [2, 2.0, np.float32(2), np.array(2.0), np.int64(2)])
def test_numbers_of_any_kind_will_do(returned):
    assert Objective(lambda w: returned).value(W) == 2.0


@pytest.mark.parametrize(
    ("returned", "what"),
    [
        (np.zeros(3), r"shape \(3,\)"),
        (np.zeros((2, 1)), r"shape \(2, 1\)"),
        (np.zeros(2, complex), "dtype complex128"),
        (1.0, r"got 1\.0"),
        (None, "got None"),
        (["a", "b"], "dtype <U1"),
    ],
)
def test_bad_vectors_get_a_sentence(returned, what):
    f = Objective(lambda w: 0.0, lambda w: returned, lambda w, v: returned)
    with pytest.raises(InputError, match=rf"gradient must return 2 real numbers in .*{what}"):
        f.gradient(W)
    with pytest.raises(InputError, match=rf"hessian_vector must return 2 real .*{what}"):
        f.hessian_vector(W, W)


def test_bad_pairs_get_a_sentence():
    f = Objective(lambda w: 0.0, value_and_gradient=lambda w: 0.0)
    with pytest.raises(InputError, match=r"a pair \(value, gradient\), got 0\.0"):
        f.value_and_gradient(W)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"value": 3.0}, "value must be a function of a vector w that returns a number, got 3.0"),
        ({"gradient": [1.0]}, "gradient must be a function"),
        ({"hessian_vector": 1}, "hessian_vector must be a function"),
        ({"dim": 0}, "dim must be a whole number"),
        ({"dim": 3, "start": [1.0, 2.0]}, "start must have 3 entries"),
        ({"minimizer": [1.0], "start": [1.0, 2.0]}, "start must have 1 entries"),
        ({"smoothness": -1.0}, "smoothness must be at least 0"),
        ({"smoothness": 1.0, "strong_convexity": 2.0}, r"strong_convexity must be in \[0, 1\]"),
        ({"bounds": [1.0, 2.0]}, r"bounds must have shape \(dim, 2\)"),
        ({"bounds": [[1.0, 1.0]]}, "each low below its high"),
        ({"gradeint": None}, "has no argument 'gradeint': did you mean 'gradient'"),
        ({"minimiser": [1.0]}, "has no argument 'minimiser': did you mean 'minimizer'"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InputError, match=message):
        Objective(**{"value": plain_rosenbrock, **arguments})


def test_wrong_point_is_named():
    with pytest.raises(InputError, match=r"w must be a vector of 2 entries, got shape \(3,\)"):
        Objective(plain_rosenbrock, dim=2).gradient(np.zeros(3))
    with pytest.raises(InputError, match=r"w must be a vector of any length, got shape \(\)"):
        Objective(plain_rosenbrock).value(np.float64(1.0))
