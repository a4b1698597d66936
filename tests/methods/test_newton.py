import itertools

import numpy as np
import pytest

import thalweg as tw
from stepping import follow

# Σ eʷ − 2w + ½w²: strongly convex, not quadratic; e^w + w = 2 at the minimum.
BENT = tw.Objective(
    lambda w: np.sum(np.exp(w) - 2 * w + 0.5 * w**2),
    lambda w: np.exp(w) - 2 + w,
    lambda w, v: (np.exp(w) + 1) * v,
)
BENT_MINIMIZER = 0.4428544010023885


def test_one_step_by_hand():
    # f = w⁴ at 3: f′ = 108, f″ = 108, so p = −1.
    quartic = tw.Objective(
        lambda w: np.sum(w**4), lambda w: 4 * w**3, lambda w, v: 12 * w**2 * v, dim=1
    )
    assert follow(tw.Newton(), quartic, [3.0], 1)[1].w[0] == pytest.approx(2.0, rel=1e-14)


@pytest.mark.parametrize("dim", [1, 2, 20])
def test_one_step_lands_at_the_minimum_of_a_quadratic(dim):
    surface = tw.surfaces.Quadratic(
        np.geomspace(0.01, 10.0, dim), rotation="random", center=np.linspace(-3, 3, dim)
    )
    after = follow(tw.Newton(), surface, np.ones(dim), 1)[1]
    np.testing.assert_allclose(after.w, surface.center, atol=1e-11)


def test_the_step_solves_newtons_equation_where_the_hessian_is_positive():
    surface = tw.surfaces.Rosenbrock(dim=4)
    w = np.array([1.01, 1.02, 1.04, 1.08])
    H = np.stack([surface.hessian_vector(w, unit) for unit in np.eye(4)])
    assert np.linalg.eigvalsh(H).min() > 0
    after = follow(tw.Newton(), surface, w, 1)[1]
    p = np.linalg.solve(H, -surface.gradient(w))
    move = after.w - w
    np.testing.assert_allclose(move / np.linalg.norm(move), p / np.linalg.norm(p), atol=1e-12)


def test_converges_quadratically():
    states = follow(tw.Newton(), BENT, [2.0, -1.0, 0.0], 6)
    errors = [np.max(np.abs(state.w - BENT_MINIMIZER)) for state in states]
    for before, after in itertools.pairwise(errors):
        # |f‴|/(2f″) ≤ ½e²/… along the way is below 2.
        assert after <= 2 * before**2 + 1e-15
    assert errors[-1] < 1e-14


def test_does_not_depend_on_the_coordinates():
    # Newton's iterates map along with any linear change of variables, w = Tu.
    T = np.array([[2.0, 1.0], [0.0, 0.5]])
    surface = tw.surfaces.Rosenbrock()
    mapped = tw.Objective(
        lambda u: surface.value(T @ u),
        lambda u: T.T @ surface.gradient(T @ u),
        lambda u, v: T.T @ surface.hessian_vector(T @ u, T @ v),
        dim=2,
    )
    w0 = np.array([1.2, 1.0])
    plain = follow(tw.Newton(), surface, w0, 4)[-1]
    other = follow(tw.Newton(), mapped, np.linalg.solve(T, w0), 4)[-1]
    np.testing.assert_allclose(T @ other.w, plain.w, rtol=1e-9)


def test_goes_away_from_a_saddle():
    # At (1, 10⁻³) on (x² − y²)/2 Newton's step proper leads to the saddle; with |Λ| to (0, 2·10⁻³).
    states = follow(tw.Newton(), tw.surfaces.Saddle(), [1.0, 1e-3], 3)
    heights = [abs(state.w[1]) for state in states]
    np.testing.assert_allclose(states[1].w, [0.0, 2e-3], atol=1e-16)
    assert all(after > 1.9 * before for before, after in itertools.pairwise(heights))
    assert states[-1].value < 0 < states[0].value


def test_leaves_a_saddle_for_a_minimum():
    surface = tw.surfaces.DoubleWell()
    run = tw.minimize(surface, "newton", [0.08, 1.0], tol=1e-10)
    assert run.outcome is tw.Outcome.CONVERGED
    assert tw.classify(surface, run.w).kind == "minimum"


def test_a_flat_direction_is_stepped_along_with_care():
    # ∇² = diag(1, 0): the second curvature is raised to √ε, not divided by.
    valley = tw.Objective(
        lambda w: 0.5 * w[0] ** 2 + w[1],
        lambda w: np.array([w[0], 1.0]),
        lambda w, v: np.array([v[0], 0.0]),
        dim=2,
    )
    after = follow(tw.Newton(), valley, [1.0, 0.0], 1)[1]
    assert np.all(np.isfinite(after.w))
    assert after.w[1] < -1e6


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_curvature_at_all_is_descent(dtype):
    slope = tw.Objective(
        lambda w: w @ np.array([3.0, 4.0]),
        lambda w: np.array([3.0, 4.0]),
        lambda w, v: np.zeros(2),
        dim=2,
    )
    after = follow(tw.Newton(), slope, np.zeros(2, dtype=dtype), 1)[1]
    assert after.value < -1.0
    np.testing.assert_allclose(after.w[1] / after.w[0], 4 / 3, rtol=1e-6)


def test_the_minimum_is_a_fixed_point():
    start, after = follow(tw.Newton(), tw.surfaces.Rosenbrock(), [1.0, 1.0], 1)
    assert after is start


def test_the_value_falls_at_every_step():
    run = tw.minimize(tw.surfaces.Rosenbrock(dim=10), "newton", np.linspace(-2, 2, 10))
    assert run.outcome is tw.Outcome.CONVERGED
    assert np.all(np.diff(run.trace["value"]) < 0)


def test_too_many_variables_name_newton_cg():
    with pytest.raises(tw.InputError) as caught:
        tw.minimize(tw.surfaces.Rosenbrock(dim=2001), "newton", np.zeros(2001))
    assert str(caught.value) == (
        'newton factorises a 2001×2001 Hessian, at most 2000 variables: use method="newton-cg"'
    )
