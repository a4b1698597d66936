import numpy as np
import pytest

from drawings import deep_record, plan_of, run_of
from thalweg.figures.convergence import convergence
from thalweg.figures.layers import layers
from thalweg.figures.percentiles import percentiles
from thalweg.figures.pixels import drawing, to_pdf, to_png
from thalweg.figures.plan_and_actual import plan_and_actual
from thalweg.figures.spectrum import spectrum
from thalweg.figures.styles import CODES, METHODS

matplotlib = pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")

FIGURES = {
    "convergence": convergence([run_of("gd"), run_of("sdca"), run_of("sdca")]),
    "plan": plan_and_actual(plan_of(actual=0.1)),
    "layers": layers(deep_record()),
    "percentiles": percentiles(deep_record()),
    "spectrum": spectrum(np.linspace(-1, 5, 50)),
}


def test_lines_hold_the_same_numbers_and_colours():
    _, (axes,) = drawing(FIGURES["convergence"])
    curve = FIGURES["convergence"].panels[0].marks[1]
    line = next(line for line in axes.get_lines() if line.get_label() == curve.name)
    assert line.get_xdata().tolist() == curve.x.tolist()
    assert line.get_ydata().tolist() == curve.y.tolist()
    assert line.get_color() == CODES[METHODS["sdca"].hue][0]
    assert line.is_dashed()
    assert axes.get_yscale() == "log"


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_written(name, tmp_path):
    to_png(FIGURES[name], tmp_path / "a.png")
    to_pdf(FIGURES[name], tmp_path / "a.pdf")
    assert (tmp_path / "a.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert (tmp_path / "a.pdf").read_bytes()[:4] == b"%PDF"


def test_notes_are_in_the_picture_too():
    canvas, _ = drawing(FIGURES["layers"])
    assert "showing 100 of 300 looks" in canvas.legends[0].get_title().get_text()


def test_the_same_figure_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        to_pdf(FIGURES["plan"], tmp_path / f"{name}.pdf")
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()
