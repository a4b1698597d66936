import numpy as np
import pytest

import thalweg as tw
from thalweg.methods.backtracking import Backtracking, first_step
from thalweg.methods.problem import Problem


def problem_of(objective, dtype=np.float64):
    return Problem(objective, objective.dim, np.dtype(dtype))


def lemma_holds(problem, y, value, gradient, step):
    """f(x) ≤ f(y) + ⟨g, x − y⟩ + ‖x − y‖²/(2η), from its definition."""
    x = problem.prox(y - step * gradient, step)
    move = x - y
    return problem.value(x) <= value + gradient @ move + move @ move / (2 * step)


def random_points(objective, count=40):
    rng = np.random.default_rng(1)
    return rng.uniform(-2, 2, size=(count, objective.dim))


def test_halves_until_the_lemma_holds_by_hand():
    # f = ½·4w² at 1: from η = 1 the lemma fails at 1 and ½ and holds at ¼ = 1/L.
    problem = problem_of(tw.surfaces.Quadratic((4.0,)))
    move = Backtracking()(problem, np.ones(1), 2.0, np.array([4.0]), 1.0)
    assert move == (np.zeros(1), 0.0, 0.25)
    assert problem.counts["values"] == 3


@pytest.mark.parametrize(
    "objective",
    [
        tw.surfaces.Rosenbrock(),
        tw.surfaces.Beale(),
        tw.surfaces.StyblinskiTang(),
        tw.Regularized(tw.surfaces.Quadratic((1.0, 30.0), rotation=0.5), l1=0.7),
        tw.Regularized(tw.surfaces.Rosenbrock(), radius=1.0),
    ],
)
def test_the_step_satisfies_the_lemma_and_its_double_does_not(objective):
    problem = problem_of(objective)
    searched = 0
    for y in random_points(objective):
        y = problem.prox(y, 0.0)
        value, gradient = problem.value_and_gradient(y)
        found, value_there, step = Backtracking()(problem, y, value, gradient, 10.0)
        assert lemma_holds(problem, y, value, gradient, step)
        np.testing.assert_array_equal(found, problem.prox(y - step * gradient, step))
        assert value_there == problem.value(found)
        if step < 10.0:
            searched += 1
            assert not lemma_holds(problem, y, value, gradient, 2 * step)
    assert searched > 10


def test_one_over_l_is_accepted_at_once():
    surface = tw.surfaces.Quadratic((1.0, 9.0))
    problem = problem_of(surface)
    y = np.array([1.0, -2.0])
    move = Backtracking()(problem, y, *surface.value_and_gradient(y), 1 / 9)
    assert move.step == 1 / 9
    assert problem.counts["values"] == 1


def test_a_region_without_values_is_backed_out_of():
    objective = tw.Objective(
        lambda w: w[0] - np.log(w[0]) if w[0] > 0 else np.nan, lambda w: 1 - 1 / w, dim=1
    )
    y = np.array([3.0])
    move = Backtracking()(problem_of(objective), y, objective.value(y), objective.gradient(y), 64.0)
    assert 0 < move.x[0] < 3
    assert move.value < objective.value(y)


def test_no_step_where_the_move_is_lost_in_rounding():
    problem = problem_of(tw.surfaces.Quadratic((1.0,)))
    assert Backtracking()(problem, np.array([1.0]), 0.5, np.array([1e-20]), 1.0) is None
    assert Backtracking()(problem, np.array([1.0]), 0.5, np.zeros(1), 1.0) is None
    assert problem.counts["values"] == 0


def test_no_step_where_none_descends():
    # A gradient of the wrong sign: the lemma fails for every length, however short.
    objective = tw.Objective(lambda w: 0.5 * (w @ w - 1), dim=1)
    assert Backtracking()(problem_of(objective), np.ones(1), 0.0, np.array([-1.0]), 1.0) is None


def test_below_the_rounding_of_f_the_step_stops_growing_and_no_value_is_asked():
    # 1e12 + ½w² at w = 1e-3: a decrease of 1e-6 cannot be seen beside 1e12.
    objective = tw.Objective(lambda w: 1e12 + 0.5 * w @ w, lambda w: w, dim=1, check_gradient=False)
    problem = problem_of(objective)
    move = Backtracking()(problem, np.array([1e-3]), 1e12, np.array([1e-3]), 0.5)
    assert move.step == 0.25
    assert np.isnan(move.value)
    assert move.x[0] == 0.75e-3
    assert problem.counts["values"] == 0


def test_values_beyond_the_range_of_float32_are_compared_all_the_same():
    # 10³⁹ + ½·10³⁶w² is a fine float64: its rounding, 10³³, is not infinite.
    objective = tw.Objective(lambda w: 1e39 + 0.5e36 * float(w[0]) ** 2, dim=1)
    y, gradient = np.ones(1, dtype=np.float32), np.array([1e36], dtype=np.float32)
    move = Backtracking()(problem_of(objective, np.float32), y, objective.value(y), gradient, 1e-35)
    assert move.step == 1e-35 / 16
    assert move.value < objective.value(y)


def test_the_first_trial_moves_the_steepest_coordinate_by_one():
    assert first_step(np.zeros(2), np.array([-8.0, 2.0])) == 0.125
    assert first_step(np.ones(2), np.zeros(2)) == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8, 1e20])
@pytest.mark.parametrize("slope", [1e-8, 1.0, 1e8])
def test_the_first_trial_is_never_lost_in_rounding(dtype, size, slope):
    w, gradient = np.array([size], dtype=dtype), np.array([slope], dtype=dtype)
    assert w - first_step(w, gradient) * gradient != w


@pytest.mark.parametrize("name", ["gd", "heavy-ball", "nesterov", "fista"])
def test_a_search_does_not_trust_noisy_gradients(name):
    with pytest.raises(tw.InputError, match=f"{name} needs a step where gradients are noisy"):
        tw.minimize(tw.surfaces.Rosenbrock().noisy(1.0), name)
    # 1/L needs no search.
    assert tw.minimize(tw.surfaces.Quadratic().noisy(0.1), name, max_iter=10).iterations == 10


@pytest.mark.parametrize("shrink", [0.1, 0.9])
def test_a_step_is_shortened_by_its_share(shrink):
    # f = ½·4w² at 1: the lemma holds from η = ¼ down.
    problem = problem_of(tw.surfaces.Quadratic((4.0,)))
    move = Backtracking(shrink=shrink)(problem, np.ones(1), 2.0, np.array([4.0]), 1.0)
    steps = shrink ** np.arange(100)
    assert move.step == pytest.approx(steps[steps <= 0.25 * (1 + 1e-12)][0])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"shrink": 1.0}, r"shrink must be in \(0, 1\), got 1.0"),
        ({"growth": 0.9}, "growth must be at least 1, got 0.9"),
        ({"trials": 0}, "trials must be a whole number, at least 1, got 0"),
    ],
)
def test_its_numbers_have_limits(options, says):
    with pytest.raises(tw.InputError, match=says):
        Backtracking(**options)
