from dataclasses import replace

import pytest

from drawings import plan_of, run_of
from thalweg.core.errors import InputError
from thalweg.figures.plan_and_actual import plan_and_actual


def test_a_plan_by_hand():
    figure = plan_and_actual(plan_of())
    seconds, iterations = figure.panels
    (bars,) = seconds.marks
    assert seconds.y.categories == ("newton", "lbfgs", "gd")
    assert bars.values == pytest.approx([1e-3, 1e-2, 1e-1])
    assert bars.labels == ("1 ms", "10 ms", "100 ms")
    assert iterations.marks[0].values.tolist() == [1.0, 10.0, 100.0]
    assert figure.notes == ()


def test_what_happened_stands_beside_it():
    figure = plan_and_actual(run_of("newton", plan=plan_of(actual=0.003)))
    predicted, actual = figure.panels[0].marks
    assert actual.values.tolist() == [0.003]
    assert actual.labels == ("3 ms (3.0×)",)
    assert actual.rows[0] > predicted.rows[0]
    assert predicted.rows[1:].tolist() == [1.0, 2.0]
    assert figure.panels[1].marks[1].values.tolist() == [3.0]
    assert "3 in 3 ms taken, 3.0×" in figure.summary
    assert "In brackets: actual by predicted" in figure.notes


def test_a_large_ratio_has_no_decimals():
    assert plan_and_actual(plan_of(actual=1.5)).panels[0].marks[1].labels == ("1.5 s (1,500×)",)


def test_long_plans_are_cut_and_say_so_but_keep_what_ran():
    plan = plan_of([f"m{k}" for k in range(12)]).after("m11", 5, 2.0)
    figure = plan_and_actual(plan)
    assert figure.panels[0].y.categories == (*(f"m{k}" for k in range(8)), "m11")
    assert "showing 9 of 12 methods, the cheapest" in figure.notes


def test_bars_have_a_length():
    low = plan_and_actual(plan_of()).panels[0].x.low
    assert low < 1e-3


def test_bad_input_is_one_sentence():
    with pytest.raises(InputError, match="got a run that was not chosen by one"):
        plan_and_actual(run_of())
    with pytest.raises(InputError, match="plan must be a plan or a run with one, got 3"):
        plan_and_actual(3)
    plan = plan_of()
    hopeless = replace(plan, rows=tuple(replace(row, eligible=False) for row in plan.rows))
    with pytest.raises(InputError, match="got one in which none can"):
        plan_and_actual(hopeless)
