import math

import numpy as np
import pytest

import thalweg.planner.race as race_module
from thalweg.core.errors import InputError
from thalweg.methods.adam import Adam
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.surfaces import Quadratic, Rosenbrock
from thalweg.planner.minimize import minimize
from thalweg.planner.race import race


def test_gradient_descent_by_hand():
    surface = Quadratic()
    found = race(surface, ["gd"], start=[1.0, 1.0], steps=3, tol=1e-12)
    w, way = np.array([1.0, 1.0]), [np.array([1.0, 1.0])]
    for _ in range(3):
        w = w - surface.gradient(w) / surface.smoothness
        way.append(w)
    assert found.paths[0] == pytest.approx(np.array(way))


def test_runs_are_those_of_minimize():
    found = race(Rosenbrock(), ["lbfgs", "adam[lr=0.1]", Adam(lr=0.01)], steps=50)
    alone = minimize(Rosenbrock(), "adam[lr=0.1]", max_iter=50)
    assert found.runs[1].value == alone.value
    assert [run.options.get("lr") for run in found.runs] == [None, 0.1, 0.01]
    for run, path in zip(found.runs, found.paths, strict=True):
        assert path.shape == (run.iterations + 1, 2)
        assert path[0].tolist() == found.start.tolist() == [-1.5, 2.0]
    assert found.leaders[0].method == "lbfgs"


def test_a_function_of_two_variables():
    found = race(lambda w: (w[0] - 1) ** 2 + w[1] ** 2, ["bfgs"], start=[0.0, 0.0])
    assert found.runs[0].w == pytest.approx([1.0, 0.0], abs=1e-4)


def test_more_variables_are_seen_in_a_plane_through_the_lowest_point():
    surface = Rosenbrock(dim=20)
    found = race(surface, ["lbfgs", "adam", "gd"], steps=40, seed=1)
    alone = minimize(surface, "adam", max_iter=40, seed=1)
    np.testing.assert_array_equal(found.runs[1].w, alone.w)
    best = found.leaders[0]
    assert found.plane.origin == pytest.approx(best.w)
    for run, path in zip(found.runs, found.paths, strict=True):
        assert path.shape == (run.iterations + 1, 2)
    assert found.paths[0][-1] == pytest.approx(found.plane.seen(best.w))
    assert 0.5 < found.plane.share <= 1.0
    assert "at (" not in repr(found)


def test_a_linear_problem_races_too():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 7))
    problem = LinearProblem(X, X @ np.arange(7.0), l2=0.1)
    found = race(problem, ["gd", "sag", "newton"], steps=20)
    assert found.plane.axes.shape == (2, problem.dim)
    assert found.leaders[0].method == "newton"


def test_of_long_ways_points_are_left_out(monkeypatch):
    monkeypatch.setattr(race_module, "ROOM", 20 * 30)  # three runs of 30 steps have 1,800 numbers
    found = race(Rosenbrock(dim=20), ["lbfgs", "adam", "gd"], steps=30)
    assert found.stride == 3
    for run, path in zip(found.runs, found.paths, strict=True):
        assert len(path) == 1 + math.ceil(run.iterations / 3)
    way = [found.runs[1].w0]
    minimize(Rosenbrock(dim=20), "adam", max_iter=30, callback=lambda step: way.append(step.w))
    np.testing.assert_allclose(found.paths[1], found.plane.seen(np.array(way)[::3]), atol=1e-12)


def test_text_has_the_lowest_first():
    lines = repr(race(Rosenbrock(), ["gd", "newton"], steps=30)).splitlines()
    assert lines[0] == "Race on Rosenbrock(a=1, b=100) from (-1.5, 2)"
    assert lines[1].split()[0] == "newton"


def test_a_notebook_has_a_card_with_the_same_words():
    found = race(Rosenbrock(), ["gd", "newton"], steps=30)
    card = found._repr_html_()
    assert card.index("newton") < card.index("gd")
    assert f"f = {found.leaders[0].value:.6g}" in card


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((Rosenbrock(), "gd"), "methods must be a list of methods"),
        ((Rosenbrock(), []), "methods must be a list of methods"),
        ((Quadratic([1.0]), ["gd"]), "surface must have two variables or more .* got 1"),
        ((Rosenbrock(), ["sag"]), "sag"),
    ],
)
def test_bad_input_is_one_sentence(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        race(*arguments)


def test_steps_must_be_a_count():
    with pytest.raises(InputError, match="steps must be a whole number, at least 1, got 0"):
        race(Rosenbrock(), ["gd"], steps=0)
