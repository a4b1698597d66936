import csv

import numpy as np
import pytest

from drawings import parsed, plan_of, run_of
from thalweg.core.trace import Trace
from thalweg.objectives.surfaces import Quadratic
from thalweg.reports.convergence import convergence_section, history, measures_of
from thalweg.reports.drawing import Detail
from thalweg.reports.subject import Subject


def trained(**extra):
    """A network's run: its trace has columns of its own and no gradient norms."""
    run = run_of(values=[3.0, 2.0, 1.0], gap=None)
    rows = np.column_stack([run.trace.rows, *extra.values()])
    rows[:, 5] = np.nan
    return run_of(gap=None, trace=Trace(rows, extra=tuple(extra)))


@pytest.mark.parametrize(
    ("runs", "measures"),
    [
        ([run_of()], ["suboptimality", "value", "gradient_norm"]),
        ([run_of(gap=None)], ["value", "gradient_norm"]),
        ([run_of(), run_of(gap=None)], ["suboptimality", "value", "gradient_norm"]),
        ([run_of(), run_of(gap=None, objective="g")], ["value", "gradient_norm"]),
        (
            [trained(training_loss=[3, 2, 1], validation_loss=[np.nan, 3, 2])],
            ["training_loss", "validation_loss"],
        ),
        ([], []),
    ],
)
def test_measures_are_those_that_the_runs_have(runs, measures):
    assert measures_of(runs, Subject(tuple(runs))) == measures


def test_a_known_minimum_is_a_bound_too():
    subject = Subject((run_of(gap=None),), objective=Quadratic())
    assert measures_of(subject.runs, subject)[0] == "suboptimality"


def test_every_measure_over_every_axis_and_the_first_is_chosen():
    root = parsed(convergence_section(Subject((run_of(), run_of("adam"))), Detail()))
    names = [figure.get("data-name") for figure in root.iter("figure")]
    assert len(names) == len(set(names)) == 9
    assert names[:3] == [f"suboptimality-over-{x}" for x in ("iterations", "passes", "seconds")]
    chosen = [each.get("value") for each in root.iter("input") if each.get("checked") is not None]
    assert chosen == ["y0", "x0"]
    places = [each.get("class") for each in root.iter("div") if "plot " in each.get("class", "")]
    assert places == [f"plot y{y} x{x}" for y in range(3) for x in range(3)]


def test_one_measure_needs_no_choice_of_measures():
    run = trained(training_loss=[3, 2, 1])
    root = parsed(convergence_section(Subject((run,)), Detail()))
    (hidden,) = [each for each in root.iter("input") if each.get("hidden") is not None]
    assert hidden.get("value") == "y0"
    assert len(list(root.iter("fieldset"))) == 1


def test_theory_comes_from_the_plan_of_a_saved_run():
    plan = plan_of(("gd",), L=(4.0, "exact"), μ=(1.0, "exact"))
    assert "theory" in convergence_section(Subject((run_of("gd", plan=plan),)), Detail())
    assert "theory" not in convergence_section(Subject((run_of("gd"),)), Detail())


def test_the_history_by_hand():
    rows = list(
        csv.reader(history([run_of(values=[3.0, 1.5]), run_of("adam", [2.0])]).splitlines())
    )
    assert rows[0][:3] == ["run", "iteration", "passes"]
    assert [row[0] for row in rows[1:]] == ["gd", "gd", "adam"]
    assert rows[2][5] == "1.5"


def test_more_runs_than_a_figure_holds():
    runs = tuple(run_of(values=[2.0, 1.0], seed=k) for k in range(14))
    assert "2 more runs are not drawn" in convergence_section(Subject(runs), Detail())


def test_a_run_that_did_not_begin_has_no_section():
    assert convergence_section(Subject((run_of(values=[1.0]),)), Detail()) == ""
