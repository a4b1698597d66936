import csv

import numpy as np

from drawings import deep_record, parsed, plan_of, run_of
from thalweg.figures.convergence import convergence
from thalweg.figures.layers import layers
from thalweg.figures.percentiles import percentiles
from thalweg.figures.plan_and_actual import plan_and_actual
from thalweg.figures.spectrum import spectrum
from thalweg.reports.drawing import FEWEST, MOST_CSV, Detail, drawing, to_csv


def test_two_drawings_of_two_widths_under_one_title():
    root = parsed(drawing(convergence(run_of()), "gap", Detail(), title="Gap"))
    boxes = [svg.get("viewBox").split()[2] for svg in root.iter("{http://www.w3.org/2000/svg}svg")]
    assert boxes == ["640", "360"]
    titles = [t.text for t in root.iter("{http://www.w3.org/2000/svg}title")]
    assert titles.count("Gap") == 2
    assert root.get("data-name") == "gap"


def test_the_narrow_one_may_be_another():
    wide, narrow = (convergence(run_of(values=np.ones(400)), limit=n) for n in (300, 40))
    thick, thin = (len(drawing(wide, "a", Detail(), narrow=n)) for n in (None, narrow))
    assert thin < thick


def test_numbers_of_a_curve_by_hand():
    lines = to_csv(convergence(run_of(values=[3.0, 1.0], gap=None), y="value")).splitlines()
    assert lines == ["panel,mark,x,y,y_high", ",gd,0,3", ",gd,1,1"]


def test_every_figure_has_its_numbers():
    record = deep_record(layers=3, looks=5)
    for figure in (
        layers(record), percentiles(record), plan_and_actual(plan_of(actual=0.1)),
        spectrum(np.arange(5.0)),
    ):  # fmt: skip
        rows = list(csv.reader(to_csv(figure).splitlines()))
        assert len(rows) > 3, figure.title
        assert float(rows[1][3]) == float(rows[1][3])


def test_what_is_too_long_has_no_link():
    values = np.geomspace(2, 1, 500)
    figure = convergence([run_of(values=values, gap=None, seed=k) for k in range(12)])
    assert len(to_csv(figure)) > MOST_CSV
    assert "<a " not in drawing(figure, "a", Detail())
    small = convergence(run_of())
    assert "<a " in drawing(small, "a", Detail())
    assert "<a " not in drawing(small, "a", Detail(with_csv=False))


def test_coarser_ends():
    detail = Detail()
    for _ in range(10):
        detail = detail.coarser()
    assert detail == detail.coarser() == Detail(FEWEST, FEWEST, False)
