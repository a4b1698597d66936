import re

import numpy as np
import pytest

from drawings import SVG, coordinates, parsed, run_of
from thalweg.core.errors import InputError
from thalweg.figures.convergence import convergence
from thalweg.figures.layout import layout
from thalweg.figures.spec import (
    Axis,
    Band,
    Bars,
    Contour,
    Curve,
    Figure,
    Guide,
    Heatmap,
    Histogram,
    Panel,
    Point,
)
from thalweg.figures.styles import METHODS
from thalweg.figures.svg import to_html, to_svg

X = np.linspace(-3.0, 3.0, 50)
BOWL = X[None] ** 2 + X[:, None] ** 2
MARKS = {
    "curve": Curve("a", X, np.exp(X), METHODS["lbfgs"]),
    "cut": Curve("a", X * 1e3, np.exp(X), decides_range=False),
    "band": Band("a", X, X - 1, X + 1),
    "histogram": Histogram("a", X, np.abs(X[1:])),
    "contour": Contour(X, X, BOWL, [0.5, 2.0, 8.0]),
    "guide": Guide("a", 0.3),
    "upright": Guide("a", 0.3, along="y"),
    "point": Point("a", 0.5, 0.5, "diamond"),
}


def figure_of(*marks, x=None, y=None, **options):
    panel = Panel(x or Axis("x"), y or Axis("y"), marks)
    return Figure("title", (panel,), "summary", **options)


def test_a_curve_by_hand():
    figure = figure_of(
        Curve("a", [0.0, 1.0], [0.0, 1.0], METHODS["lbfgs"]), x=Axis("x", low=0, high=1),
        y=Axis("y", low=0, high=1),
    )  # fmt: skip
    frame = layout(figure, 640.0).panels[0].frame
    (line, swatch) = [
        path for path in parsed(to_svg(figure)).iter(f"{SVG}path")
        if path.get("stroke") == "var(--tw-vermilion)"
    ]  # fmt: skip
    corners = [[frame.left, frame.bottom], [frame.right, frame.top]]
    numbers = [float(n) for n in re.findall(r"[\d.]+", line.get("d"))]
    assert np.reshape(numbers, (2, 2)) == pytest.approx(np.array(corners), abs=0.051)
    assert line.get("stroke-dasharray") is None
    assert swatch.get("d") != line.get("d")


@pytest.mark.parametrize("width", [360.0, 640.0])
@pytest.mark.parametrize("name", MARKS)
def test_every_point_is_inside_the_axes(name, width):
    figure = figure_of(MARKS[name], Curve("", [-1.0, 1.0], [0.1, 1.0]))
    page = layout(figure, width)
    frame = page.panels[0].frame
    root = parsed(to_svg(figure, width))
    points = coordinates(root)
    legend = page.entries[0].y if page.entries else page.height
    points = points[points[:, 1] < legend - 8]
    assert len(points)
    slack = 7.0 if name == "point" else 0.06  # a marker is centred on its point
    assert points[:, 0].min() >= frame.left - slack
    assert points[:, 0].max() <= frame.right + slack
    assert points[:, 1].min() >= frame.top - slack
    assert points[:, 1].max() <= frame.bottom + slack


def test_bars_end_where_their_values_are():
    figure = figure_of(
        Bars("a", [0, 1], [1.0, 100.0]), x=Axis("x", "log", low=0.1, high=1000.0),
        y=Axis("", categories=("p", "q")),
    )  # fmt: skip
    frame = layout(figure, 640.0).panels[0].frame
    bars = next(path for path in parsed(to_svg(figure)).iter(f"{SVG}path") if "z" in path.get("d"))
    ends = sorted(float(n) for n in re.findall(r"H([\d.]+)v", bars.get("d")))
    quarter = (frame.right - frame.left) / 4
    assert ends == pytest.approx([frame.left + quarter, frame.left + 3 * quarter], abs=0.06)


def test_heat_is_one_path_a_shade_and_a_hole_is_empty():
    figure = figure_of(Heatmap("a", [[0.0, 0.0, 1.0], [1.0, np.nan, 0.0]]))
    paths = [
        p for p in parsed(to_svg(figure)).iter(f"{SVG}path") if p.get("fill") not in (None, "none")
    ]
    assert len(paths) == 2
    assert sum(path.get("d").count("M") for path in paths) == 4  # two zeros are one rectangle


@pytest.mark.parametrize("draw", [to_svg, to_html])
def test_it_stands_alone(draw):
    text = draw(convergence([run_of("gd"), run_of("adam")]))
    parsed(text)
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    for word in ("<script", "url(", "@import", "href", "id=", "<image", "clip-path"):
        assert word not in text, word


def test_screen_readers_are_told():
    root = parsed(to_svg(figure_of(MARKS["curve"], notes=("a note",))))
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == "title"
    assert root.find(f"{SVG}desc").text == "summary a note."


def test_awkward_letters_are_escaped():
    figure = Figure("<b>\"&'", (Panel(Axis("<"), Axis("&"), (Guide("<&>", 1.0),)),), "<s>&")
    root = parsed(to_svg(figure))
    assert root.find(f"{SVG}title").text == "<b>\"&'"
    assert "<&>" in [text.text for text in root.iter(f"{SVG}text")]


def test_light_and_dark():
    text = to_svg(figure_of(MARKS["curve"]))
    assert "prefers-color-scheme:dark" in text
    hues = set(re.findall(r"var\(--tw-(\w+)\)", text))
    light, dark = re.findall(r":where\(\.thalweg-figure\)\{([^}]*)\}", text)
    for hue in hues:
        assert f"--tw-{hue}:" in light
        assert f"--tw-{hue}:" in dark


def test_a_method_looks_the_same_in_every_figure():
    for other in ("adam", "sag", "newton"):
        root = parsed(to_svg(convergence([run_of(other), run_of("svrg")])))
        found = [
            (path.get("stroke"), path.get("stroke-dasharray"))
            for path in root.iter(f"{SVG}path")
            if path.get("stroke") == f"var(--tw-{METHODS['svrg'].hue})"
            and path.get("stroke-dasharray") == "2 2.5"
        ]
        assert len(found) == 2  # the curve and its swatch


def test_a_single_point_is_seen():
    figure = figure_of(Curve("a", [1.0], [2.0], METHODS["lbfgs"]))
    filled = [p for p in parsed(to_svg(figure)).iter(f"{SVG}path")
              if p.get("fill") == "var(--tw-vermilion)"]  # fmt: skip
    frame = layout(figure, 640.0).panels[0].frame
    (square,) = filled
    x, y = (float(n) for n in re.findall(r"[\d.]+", square.get("d"))[:2])
    assert x + 3 == pytest.approx((frame.left + frame.right) / 2, abs=0.1)
    assert y + 3 == pytest.approx((frame.top + frame.bottom) / 2, abs=0.1)


def test_numbers_that_cannot_be_shown_leave_no_trace():
    figure = figure_of(
        Curve("a", [0, 1, 2, 3], [np.nan, np.inf, -1.0, 0.0]), Curve("b", [], []),
        Point("c", np.nan, 1.0), y=Axis("y", "log"),
    )  # fmt: skip
    text = to_svg(figure)
    parsed(text)
    assert "nan" not in text
    assert "inf" not in text.lower().replace("infin", "")


@pytest.mark.parametrize("width", [10.0, "wide", float("nan")])
def test_a_bad_width_is_one_sentence(width):
    with pytest.raises(InputError, match="width must be"):
        to_svg(figure_of(MARKS["curve"]), width)


def test_five_hundred_points_are_small():
    text = to_svg(convergence(run_of(values=np.geomspace(1, 1e-6, 100_000))))
    assert len(text) < 20_000
