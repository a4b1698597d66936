import itertools

import numpy as np
import pytest

import thalweg as tw
from stepping import follow, linear, without_scores
from thalweg.methods import lbfgs
from thalweg.methods.newton_cg import steihaug
from thalweg.methods.problem import Problem

TIGHT = 1e24  # a first gradient so long that the forcing term is nothing


def model_step(surface, w, *, radius, first_norm=TIGHT, most=100):
    problem = Problem(surface, w.size, w.dtype)

    def product(v):
        return problem.hessian_vector(w, v)

    model = steihaug(product, lambda r: r, surface.gradient(w), radius, first_norm, most)
    return (model.p, model.decrease, model.on_edge), problem


def decrease(surface, w, p):
    """m(0) − m(p) = −∇fᵀp − ½pᵀ∇²f·p."""
    return -surface.gradient(w) @ p - 0.5 * p @ surface.hessian_vector(w, p)


BOWL = tw.surfaces.Quadratic.conditioned(100.0, dim=8, rotation="random")
W = np.linspace(-1.0, 2.0, 8)


def test_one_step_by_hand():
    # f = ½·2w² from 3: one product, p = −3, m(0) − m(p) = 9.
    (p, promised, on_edge), problem = model_step(
        tw.surfaces.Quadratic((2.0,)), np.array([3.0]), radius=10.0
    )
    assert (p[0], promised, on_edge) == (-3.0, 9.0, False)
    assert problem.counts["hessian_vectors"] == 1


def test_a_wide_region_and_tight_forcing_give_newtons_step():
    (p, promised, on_edge), problem = model_step(BOWL, W, radius=1e6)
    H = np.stack([BOWL.hessian_vector(W, unit) for unit in np.eye(8)])
    np.testing.assert_allclose(p, np.linalg.solve(H, -BOWL.gradient(W)), rtol=1e-8)
    assert promised == pytest.approx(decrease(BOWL, W, p), rel=1e-10)
    assert not on_edge
    assert problem.counts["hessian_vectors"] <= 10


@pytest.mark.parametrize("radius", [1e-6, 0.01, 0.5, 2.0])
def test_a_narrow_region_is_left_at_its_edge(radius):
    (p, promised, on_edge), _ = model_step(BOWL, W, radius=radius)
    assert on_edge
    assert np.linalg.norm(p) == pytest.approx(radius, rel=1e-12)
    assert promised == pytest.approx(decrease(BOWL, W, p), rel=1e-9)
    # Never worse than going down the gradient as far as the model and the region allow.
    g = BOWL.gradient(W)
    length = min(radius / np.linalg.norm(g), (g @ g) / (g @ BOWL.hessian_vector(W, g)))
    assert promised >= decrease(BOWL, W, -length * g) * (1 - 1e-12)


def test_the_tiniest_region_leads_down_the_gradient():
    (p, _, _), _ = model_step(BOWL, W, radius=1e-9)
    g = BOWL.gradient(W)
    np.testing.assert_allclose(p, -1e-9 * g / np.linalg.norm(g), rtol=1e-9)


def test_negative_curvature_is_followed_downhill_to_the_edge():
    surface = tw.surfaces.Saddle((4.0, 1.0, -2.0))
    w = np.array([0.5, 0.4, 1e-3])
    (p, promised, on_edge), _ = model_step(surface, w, radius=3.0)
    assert on_edge
    assert np.linalg.norm(p) == pytest.approx(3.0, rel=1e-12)
    assert promised == pytest.approx(decrease(surface, w, p), rel=1e-9)
    assert surface.value(w + p) == pytest.approx(surface.value(w) - promised, rel=1e-9)
    assert surface.gradient(w) @ p < 0


@pytest.mark.parametrize("radius", [0.1, 3.0, 1e6])
@pytest.mark.parametrize("curvature", [1.0, -1.0])
def test_a_preconditioner_is_a_change_of_variables(radius, curvature):
    # q = Lᵀp with M = LLᵀ: the same iteration, without a preconditioner, on L⁻¹HL⁻ᵀ.
    rng = np.random.default_rng(0)
    L = np.tril(rng.standard_normal((8, 8))) + 3.0 * np.eye(8)
    H = np.stack([BOWL.hessian_vector(W, unit) for unit in np.eye(8)])
    H[7, 7] *= curvature
    g, M_inverse = BOWL.gradient(W), np.linalg.inv(L @ L.T)
    model = steihaug(lambda d: H @ d, lambda r: M_inverse @ r, g, radius, 1e3, 100)
    turned = np.linalg.solve(L, np.linalg.solve(L, H).T)
    slow = steihaug(lambda d: turned @ d, lambda r: r, np.linalg.solve(L, g), radius, 1e3, 100)
    np.testing.assert_allclose(L.T @ model.p, slow.p, rtol=1e-6, atol=1e-6 * slow.length)
    assert model.decrease == pytest.approx(slow.decrease)
    assert model.length == pytest.approx(np.linalg.norm(L.T @ model.p))
    assert (model.on_edge, model.norm) == (slow.on_edge, pytest.approx(slow.norm))


def test_loose_forcing_saves_products():
    (_, loose, _), few = model_step(BOWL, W, radius=1e6, first_norm=1e-3)
    (_, tight, _), many = model_step(BOWL, W, radius=1e6)
    assert few.counts["hessian_vectors"] < many.counts["hessian_vectors"] / 2
    assert 0.5 * tight < loose < tight


def test_forcing_bounds_the_residual():
    g = BOWL.gradient(W)
    norm = np.linalg.norm(g)
    for ratio in (4.0, 100.0, 1e4):
        (p, _, _), _ = model_step(BOWL, W, radius=1e6, first_norm=ratio * norm)
        residual = np.linalg.norm(g + BOWL.hessian_vector(W, p))
        assert residual <= min(0.5, ratio**-0.5) * norm


def test_products_are_limited():
    for most in (1, 3):
        _, problem = model_step(BOWL, W, radius=1e6, most=most)
        assert problem.counts["hessian_vectors"] == most
    limited = follow(tw.NewtonCG(max_cg=2), BOWL, W, 1)[1]
    problem = Problem(BOWL, 8, W.dtype)
    start = tw.NewtonCG(max_cg=2).init(problem, W, np.random.default_rng(0))
    tw.NewtonCG(max_cg=2).advance(problem, start)
    assert problem.counts["hessian_vectors"] <= 2
    assert limited.value < BOWL.value(W)


def test_no_gradient_no_step():
    (p, promised, on_edge), problem = model_step(BOWL, np.zeros(8), radius=1.0)
    assert not p.any()
    assert (promised, on_edge, problem.counts["passes"]) == (0.0, False, 0)


@pytest.mark.parametrize("w", [(0.0, 0.0), (1.0, 1.0)])
def test_the_minimum_is_a_fixed_point(w):
    surface = tw.surfaces.Quadratic(center=w)
    start, after = follow(tw.NewtonCG(), surface, w, 1)
    assert after is start


@pytest.mark.parametrize(
    "surface",
    [
        tw.surfaces.Rosenbrock(dim=10),
        tw.surfaces.StyblinskiTang(dim=5),
        tw.surfaces.Himmelblau(),
        tw.surfaces.Beale(),
        tw.surfaces.Cliff(),
        tw.surfaces.DoubleWell(dim=3),
    ],
)
def test_the_value_never_rises(surface):
    rng = np.random.default_rng(4)
    for _ in range(10):
        states = follow(tw.NewtonCG(), surface, rng.uniform(-2, 2, surface.dim), 40)
        values = np.array([state.value for state in states])
        assert np.all(np.diff(values) <= 1e-14 * np.abs(values[:-1]))


def test_converges_faster_than_linearly():
    # The gradient of Σ eʷ − 2w + ½w² vanishes where eʷ + w = 2.
    objective = tw.Objective(
        lambda w: np.sum(np.exp(w) - 2 * w + 0.5 * w**2),
        lambda w: np.exp(w) - 2 + w,
        lambda w, v: (np.exp(w) + 1) * v,
    )
    states = follow(tw.NewtonCG(), objective, np.linspace(-2, 3, 20), 8)
    errors = np.array([np.max(np.abs(state.w - 0.4428544010023885)) for state in states])
    errors = errors[errors > 1e-14]
    ratios = errors[1:] / errors[:-1]
    assert np.all(np.diff(ratios) < 0)
    assert ratios[-1] < 1e-3


def test_leaves_the_neighbourhood_of_a_saddle_at_once():
    states = follow(tw.NewtonCG(), tw.surfaces.Saddle(), [1e-3, 1e-3], 3)
    assert np.linalg.norm(states[1].w) > 0.5
    assert states[3].value < -1.0


def test_leaves_a_saddle_for_a_minimum():
    surface = tw.surfaces.DoubleWell()
    run = tw.minimize(surface, "newton-cg", [0.08, 1.0], tol=1e-10)
    assert run.outcome is tw.Outcome.CONVERGED
    assert tw.classify(surface, run.w).kind == "minimum"


def test_the_first_region_is_the_one_given_and_grows_with_good_steps():
    far = tw.surfaces.Quadratic(center=(100.0, 0.0))
    states = follow(tw.NewtonCG(radius=0.5), far, [0.0, 0.0], 4)
    lengths = [np.linalg.norm(b.w - a.w) for a, b in itertools.pairwise(states)]
    np.testing.assert_allclose(lengths, [0.5, 1.0, 2.0, 4.0], rtol=1e-12)


def test_the_region_shrinks_when_the_model_was_poor():
    # f = 5w², but the products say ½w²: from 1 to the edge at −0.9 it promises 17.2 and gives 0.95.
    steep = tw.Objective(lambda w: 5 * w @ w, lambda w: 10 * w, lambda w, v: v, dim=1)
    states = follow(tw.NewtonCG(radius=1.9), steep, [1.0], 2)
    assert states[1].w[0] == pytest.approx(-0.9)
    assert states[1].radius == pytest.approx(1.9 / 4)
    assert abs(states[2].w[0] - states[1].w[0]) <= 1.9 / 4 * (1 + 1e-12)


def test_a_step_that_climbs_is_shortened_until_it_descends():
    # Likewise, but the edge at −3 is higher than the start.
    steep = tw.Objective(lambda w: 5 * w @ w, lambda w: 10 * w, lambda w, v: v, dim=1)
    start, after = follow(tw.NewtonCG(radius=4.0), steep, [1.0], 1)
    assert after.value < start.value
    assert after.w[0] < start.w[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("f_scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("w_scale", [1e-4, 1.0, 1e8])
def test_works_in_any_units(f_scale, w_scale, dtype):
    surface = tw.surfaces.Rosenbrock()
    objective = tw.Objective(
        lambda w: f_scale * surface.value(w / w_scale),
        lambda w: f_scale / w_scale * surface.gradient(w / w_scale),
        lambda w, v: f_scale / w_scale**2 * surface.hessian_vector(w / w_scale, v),
        dim=2, check_gradient=False,
    )  # fmt: skip
    w0 = (w_scale * np.array([-1.5, 2.0])).astype(dtype)
    states = follow(tw.NewtonCG(), objective, w0, 45)
    assert states[-1].value < 1e-4 * states[0].value


LOSSES = ("squared", "logistic", "squared-hinge", "huber", "multinomial")


@pytest.mark.parametrize("loss", LOSSES)
def test_on_a_linear_problem_it_reaches_the_same_minimum_in_fewer_passes(loss):
    data = linear(loss, l2=1e-3, n=200, units=np.array([1.0, 1e3, 1e-2, 30.0, 1.0]))
    scored = tw.minimize(data, "newton-cg", tol=1e-10)
    plain = tw.minimize(without_scores(data), "newton-cg", data.start, tol=1e-9, max_iter=300)
    assert scored.outcome is tw.Outcome.CONVERGED
    assert scored.value <= plain.value + 1e-8
    assert scored.counts["passes"] < plain.counts["passes"]


def test_units_of_features_do_not_matter():
    units = 2.0 ** np.array([0, 13, -10, 3, -4])
    plain, scaled = (
        follow(tw.NewtonCG(), linear(units=u), np.zeros(6), 4)[-1].w[:5] * u
        for u in (np.ones(5), units)
    )
    np.testing.assert_allclose(plain, scaled, rtol=1e-9)


def test_a_step_reads_the_data_for_its_diagonal_its_products_and_itself():
    data = linear(l2=1e-3)
    method, problem = tw.NewtonCG(), Problem(data, data.dim, np.dtype(np.float64))
    state = method.init(problem, data.start, np.random.default_rng(0))
    for _ in range(4):
        before = problem.counts
        state = method.advance(problem, state)
        spent = {name: number - before[name] for name, number in problem.counts.items()}
        assert spent["passes"] == spent["hessian_vectors"] + 2
        assert spent["gradients"] == spent["values"] == 1


def test_a_step_that_is_shortened_reads_the_data_once_more():
    # Far out on the flat part of the loss a quadratic promises too much.
    data = linear(l2=1e-9)
    w0 = np.full(data.dim, -20.0)
    method, problem = tw.NewtonCG(radius=1e9), Problem(data, data.dim, w0.dtype)
    state = method.init(problem, w0, np.random.default_rng(0))
    shortened = 0
    for _ in range(6):
        before = problem.counts
        after = method.advance(problem, state)
        spent = {name: number - before[name] for name, number in problem.counts.items()}
        assert after.value < state.value
        assert spent["passes"] == spent["hessian_vectors"] + 1 + spent["gradients"]
        assert spent["gradients"] == (1 if spent["values"] == 1 else 2)
        shortened += spent["values"] > 1
        state = after
    assert shortened


def test_the_preconditioned_step_is_newtons_where_the_products_suffice():
    data = linear(l2=1e-2, units=np.array([1.0, 1e4, 1e-3, 7.0, 1.0]))
    w = 1.001 * tw.minimize(data, "newton", tol=1e-9).w
    problem = Problem(data, data.dim, w.dtype)
    state = tw.NewtonCG().init(problem, w, np.random.default_rng(0))
    after = tw.NewtonCG().advance(problem, state._replace(first_norm=1e24, radius=1e9))
    expected = np.linalg.solve(data.hessian(w), -data.gradient(w))
    np.testing.assert_allclose(after.w - w, expected, rtol=1e-5, atol=1e-7 * np.abs(expected).max())


def test_a_feature_without_curvature_is_no_obstacle():
    # Huber: the third sample, alone in its feature, lies far beyond δ, where ℓ″ = 0 but ℓ′ = −δ.
    data = tw.LinearProblem(np.eye(3), [0.1, -0.2, 50.0], "huber", fit_intercept=False)
    states = follow(tw.NewtonCG(), data, np.zeros(3), 60)
    assert states[-1].value < 1e-3
    assert data.hessian_at(data.scores(np.zeros(3))).diagonal()[2] == 0.0


def test_the_newest_pair_is_solved_exactly_by_what_is_remembered():
    states = follow(tw.NewtonCG(memory=4), BOWL, W, 5)
    last, before = states[-1], states[-2]
    s, y = last.w - before.w, last.gradient - before.gradient
    M_inverse = lbfgs.product(last.S, last.Y, last.rho, np.ones(8), last.pairs, y)
    np.testing.assert_allclose(M_inverse, s, rtol=1e-9, atol=1e-14)
    assert last.S.shape == (4, 8)


def test_a_memory_saves_products():
    # A quartic along an ill-conditioned bowl: many steps, much the same curvature in all of them.
    bowl = tw.surfaces.Quadratic.conditioned(1e5, dim=60, rotation="random")
    along = np.ones(60) / 60**0.5

    def gradient(w):
        return bowl.gradient(w) + (along @ w) ** 3 * along

    def hessian_vector(w, v):
        return bowl.hessian_vector(w, v) + 3.0 * (along @ w) ** 2 * (along @ v) * along

    f = tw.Objective(
        lambda w: bowl.value(w) + 0.25 * (along @ w) ** 4, gradient, hessian_vector, dim=60
    )
    spent = {}
    for memory in (0, 20):
        run = tw.minimize(f, tw.NewtonCG(memory=memory), np.full(60, 5.0), tol=1e-8)
        assert run.converged
        spent[memory] = run.counts["hessian_vectors"]
    assert spent[20] < 0.7 * spent[0]


def test_a_good_step_is_lengthened_while_f_falls():
    # f = e^−w: Newton's step is 1 everywhere. From 0, doubled until e^−w is 0: 2, 4, 8, … 1024.
    f = tw.Objective(
        lambda w: float(np.exp(-w[0])),
        lambda w: -np.exp(-w),
        lambda w, v: np.exp(-w) * v,
        dim=1,
    )
    plain, longer = (
        follow(tw.NewtonCG(radius=10.0, lengthen=lengthen), f, np.zeros(1), 1)[-1]
        for lengthen in (False, True)
    )
    assert plain.w[0] == pytest.approx(1.0)
    assert longer.w[0] > 500.0
    assert longer.radius >= longer.w[0]


def test_a_linear_problem_has_a_preconditioner_of_its_own_and_no_memory():
    data = linear(l2=1e-2)
    with_memory, without = (
        follow(tw.NewtonCG(memory=memory), data, np.zeros(data.dim), 4)[-1] for memory in (5, 0)
    )
    np.testing.assert_array_equal(with_memory.w, without.w)
