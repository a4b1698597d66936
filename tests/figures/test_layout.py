import numpy as np
import pytest

from drawings import deep_record, overlaps, plan_of, run_of
from thalweg.figures.convergence import convergence
from thalweg.figures.layers import layers
from thalweg.figures.layout import Text, layout
from thalweg.figures.percentiles import percentiles
from thalweg.figures.plan_and_actual import plan_and_actual
from thalweg.figures.spec import Axis, Curve, Figure, Guide, Panel
from thalweg.figures.spectrum import spectrum
from thalweg.figures.styles import METHODS
from thalweg.figures.training import curvature, training

LONG = "a very long name of an objective, with options and numbers, l2 = 0.00175746924428822"
RUNS = [run_of(name, np.geomspace(1, 10.0**-k, 5 + 7**k), gap=1e-9, objective=LONG)
        for k, name in enumerate(list(METHODS)[:5])]  # fmt: skip
RECORD = deep_record()
FIGURES = {
    "convergence": convergence(run_of()),
    "several": convergence(RUNS),
    "twelve": convergence([run_of(name) for name in list(METHODS)[:12]], x="seconds"),
    "one method": convergence([run_of("adam", options={"lr": 0.1**k}) for k in range(5)]),
    "diverged": convergence(run_of(values=np.geomspace(1, 1e300, 30), gap=None)),
    "flat": convergence(run_of(values=np.full(9, 3.0), gap=None)),
    "plan": plan_and_actual(plan_of(actual=0.123456)),
    "long plan": plan_and_actual(plan_of(list(METHODS), actual=1e-7)),
    "spectrum": spectrum(np.geomspace(1e-3, 30.0, 400) - 0.5),
    "layers": layers(RECORD),
    "eighty layers": layers(deep_record(80, 20)),
    "one layer": layers(deep_record(1, 1)),
    "percentiles": percentiles(RECORD),
    "training": training(RECORD),
    "curvature": curvature(RECORD),
    "tiny range": Figure(
        "t", (Panel(Axis("x"), Axis("y"), (Curve("c", [0, 1], [1.0, 1.0 + 1e-9]),)),), ""
    ),
    "wide numbers": Figure(
        "t", (Panel(Axis("x" * 90), Axis("y " * 90), (Curve("c", [0, 1e9], [-1e12, 1e-9]),)),), ""
    ),
    "names": Figure(
        LONG * 2,
        (Panel(Axis("x"), Axis("y"), tuple(Guide(f"{LONG} {k}", k) for k in range(5))),),
        "",
        (LONG, LONG),
    ),
}  # fmt: skip


def test_a_box_by_hand():
    left, top, right, bottom = Text(100.0, 50.0, "ii", 10.0, "end").box
    assert (left, right) == pytest.approx((94.2, 100.0))
    assert (top, bottom) == (42.0, 52.5)


@pytest.mark.parametrize("width", [360.0, 640.0, 1000.0])
@pytest.mark.parametrize("name", FIGURES)
def test_no_text_meets_another_or_leaves_the_picture(name, width):
    page = layout(FIGURES[name], width)
    assert overlaps(page.texts) == []
    for text in page.texts:
        left, top, right, bottom = text.box
        assert left >= 0, text
        assert right <= width, text
        assert top >= 0, text
        assert bottom <= page.height, text


@pytest.mark.parametrize("width", [360.0, 640.0])
@pytest.mark.parametrize("name", FIGURES)
def test_frames_have_room_and_ticks(name, width):
    for drawn in layout(FIGURES[name], width).panels:
        assert drawn.frame.right - drawn.frame.left > 0.18 * width
        assert drawn.frame.bottom - drawn.frame.top >= 20
        assert drawn.x_ticks
        assert drawn.y_ticks


def test_texts_that_touch_are_seen():
    a, b = Text(10.0, 50.0, "overlap"), Text(30.0, 52.0, "overlap")
    assert len(overlaps([a, b])) == 1
    assert overlaps([a, Text(10.0, 80.0, "below")]) == []


def test_panels_stand_beside_each_other_only_where_there_is_room():
    wide, narrow = (layout(FIGURES["percentiles"], width).panels for width in (640.0, 360.0))
    assert wide[0].frame.top == wide[1].frame.top
    assert narrow[0].frame.bottom < narrow[1].frame.top


def test_a_legend_has_each_name_once():
    page = layout(FIGURES["percentiles"], 640.0)
    assert len(page.entries) == 2
    names = [text.content for text in page.texts]
    assert names.count("median") == 1


def test_a_shortened_name_is_kept_whole_elsewhere():
    wholes = [text.whole for text in layout(FIGURES["layers"], 360.0).texts if text.whole]
    assert "transformer.blocks.3.attention.projection" in wholes
