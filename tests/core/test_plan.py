"""A plan as text, HTML and JSON; predicted beside actual."""

from dataclasses import replace

import pytest

from thalweg.core.plan import Measured, Plan, PlanRow, spelled_bytes, spelled_count, spelled_seconds
from thalweg.core.storage import from_json

ROWS = (
    PlanRow("newton", True, "CHOSEN", None, 8.0, 0.002, 0.016, 40_000),
    PlanRow("gd", True, "", 39_700.0, 5_300.0, 17e-6, 0.09, 1_000),
    PlanRow("cholesky", False, "needs the squared loss"),
)
PLAN = Plan(
    "logistic on 569 × 30", 1e-6, 6.6e-7,
    {"L": Measured(3.322, "exact"), "κ": Measured(1890.0, "bounded"),
     "L_max": Measured(105.8, "estimated")},
    ROWS, 0.01, advice="badly <scaled>",
)  # fmt: skip


def test_the_best_is_the_first():
    assert PLAN.best == "newton"
    assert PLAN.row("gd").bound == 39_700


def test_the_text_has_every_number_and_reason():
    text = repr(PLAN)
    assert "▸ newton" in text
    for piece in ("L = 3.32", "κ ≤ 1.89e+03", "L_max ≈ 106", "39,700 it", "5,300 it", "17 µs"):
        assert piece in text
    assert "cholesky: needs the squared loss" in text
    assert "actual" not in text


def test_what_happened_stands_beside_what_was_predicted():
    done = PLAN.after("newton", 9, 0.02)
    assert (done.row("newton").actual_iterations, done.row("newton").actual_seconds) == (9, 0.02)
    assert done.row("gd").actual_seconds is None
    assert "9 it" in repr(done)
    assert done.summary("newton") == "8 iterations in 16 ms predicted, 9 in 20 ms needed"


def test_what_compiling_took_is_beside_what_planning_took():
    assert "Planning took 10 ms." in repr(PLAN)
    long = replace(PLAN, compiled=2.0)
    assert "Planning took 10 ms; compiled 2 s, once." in repr(long)
    record = PLAN.as_record()
    del record["compiled"]  # as it was written before
    assert Plan.from_record(record) == PLAN


def test_json_comes_back_as_the_same_plan():
    done = replace(PLAN.after("newton", 9, 0.02), compiled=2.0)
    assert Plan.from_record(from_json(done.to_json().encode(), source="plan")) == done


def test_html_is_escaped():
    page = PLAN._repr_html_()
    assert "badly &lt;scaled&gt;" in page
    assert page.count("<tr>") == 3


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (spelled_seconds(2.5), "2.5 s"), (spelled_seconds(0.0025), "2.5 ms"),
        (spelled_seconds(1260.4), "1,260 s"),
        (spelled_seconds(3e-6), "3 µs"), (spelled_seconds(float("inf")), "∞"),
        (spelled_count(1234.0), "1,234"), (spelled_count(3e7), "3.0e+07"),
        (spelled_bytes(999), "999 B"), (spelled_bytes(12_300_000), "12.3 MB"),
    ],
)  # fmt: skip
def test_units(shown, expected):
    assert shown == expected
