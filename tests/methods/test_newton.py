import itertools

import numpy as np
import pytest

import thalweg as tw
from stepping import follow, linear, without_scores
from thalweg.methods import newton
from thalweg.methods.newton import newton_step, solve, solve_samples
from thalweg.methods.problem import Problem

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
    X = np.random.default_rng(0).standard_normal((3, 2_500))
    with pytest.raises(tw.InputError, match='at most 2000 variables: use method="cd"'):
        tw.minimize(tw.LinearProblem(X, [1.0, 2.0, 4.0], "huber", l1=0.1), "newton")


def test_solving_is_exact_where_definite_and_scaled_by_the_diagonal():
    # κ = 10²⁰ by units alone.
    units = np.array([1e-10, 1.0, 1e10])
    S = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.0]])
    g = np.array([1.0, -2.0, 3.0])
    p = solve(np.outer(units, units) * S, units * g, 0.0)
    np.testing.assert_allclose(units * p, np.linalg.solve(S, g), rtol=1e-12)


def test_what_is_not_definite_is_solved_by_absolute_curvatures():
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    for curvatures in ([2.0, 0.5, -1.0], [4.0, 1.0, 1e-17]):
        H = Q @ np.diag(curvatures) @ Q.T
        sizes = np.maximum(np.abs(curvatures), np.sqrt(np.finfo(float).eps) * max(curvatures))
        expected = Q @ np.diag(1 / sizes) @ Q.T @ np.ones(3)
        np.testing.assert_allclose(solve(H, np.ones(3), 0.0), expected, rtol=1e-6)


def test_a_ridge_makes_a_singular_convex_hessian_definite():
    # (1, 1, −2) and the third variable have no curvature, and g no part along them.
    H = np.array([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    p = solve(H, np.array([4.0, 4.0, 0.0]), 1e-10)
    np.testing.assert_allclose(p, [1.0, 1.0, 0.0], rtol=1e-5)


LOSSES = ("squared", "logistic", "squared-hinge", "huber", "multinomial")


# With kinks a linear problem is given a curvature of its own where the loss has none.
@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
def test_scores_do_not_change_the_steps(loss):
    data = linear(loss, l2=1e-2)
    w0 = 0.3 * np.random.default_rng(0).standard_normal(data.dim)
    scored, plain = (
        follow(tw.Newton(), objective, w0, 4) for objective in (data, without_scores(data))
    )
    for state, expected in zip(scored, plain, strict=True):
        found, right = (data.scores(w).reshape(80, -1) for w in (state.w, expected.w))
        if loss == "multinomial":  # the same up to what all intercepts have in common
            found, right = (Z - Z.mean(axis=1, keepdims=True) for Z in (found, right))
        np.testing.assert_allclose(found, right, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_badly_scaled_features_do_not_matter(loss):
    data = linear(loss, l2=1e-8, units=np.array([1.0, 1e5, 1e-5, 30.0, 1.0]))
    run = tw.minimize(data, "newton", tol=1e-9)
    assert run.outcome is tw.Outcome.CONVERGED
    assert run.iterations < 20


def test_a_step_is_two_passes():
    data = linear(l2=1e-2)
    problem = Problem(data, data.dim, np.dtype(np.float64))
    state = tw.Newton().init(problem, data.start, np.random.default_rng(0))
    tw.Newton().advance(problem, state)
    assert problem.counts == {"values": 2, "gradients": 2, "hessian_vectors": 6, "passes": 3}


@pytest.fixture
def sampled(monkeypatch):
    """A problem that counts as large, with samples of 50 and 400 of its 3,200 rows."""
    monkeypatch.setattr(newton, "LARGE", 1000)
    monkeypatch.setattr(newton, "ROWS_A_VARIABLE", 5)
    return linear(n=3200, l2=1e-3)


def test_samples_are_solved_first_and_cost_their_share_of_a_pass(sampled):
    problem = Problem(sampled, sampled.dim, np.dtype(np.float64))
    start = problem.point(sampled.start)
    found, H = solve_samples(problem, start, np.random.default_rng(0))
    # Of the sample, near its minimum: about that of the whole.
    np.testing.assert_allclose(H, sampled.hessian(found.w), atol=0.3 * np.max(H))
    optimum = tw.minimize(sampled, "newton-cg", tol=1e-13)
    # About dim/2m = 6/800 of the loss from the optimum, and all of it at the whole.
    assert 0 < found.value - optimum.value < 0.05 * (start.value - optimum.value)
    value, gradient, scores = sampled.value_gradient_scores(found.w)
    assert (found.value, found.gradient.tolist()) == (value, gradient.tolist())
    np.testing.assert_array_equal(found.scores, scores)
    # At the whole twice; on samples of a 64th and an 8th, each a start and two passes a step.
    fraction = problem.passes - 2
    assert 3 / 64 + 3 / 8 <= fraction < 2
    assert fraction * 64 == int(fraction * 64)
    assert problem.counts["gradients"] == 2


def test_samples_follow_the_seed_and_only_once(sampled):
    runs = [tw.minimize(sampled, "newton", seed=seed, tol=1e-12) for seed in (1, 1, 2)]
    assert runs[0].w.tobytes() == runs[1].w.tobytes()
    assert runs[0].trace["value"][1] == runs[1].trace["value"][1] != runs[2].trace["value"][1]
    assert all(run.converged for run in runs)
    passes = np.diff(runs[0].trace["passes"])
    assert passes[0] % 1 != 0
    assert set(passes[1:]) <= {2.0, 3.0}


def test_a_hessian_that_works_is_used_again_where_rows_are_long(sampled, monkeypatch):
    often = tw.minimize(sampled, "newton", tol=1e-12)
    monkeypatch.setattr(newton, "LONG_ROW", 3)
    rarely = tw.minimize(sampled, "newton", tol=1e-12)
    np.testing.assert_allclose(rarely.w, often.w, atol=1e-5)  # both within 10⁻¹² of F
    assert rarely.counts["hessian_vectors"] < often.counts["hessian_vectors"]
    # A step with an old Hessian is one pass; where it leaves much, the next one has its own.
    passes, norms = np.diff(rarely.trace["passes"]), rarely.trace["gradient_norm"]
    works = norms[1:] <= newton.WORKS * norms[:-1]
    assert passes[1] == 1.0
    assert all(passes[k + 1] == (1.0 if works[k] else 2.0) for k in range(1, len(passes) - 1))


def test_samples_that_lead_up_are_forgotten(sampled):
    near = tw.minimize(sampled, "newton-cg", tol=1e-9).w
    problem = Problem(sampled, sampled.dim, near.dtype)
    start = problem.point(near)
    assert solve_samples(problem, start, np.random.default_rng(0))[0] is None
    state = tw.Newton().init(problem, near, np.random.default_rng(0))
    after = tw.Newton().advance(problem, state)
    expected = newton_step(problem, start, sampled.hessian(near))
    np.testing.assert_array_equal(after.w, expected.w)


@pytest.mark.parametrize("row", [3, 30])
def test_a_resumed_run_takes_the_same_samples(row, sampled, tmp_path, monkeypatch):
    monkeypatch.setattr(newton, "LONG_ROW", row)
    whole = tw.minimize(sampled, "newton", tol=1e-12, seed=4)
    for stop in (1, 2, 3):
        file = tmp_path / f"{stop}.checkpoint"
        tw.minimize(sampled, "newton", tol=1e-12, seed=4, max_iter=stop, checkpoint=file)
        resumed = tw.minimize(sampled, "newton", tol=1e-12, seed=4, checkpoint=file)
        assert resumed.w.tobytes() == whole.w.tobytes()
        assert resumed.counts == whole.counts


@pytest.mark.parametrize("l1", [0.0, 0.01])
def test_a_run_by_sums_that_is_resumed_has_them_and_counts_them_once(l1, tmp_path):
    file = tmp_path / "run.checkpoint"
    whole = tw.minimize(linear("squared", l1=l1), "newton", tol=1e-12)
    tw.minimize(linear("squared", l1=l1), "newton", tol=1e-12, max_iter=0, checkpoint=file)
    resumed = tw.minimize(linear("squared", l1=l1), "newton", tol=1e-12, checkpoint=file)
    assert resumed.counts == whole.counts
    assert resumed.certificate == whole.certificate
    np.testing.assert_array_equal(resumed.trace["gap"], whole.trace["gap"])


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_small_and_quadratic_problems_are_not_sampled(loss):
    data = linear(loss, n=1600, l2=1e-3)
    problem = Problem(data, data.dim, np.dtype(np.float64))
    found, H = solve_samples(problem, problem.point(data.start), np.random.default_rng(0))
    assert found is None
    assert not H.size
    assert problem.passes == 1


def test_samples_without_weight_are_passed_over(sampled):
    weights = np.zeros(3200)
    weights[::700] = 1.0
    data = linear(n=3200, l2=1e-3, sample_weight=weights)
    run = tw.minimize(data, "newton")
    assert run.outcome is tw.Outcome.CONVERGED


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_a_penalty_on_no_intercept_leaves_newton_its_pace(loss):
    # For K classes the intercepts may all be shifted: the Hessian is singular.
    run = tw.minimize(linear(loss, l2=1e-4), "newton", tol=1e-10)
    assert run.outcome is tw.Outcome.CONVERGED
    assert run.iterations < 12


@pytest.mark.parametrize(("n", "p", "most"), [(300, 30, 6), (400, 80, 8), (100, 200, 5)])
def test_huber_begins_with_parabolas_above_it(n, p, most):
    # With next to no curvature at first, beyond the kinks, such problems took tens of steps.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    y = X @ rng.standard_normal(p) + 1e-3 * rng.standard_normal(n)
    problem = tw.LinearProblem(X, y, "huber", delta=1.345e-3, l2=1e-4 / n)
    run = tw.minimize(problem, "newton", progress=False)
    assert run.converged
    assert run.iterations <= most


def test_the_last_step_takes_the_hessian_at_hand_or_none(sampled, monkeypatch):
    monkeypatch.setattr(newton, "LONG_ROW", 3)
    problem = Problem(sampled, sampled.dim, np.dtype(np.float64))
    method = tw.Newton()
    state = method.init(problem, sampled.start, np.random.default_rng(0))
    while not (state.hessian.size and state.steps > 1):
        state = method.advance(problem, state)
    spent = problem.hessian_vectors
    after = method.last_step(problem, state)
    assert np.linalg.norm(after.gradient) < np.linalg.norm(state.gradient)
    for _ in range(60):  # to where rounding ends it, and beyond
        after = method.last_step(problem, after)
    assert problem.hessian_vectors == spent
