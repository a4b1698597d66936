import math
from itertools import pairwise

import numpy as np
import pytest

import thalweg as tw
from stepping import follow
from thalweg.methods.catalyst import Catalyst
from thalweg.methods.incremental import Pull
from thalweg.methods.problem import Problem
from thalweg.objectives.finite_sum import sample_smoothness
from visiting import optimum, passes_to, problem

INNER = ("sag", "saga", "svrg")


def conditioned(ratio, loss="logistic", **options):
    """Rows of length one whose mean L/n is `ratio` times l2, flat enough for l2 to be felt."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 60)) * np.arange(1.0, 61.0) ** -2
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    scores = 3 * X @ rng.standard_normal(60) + 0.3 * rng.standard_normal(200)
    l2 = (0.25 if loss == "logistic" else 1.0) / 200 / ratio
    y = scores > 0 if loss == "logistic" else scores
    return tw.LinearProblem(X, y, loss, l2=l2, fit_intercept=False, **options)


def test_the_momentum_by_hand():
    # l2 = κ: q = ½, α₀ = √½. α stays there, as q is a fixed point; β = (1 − √q)/(1 + √q).
    data = problem("squared", l2=0.5, fit_intercept=False)
    states = follow(Catalyst(kappa=0.5), data, data.start, 3)
    for before, after in pairwise(states):
        assert after.alpha == pytest.approx(math.sqrt(0.5), rel=1e-14)
        beta = (1 - math.sqrt(0.5)) / (1 + math.sqrt(0.5))
        np.testing.assert_allclose(after.y, after.v + beta * (after.v - before.v), rtol=1e-12)


def test_without_a_penalty_the_momentum_grows_to_one():
    data = problem("squared")
    states = follow(Catalyst(), data, data.start, 30)
    assert states[0].alpha == 1.0
    for before, after in pairwise(states):
        assert after.alpha**2 == pytest.approx((1 - after.alpha) * before.alpha**2, rel=1e-12)
        beta = before.alpha * (1 - before.alpha) / (before.alpha**2 + after.alpha)
        np.testing.assert_allclose(after.y, after.v + beta * (after.v - before.v), atol=1e-12)
    assert states[-1].alpha < 0.1


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize(("loss", "l1"), [("squared", 0.0), ("logistic", 0.02)])
def test_a_problem_with_a_pull_is_solved_to_its_own_optimum(storage, loss, l1):
    data = problem(loss, storage=storage, l2=0.1, l1=l1)
    kappa, centre = 0.7, np.linspace(-1, 1, data.dim)
    method, seen = tw.SAGA(), Problem(data, data.dim, np.dtype(np.float64))
    state = method.init(seen, data.start, np.random.default_rng(0))
    for _ in range(300):
        state = method.travel(seen, state, Pull(kappa, centre))
    # w = S(w − η(∇f(w) + κ(w − c)), η·l1) at the optimum of F + (κ/2)‖w − c‖², intercept included.
    gradient = data.gradient(state.w) + kappa * (state.w - centre)
    np.testing.assert_allclose(data.prox(state.w - gradient, 1.0), state.w, atol=1e-9)


@pytest.mark.parametrize("inner", INNER)
def test_without_kappa_it_takes_the_steps_of_the_inner_method(inner):
    data = problem("logistic", l2=0.05, l1=0.01)
    plain = follow(tw.METHODS[inner](start="full"), data, data.start, 5)
    around = follow(Catalyst(inner=inner, kappa=0.0), data, data.start, 5)
    for one, other in zip(plain, around, strict=True):
        assert one.w.tobytes() == other.w.tobytes()


@pytest.mark.parametrize(("ratio", "is_on"), [(0.5, False), (0.99, False), (1.01, True), (9, True)])
def test_it_is_on_where_it_pays(ratio, is_on):
    data = conditioned(ratio)
    kappa = Catalyst().kappa_of(Problem(data, data.dim, np.dtype(np.float64)))
    assert kappa == pytest.approx(max(0.0, (ratio - 1) * data.l2), rel=1e-9)
    assert (kappa > 0) == is_on == (sample_smoothness(data).mean() / data.n > data.l2)


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_ill_conditioned_problems_need_half_the_passes(inner, loss):
    data = conditioned(300, loss)
    level = optimum(data)[1] + 1e-6 * data.value(data.start)
    plain = passes_to(data, inner, level)
    assert passes_to(data, Catalyst(inner=inner), level) < 0.5 * plain


@pytest.mark.parametrize("inner", INNER)
def test_well_conditioned_problems_are_left_to_the_inner_method(inner):
    data = conditioned(0.5)
    runs = [
        tw.minimize(data, method, max_iter=5, tol=1e-15, progress=False)
        for method in (tw.METHODS[inner](start="full"), Catalyst(inner=inner))
    ]
    assert runs[0].w.tobytes() == runs[1].w.tobytes()


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("step", [None, "theory", "search"])
def test_strong_momentum_does_not_swing(inner, step):
    # SAG, given one pass a problem, would: its remembered slopes push on past yₖ.
    data = conditioned(3000, "squared")
    run = tw.minimize(data, Catalyst(inner, step=step), tol=1e-15, max_iter=300, progress=False)
    # SAG's first pass from a full memory goes too far by itself; a swing would grow from there.
    assert run.trace["value"][10:].max() < 0.5 * run.trace["value"][0]


@pytest.mark.parametrize("inner", INNER)
def test_the_optimum_is_a_fixed_point(inner):
    data = conditioned(20)
    best, value = optimum(data)
    for state in follow(Catalyst(inner), data, best, 4):
        assert state.value == pytest.approx(value, abs=1e-12)
        np.testing.assert_allclose(state.w, best, atol=1e-6)  # as far as F tells, flat as it is


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"inner": "iag"}, r"inner must be .*got 'iag': .*Known: sag, saga, svrg"),
        ({"kappa": -1.0}, r"kappa must be .*got -1.0: leave it out to have it chosen"),
        ({"step": 0.0}, r"step must be above 0"),
        ({"sampling": "random"}, r"sampling must be .*got 'random'"),
        ({"batch": 0}, r"batch must be"),
    ],
)
def test_options_are_checked(options, says):
    with pytest.raises(tw.InputError, match=says):
        Catalyst(**options)
