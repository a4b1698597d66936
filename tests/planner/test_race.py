import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.methods.adam import Adam
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


def test_text_has_the_lowest_first():
    lines = repr(race(Rosenbrock(), ["gd", "newton"], steps=30)).splitlines()
    assert lines[0] == "Race on Rosenbrock(a=1, b=100) from (-1.5, 2)"
    assert lines[1].split()[0] == "newton"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((Rosenbrock(), "gd"), "methods must be a list of methods"),
        ((Rosenbrock(), []), "methods must be a list of methods"),
        ((Rosenbrock(dim=3), ["gd"]), "surface must have two variables .* got 3"),
        ((Rosenbrock(), ["sag"]), "sag"),
    ],
)
def test_bad_input_is_one_sentence(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        race(*arguments)


def test_steps_must_be_a_count():
    with pytest.raises(InputError, match="steps must be a whole number, at least 1, got 0"):
        race(Rosenbrock(), ["gd"], steps=0)
