import dataclasses

import pytest

from drawings import parsed, plan_of, run_of
from thalweg.core.outcome import Outcome
from thalweg.core.plan import PlanRow
from thalweg.reports.drawing import Detail
from thalweg.reports.plan import plan_of as plan_with_actual
from thalweg.reports.plan import plan_section, ratio_badge
from thalweg.reports.subject import Subject


@pytest.mark.parametrize(
    ("ratio", "tone", "text"),
    [
        (1.0, "good", "1×"), (2.0, "good", "2×"), (0.5, "good", "0.5×"),
        (2.1, "warn", "2.1×"), (0.1, "warn", "0.1×"), (10.0, "warn", "10×"),
        (10.5, "bad", "10×"), (0.09, "bad", "0.09×"), (0.0, "bad", "0×"),
    ],
)  # fmt: skip
def test_a_ratio_is_written_and_judged(ratio, tone, text):
    found = ratio_badge(ratio)
    assert f"badge {tone}" in found
    assert f" {text}<" in found  # besides its colour and sign


def test_without_a_plan_there_is_no_section():
    assert plan_section(Subject((run_of(),)), Detail()) == ""


def test_every_run_stands_beside_its_prediction():
    plan = plan_of(("newton", "gd"), L=(4.0, "bounded"), κ=(float("inf"), "exact"))
    newton = run_of("newton", [3, 1], plan=plan)  # 0.1 s where 1 ms was predicted
    gd = run_of("gd", [3, 2, 1], outcome=Outcome.TIME_LIMIT)
    found = plan_with_actual(Subject((newton, gd, run_of("adam"), run_of("gd", objective="g"))))
    assert [row.actual_iterations for row in found.rows] == [1, 2]
    page = plan_section(Subject((newton, gd)), Detail())
    root = parsed(page)
    cells = {row[0].text: ["".join(c.itertext()) for c in row] for row in root.iter("tr")}
    assert cells["newton"] == ["newton", "1 ms 1 it", "100 ms 1 it", "✕ 100×"]
    assert cells["gd"][-1] == "early"
    assert "≤ 4" in page
    assert "∞" in page


def test_of_two_runs_of_a_method_the_faster_counts():
    plan = plan_of(("gd",))
    slow, fast = run_of("gd", [3, 2, 1], plan=plan), run_of("gd", [3, 1])
    late = run_of("gd", [3], outcome=Outcome.TIME_LIMIT)
    for runs in ((slow, fast, late), (fast, late, slow)):
        assert plan_with_actual(Subject(runs)).row("gd").actual_iterations == 1


def test_bounds_have_a_column_where_there_are_any():
    plan = plan_of(("gd", "adam"))
    gd, adam = plan.rows
    plan = dataclasses.replace(plan, rows=(dataclasses.replace(gd, bound=39_700.0), adam))
    root = parsed(plan_section(Subject((run_of("newton", plan=plan),)), Detail()))
    cells = {row[0].text: ["".join(c.itertext()) for c in row] for row in root.iter("tr")}
    assert cells["gd"] == ["gd", "39,700 it", "1 ms 1 it", "", ""]
    assert cells["adam"][1] == "—"


def test_refusals_advice_and_changes_are_told():
    plan = plan_of(("gd",))
    refused = PlanRow("cholesky", False, "needs the squared loss")
    plan = dataclasses.replace(
        plan, rows=(*plan.rows, refused), advice="scale it", changes=("gd gave way",)
    )
    page = plan_section(Subject((run_of("gd", plan=plan),)), Detail())
    for text in ("needs the squared loss", "scale it", "gd gave way", "<figure"):
        assert text in page, text


def test_what_was_compiled_for_planning_is_told_beside_it():
    plan = dataclasses.replace(plan_of(), compiled=2.0)
    page = plan_section(Subject((run_of("newton", plan=plan),)), Detail())
    assert "Planning took 10 ms; compiled 2 s, once." in page
