import numpy as np
import pytest

from drawings import run_of
from thalweg.figures.race import race
from thalweg.figures.spec import Contour, Curve, Point
from thalweg.figures.styles import METHODS
from thalweg.objectives.surfaces import Quadratic, Rosenbrock
from thalweg.planner.race import Race
from thalweg.planner.race import race as run_race

PATH = np.array([[-1.5, 2.0], [0.0, 1.0], [1.0, 1.0]])


def race_of(surface=None, paths=(PATH,), methods=("adam",)):
    runs = tuple(run_of(method) for method in methods)
    return Race(surface or Rosenbrock(), runs, tuple(paths))


def marks(figure, kind):
    return [mark for mark in figure.panels[0].marks if isinstance(mark, kind)]


def test_ways_by_hand():
    figure = race(race_of())
    (way,) = marks(figure, Curve)
    assert np.column_stack([way.x, way.y]).tolist() == PATH.tolist()
    assert way.style == METHODS["adam"]
    start, minimum = marks(figure, Point)
    assert (start.x, start.y) == (-1.5, 2.0)
    assert (minimum.x, minimum.y) == (1.0, 1.0)
    assert figure.title == "Race on Rosenbrock(a=1, b=100)"


def test_heights_are_those_of_the_surface():
    surface = Quadratic()
    (contour,) = marks(race(race_of(surface)), Contour)
    for i, j in [(0, 0), (5, 100), (70, 3)]:
        point = np.array([contour.x[j], contour.y[i]])
        assert contour.values[i, j] == pytest.approx(surface.value(point))
    assert np.all(np.diff(contour.levels) > 0)


def test_any_function_has_contours():
    (contour,) = marks(race(race_of(lambda w: w[0] ** 2 + 3 * w[1])), Contour)
    assert contour.values[2, 7] == pytest.approx(contour.x[7] ** 2 + 3 * contour.y[2])
    assert contour.x.min() < -1.5
    assert contour.y.max() > 2.0


def test_as_it_stood_after_some_iterations():
    (way,) = marks(race(race_of(), upto=1), Curve)
    assert way.x.tolist() == [-1.5, 0.0]


def test_a_way_out_of_the_box_is_said():
    gone = np.array([[-1.5, 2.0], [1e6, -1e6], [np.inf, np.nan]])
    figure = race(race_of(paths=[gone]))
    assert "adam leaves the box" in figure.notes
    assert race(race_of()).notes == ()


def test_a_start_outside_widens_the_box():
    (contour,) = marks(race(race_of(paths=[PATH - 5.0])), Contour)
    assert contour.x.min() < -6.5


def test_long_ways_are_thinned_and_say_so():
    way = np.random.default_rng(0).uniform(-1, 1, (5000, 2))
    figure = race(race_of(paths=[way]))
    assert len(marks(figure, Curve)[0].x) <= 500
    assert "of 5,000 points" in figure.notes[0]


def test_two_of_one_method_differ_by_markers():
    first, second = marks(race(race_of(paths=(PATH, PATH), methods=("gd", "gd"))), Curve)
    assert (first.style.shape, second.style.shape) == ("", "circle")
    assert first.name != second.name


def test_of_more_variables_the_slice_through_the_lowest_point_is_drawn():
    surface = Rosenbrock(dim=5)
    found = run_race(surface, ["lbfgs", "adam"], steps=60)
    figure = race(found)
    (contour,) = marks(figure, Contour)
    i, j = 7, 31
    place = np.array([contour.x[j], contour.y[i]])
    assert contour.values[i, j] == pytest.approx(surface.value(found.plane.point(place)))
    assert figure.notes[0].endswith("of the ways lies in this plane")
    (_, minimum) = marks(figure, Point)
    assert [minimum.x, minimum.y] == pytest.approx(found.plane.seen(np.ones(5)).tolist())
    for way, path in zip(marks(figure, Curve), found.paths, strict=True):
        assert [way.x[-1], way.y[-1]] == pytest.approx(path[-1].tolist())


def test_points_that_stand_for_several_iterations():
    few = Race(Rosenbrock(), (run_of("adam"),), (PATH,), stride=10)
    (way,) = marks(race(few, upto=19), Curve)
    assert way.x.tolist() == [-1.5, 0.0]
