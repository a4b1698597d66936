import numpy as np
import pytest
import scipy.optimize

from thalweg.core.errors import InputError
from thalweg.core.objective import is_composite, name_of
from thalweg.objectives.function import Objective
from thalweg.objectives.regularized import Regularized
from thalweg.objectives.surfaces import Quadratic, Rosenbrock


def test_by_hand():
    # f = ½(9 + 4) = 6.5, penalty 2·(3 + 2) = 10
    F = Regularized(Quadratic([1.0, 1.0]), l1=2.0)
    w = np.array([3.0, -2.0])
    assert F.penalty(w) == 10.0
    assert F.value(w) == 16.5
    np.testing.assert_array_equal(F.prox(w, 0.5), [2.0, -1.0])
    np.testing.assert_array_equal(F.prox(w, 1.25), [0.5, 0.0])


def test_threshold_then_ball_by_hand():
    # S((4, −5), 1·1) = (3, −4), of norm 5, scaled to norm 1
    F = Regularized(Quadratic([1.0, 1.0]), l1=1.0, radius=1.0)
    np.testing.assert_allclose(F.prox(np.array([4.0, -5.0]), 1.0), [0.6, -0.8])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("l1", "radius"), [(0.0, 0.5), (0.7, None), (0.7, 0.5), (0.3, 5.0)])
def test_prox_is_the_minimizer_by_definition(l1, radius, seed):
    rng = np.random.default_rng(seed)
    w, step = rng.standard_normal(3), float(rng.uniform(0.2, 2.0))
    F = Regularized(Quadratic([1.0, 1.0, 1.0]), l1=l1, radius=radius)

    # u = p − q with p, q ≥ 0 makes ‖u‖₁ smooth; a general solver then does the rest.
    def model(z):
        u = z[:3] - z[3:]
        return l1 * z.sum() + np.sum((u - w) ** 2) / (2 * step)

    ball = {"type": "ineq", "fun": lambda z: (radius or 1e3) ** 2 - np.sum((z[:3] - z[3:]) ** 2)}
    slow = scipy.optimize.minimize(
        model,
        np.full(6, 0.1),
        bounds=[(0, None)] * 6,
        constraints=[ball],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    ).x
    np.testing.assert_allclose(F.prox(w, step), slow[:3] - slow[3:], atol=1e-5)


def test_the_other_order_is_not_the_prox():
    F = Regularized(Quadratic([1.0, 1.0]), l1=1.0, radius=1.0)
    w = np.array([3.0, 1.5])

    def model(u):
        return F.penalty(u) + np.sum((u - w) ** 2) / 2

    projected = w / np.linalg.norm(w)
    other = np.sign(projected) * np.maximum(np.abs(projected) - 1.0, 0.0)
    assert model(F.prox(w, 1.0)) < model(other) - 0.1


def test_outside_the_ball_is_infinite_beyond_rounding():
    F = Regularized(Quadratic(np.ones(1000)), radius=0.1)
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        for _ in range(20):
            w = F.prox(rng.standard_normal(1000).astype(dtype), 1.0)
            assert w.dtype == dtype
            assert F.penalty(w) == 0.0
            assert F.penalty(w * dtype(1.0001)) == np.inf
    assert F.value(np.ones(1000)) == np.inf


def test_grids():
    F = Regularized(Quadratic([1.0, 1.0]), l1=2.0, radius=1.0)
    grid = np.array([[[0.5, 0.0], [3.0, 0.0]]])
    np.testing.assert_array_equal(F.value(grid), [[1.125, np.inf]])


def test_prox_returns_a_fresh_array():
    w = np.array([0.1, 0.2])
    for F in (Regularized(Rosenbrock()), Regularized(Rosenbrock(), radius=9.0)):
        u = F.prox(w, 1.0)
        np.testing.assert_array_equal(u, w)
        assert not np.shares_memory(u, w)


def test_fixed_point_at_the_known_optimum():
    # ½(w − c)² + λ|w| has its minimum at S(c, λ); there a proximal gradient step does not move.
    c = np.array([3.0, -0.2])
    F = Regularized(Quadratic([1.0, 1.0], center=c), l1=0.5)
    optimum = np.array([2.5, 0.0])
    for step in (0.1, 0.5, 1.0):
        moved = F.prox(optimum - step * F.smooth.gradient(optimum), step)
        np.testing.assert_allclose(moved, optimum, atol=1e-15)


def test_states_what_it_knows():
    F = Regularized(Quadratic([1.0, 4.0]), l1=0.1, radius=1.0)
    assert is_composite(F)
    assert (F.dim, F.strong_convexity) == (2, 1.0)
    assert np.linalg.norm(F.start) <= 1.0 + 1e-15
    # The minimum of f is not that of F.
    assert not hasattr(F, "minimizer")
    assert not hasattr(F, "minimum")
    assert name_of(F) == "Quadratic([1, 4]) + 0.1‖w‖₁, ‖w‖ ≤ 1"


def test_noise_of_the_smooth_part_can_be_bound():
    F = Regularized(Rosenbrock().noisy(1.0), l1=0.1)
    w = np.zeros(2)
    a, b = (F.bind(np.random.default_rng(3)).smooth.gradient(w) for _ in range(2))
    np.testing.assert_array_equal(a, b)
    plain = Regularized(Rosenbrock(), l1=0.1)
    assert plain.bind(np.random.default_rng(3)) is plain


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"l1": -1.0}, "l1 must be at least 0, got -1.0"),
        ({"radius": 0.0}, "radius must be above 0, got 0.0: pass None for no constraint"),
        ({"smooth": np.sum}, r"wrap a plain function in Objective"),
        ({"smooth": Regularized(Rosenbrock())}, "penalties do not stack"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InputError, match=message):
        Regularized(**{"smooth": Rosenbrock(), **arguments})


def test_plain_functions_may_be_regularized():
    F = Regularized(Objective(lambda w: float(w @ w)), l1=1.0)
    assert F.value(np.array([1.0, -2.0])) == 8.0
    assert F.dim is None
    assert F.start is None


def test_step_must_not_be_negative():
    with pytest.raises(InputError, match="step must be at least 0"):
        Regularized(Rosenbrock(), l1=1.0).prox(np.zeros(2), -1.0)
