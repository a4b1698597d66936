import numpy as np
import pytest
import scipy.optimize

from thalweg.core.errors import InputError
from thalweg.objectives.surfaces import Rosenbrock


def hessian(surface, w):
    return np.array([surface.hessian_vector(w, e) for e in np.eye(surface.dim)])


def test_by_hand():
    # (1 + 1.5)² + 100(2 − 2.25)² = 12.5; ∂x = −2·2.5 − 400·(−1.5)(−0.25) = −155; ∂y = 200·(−0.25)
    f = Rosenbrock()
    assert f.value([-1.5, 2.0]) == 12.5
    np.testing.assert_array_equal(f.gradient([-1.5, 2.0]), [-155.0, -50.0])
    np.testing.assert_array_equal(hessian(f, [1.0, 1.0]), [[802.0, -400.0], [-400.0, 200.0]])


@pytest.mark.parametrize("dim", [2, 3, 7])
def test_equals_scipy(dim):
    f = Rosenbrock(dim=dim)
    w, v = np.random.default_rng(dim).standard_normal((2, dim))
    assert f.value(w) == pytest.approx(scipy.optimize.rosen(w))
    np.testing.assert_allclose(f.gradient(w), scipy.optimize.rosen_der(w))
    np.testing.assert_allclose(f.hessian_vector(w, v), scipy.optimize.rosen_hess_prod(w, v))


@pytest.mark.parametrize(("a", "b"), [(1.0, 100.0), (-2.0, 0.5), (0.0, 10.0), (3.0, 1.0)])
def test_no_saddle_in_two_variables(a, b):
    # ∂f/∂y = 2b(y − x²) = 0 puts a stationary point on the parabola, where ∂f/∂x = −2(a − x):
    # it is (a, a²), and no other. There the determinant is 4b > 0 and the trace positive.
    f = Rosenbrock(a=a, b=b)
    np.testing.assert_array_equal(f.minimizer, [a, a * a])
    np.testing.assert_array_equal(f.gradient(f.minimizer), 0.0)
    x = np.linspace(-5, 5, 101)
    on_the_parabola = np.array([f.gradient(np.array([s, s * s])) for s in x])
    np.testing.assert_allclose(on_the_parabola[:, 0], -2 * (a - x), atol=1e-12)
    H = hessian(f, f.minimizer)
    assert np.linalg.det(H) == pytest.approx(4 * b)
    assert np.linalg.eigvalsh(H).min() > 0


def test_minimizer_in_more_variables():
    np.testing.assert_array_equal(Rosenbrock(dim=4).minimizer, np.ones(4))
    np.testing.assert_array_equal(Rosenbrock(a=0.0, dim=3).minimizer, np.zeros(3))
    assert Rosenbrock(a=2.0, dim=3).minimizer is None
    assert Rosenbrock(a=2.0, dim=3).minimum is None


def test_second_minimum_in_four_variables():
    f = Rosenbrock(dim=4)
    w = np.array([-0.775659, 0.613094, 0.382063, 0.145972])
    for _ in range(20):
        w = w - np.linalg.solve(hessian(f, w), f.gradient(w))
    np.testing.assert_allclose(f.gradient(w), 0.0, atol=1e-10)
    assert w[0] < 0
    assert np.linalg.eigvalsh(hessian(f, w)).min() > 0
    assert f.value(w) > 1.0


def test_start_is_the_race_s():
    np.testing.assert_array_equal(Rosenbrock().start, [-1.5, 2.0])
    np.testing.assert_array_equal(Rosenbrock(dim=3).start, [-1.5, 2.0, -1.5])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"b": 0.0}, r"b must be above 0, got 0\.0"),
        ({"a": "one"}, "a must be a finite number, got 'one'"),
        ({"dim": 1}, "dim must be a whole number, at least 2, got 1"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InputError, match=message):
        Rosenbrock(**arguments)
