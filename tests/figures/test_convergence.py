import numpy as np
import pytest

from drawings import plan_of, run_of
from thalweg.core.errors import InputError
from thalweg.core.outcome import Outcome
from thalweg.figures.convergence import convergence, names, thinned
from thalweg.figures.spec import Curve, Guide
from thalweg.figures.styles import METHODS
from thalweg.objectives.surfaces import Quadratic


def curves(figure):
    return {mark.name: mark for mark in figure.panels[0].marks if isinstance(mark, Curve)}


def test_suboptimality_by_hand():
    run = run_of(values=[3.0, 2.0, 1.5], gap=0.5)
    curve = curves(convergence(run))["gd"]
    assert curve.x.tolist() == [0, 1, 2]
    assert curve.y.tolist() == [2.0, 1.0, 0.5]  # above 1.5 − 0.5, the lower bound
    assert curve.style == METHODS["gd"]


def test_runs_of_one_objective_share_the_best_lower_bound():
    loose, tight = run_of("gd", [3.0, 2.0], gap=1.0), run_of("adam", [3.0, 1.9], gap=0.1)
    other = run_of("sag", [9.0, 8.0], gap=1.0, objective="g")
    found = curves(convergence([loose, tight, other]))
    assert found["gd"].y == pytest.approx([1.2, 0.2])
    assert found["adam"].y == pytest.approx([1.2, 0.1])
    assert found["sag"].y == pytest.approx([2.0, 1.0])


def test_a_known_minimum_comes_first():
    quadratic = Quadratic()
    run = run_of(values=[3.0, quadratic.minimum + 1e-3], gap=0.5)
    assert curves(convergence(run, objective=quadratic))["gd"].y[-1] == pytest.approx(1e-3)


def test_without_a_bound_it_is_the_value():
    figure = convergence(run_of(values=[-3.0, -4.0], gap=None))
    assert figure.panels[0].y.label == "f(w)"
    assert figure.panels[0].y.scale == "linear"
    assert convergence(run_of(values=[100.0, 1.0], gap=None)).panels[0].y.scale == "log"
    assert convergence(run_of(values=[2.0, 1.0]), y="seconds").panels[0].y.scale == "linear"
    assert convergence(run_of(values=[2.0, 1.0]), y="gradient_norm").panels[0].y.scale == "log"


@pytest.mark.parametrize(
    ("x", "last"), [("iterations", 2), ("passes", 2), ("seconds", 0.2), ("evaluations", 3)]
)
def test_every_x(x, last):
    assert curves(convergence(run_of(values=[3, 2, 1]), x=x))["gd"].x[-1] == pytest.approx(last)


def test_x_is_logarithmic_where_runs_differ_in_length():
    short, long = run_of("newton", np.ones(5)), run_of("gd", np.ones(500))
    figure = convergence([short, long])
    assert figure.panels[0].x.scale == "log"
    assert "The start, at 0 iterations, has no place on a log axis" in figure.notes
    assert convergence([short, short]).panels[0].x.scale == "linear"
    assert convergence([short, long], x_scale="linear").panels[0].x.scale == "linear"


def test_tolerances_are_guides():
    (guide,) = [m for m in convergence(run_of()).panels[0].marks if isinstance(m, Guide)]
    assert guide.at == 1e-5
    marks = convergence(run_of(), y="value").panels[0].marks
    assert not any(isinstance(mark, Guide) for mark in marks)


def test_points_left_out_are_said_and_no_spike_is_lost():
    values = np.geomspace(1, 1e-3, 20_000)
    values[7777] = 50.0
    figure = convergence(run_of(values=values, gap=None))
    assert curves(figure)["gd"].y.max() == 50.0
    assert len(curves(figure)["gd"].y) <= 500
    assert any("of 20,000 points" in note for note in figure.notes)


def test_fewer_points_on_request():
    long = run_of(values=np.geomspace(1, 1e-3, 5_000), gap=None)
    assert len(curves(convergence(long, limit=40))["gd"].y) <= 40
    with pytest.raises(InputError, match="limit must be"):
        convergence(long, limit=0)


def test_runs_on_one_objective_share_the_geometry_of_a_plan():
    plan = plan_of(L=(4.0, "exact"), μ=(1.0, "exact"))
    planned, other = run_of("newton", plan=plan), run_of("gd")
    assert any("gd, theory" in name for name in curves(convergence([planned, other])))
    elsewhere = run_of("gd", objective="g")
    assert not any("theory" in name for name in curves(convergence([planned, elsewhere])))


def test_rows_that_were_not_recorded_are_said():
    assert "gd: every 4th iteration was recorded" in convergence(run_of(stride=4)).notes


def test_numbers_that_cannot_be_shown_are_counted():
    run = run_of(values=[1.0, np.inf, np.nan, 1e-3], gap=None, outcome=Outcome.DIVERGED)
    figure = convergence(run)
    assert curves(figure)["gd"].y.tolist() == [1.0, 1e-3]
    assert "gd: 1 point is not finite or not above 0, and not shown" in figure.notes
    shown = thinned(np.array([0.0, 1.0]), np.array([1.0, 2.0]), "log")
    assert shown.x.tolist() == [1.0]
    assert shown.notes("a", "linear") == []  # the start is said once, for all


def test_theorys_line_is_above_the_run_and_in_its_colour():
    quadratic = Quadratic()
    L, mu = quadratic.smoothness, quadratic.strong_convexity
    w, values = quadratic.start.copy(), []
    for _ in range(30):
        values.append(quadratic.value(w))
        w = w - quadratic.gradient(w) / L
    run = run_of(values=values, gap=None, w0=quadratic.start)
    found = curves(convergence(run, objective=quadratic))
    (line,) = [curve for name, curve in found.items() if "theory" in name]
    assert np.all(found["gd"].y <= line.y * (1 + 1e-12))
    assert line.y[1] / line.y[0] == pytest.approx((1 - mu / L) ** 2)
    assert line.style.hue == METHODS["gd"].hue
    assert not any("theory" in name for name in curves(convergence(run)))


def test_names_tell_runs_apart():
    a, b = (
        run_of("adam", options={"lr": 0.1, "eps": 1}),
        run_of("adam", options={"lr": 1, "eps": 1}),
    )
    assert names([a, b, run_of("gd")]) == ["adam (lr=0.1)", "adam (lr=1)", "gd"]
    assert names([run_of(seed=1), run_of(seed=2)]) == ["gd (seed=1)", "gd (seed=2)"]
    assert names([run_of(), run_of()]) == ["gd #1", "gd #2"]
    figure = convergence([a, b])
    assert [mark.style.shape for mark in figure.panels[0].marks[:2]] == ["", "circle"]


def test_the_summary_has_the_numbers():
    summary = convergence(run_of(values=[3.0, 2.0], gap=1.0)).summary
    assert summary == "gd: 2 → 1 in 1 iterations and 0.1 s, converged."


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([],), "runs must be a run or a list of runs"),
        ((3,), "runs must be a run or a list of runs, got 3"),
        (([3],), "runs must hold runs of tw.minimize, got 3"),
        (([run_of()] * 13,), "runs must be at most 12, got 13"),
    ],
)
def test_bad_runs_are_one_sentence(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        convergence(*arguments)


def test_one_objective_does_not_stand_for_several():
    with pytest.raises(InputError, match="objective must be that of all runs"):
        convergence([run_of(objective="f"), run_of(objective="g")], objective=Quadratic())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"x": "hours"}, "x must be a known name, got 'hours'"),
        ({"y": "valve"}, "y must be a known column, got 'valve': did you mean 'value'"),
        ({"y": "suboptimality"}, "without a lower bound on f"),
        ({"x_scale": "root"}, "x_scale must be a known name"),
    ],
)
def test_bad_options_are_one_sentence(options, sentence):
    with pytest.raises(InputError, match=sentence):
        convergence(run_of(gap=None), **options)
