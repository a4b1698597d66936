import sys

import numpy as np
import pytest

import thalweg as tw
from drawings import deep_record, parsed, plan_of, run_of
from thalweg.core.errors import InputError, StorageError
from thalweg.curvature.density import SpectralDensity
from thalweg.figures.plot import plot
from thalweg.objectives.surfaces import Rosenbrock
from thalweg.planner.race import Race

PATH = np.array([[-1.5, 2.0], [0.0, 1.0], [1.0, 1.0]])
RACE = Race(Rosenbrock(), (run_of("adam"),), (PATH,))
ATOMS = np.array([0.0, 1.0])
DENSITY = SpectralDensity(ATOMS, np.array([0.5, 0.5]), ATOMS, ATOMS, 0.1)
THINGS = {
    "run": (run_of(), ["convergence"]),
    "chosen run": (run_of("newton", plan=plan_of(actual=0.1)), ["convergence", "plan"]),
    "runs": ([run_of(), run_of("sag")], ["convergence"]),
    "plan": (plan_of(), ["plan"]),
    "race": (RACE, ["race", "convergence"]),
    "record": (deep_record(), ["layers", "percentiles", "training", "curvature"]),
    "density": (DENSITY, ["spectrum"]),
}
CASES = [(name, kind) for name, (_, kinds) in THINGS.items() for kind in kinds]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_everything_has_its_figures(name, kind):
    thing, kinds = THINGS[name]
    drawn = plot(thing, kind)
    assert parsed(drawn.svg).tag.endswith("svg")
    parsed(drawn._repr_html_())
    assert drawn._repr_svg_() == drawn.svg
    assert repr(drawn).startswith(drawn.figure.title)
    if kind == kinds[0]:
        assert plot(thing).figure.title == drawn.figure.title


def test_it_is_public_and_takes_options():
    assert tw.plot is plot
    assert plot(run_of(), x="seconds").figure.panels[0].x.label == "seconds"


def test_svg_is_written_whole(tmp_path):
    drawn = plot(run_of())
    assert drawn.save(tmp_path / "a.svg").read_text(encoding="utf-8") == drawn.svg
    assert drawn.save(str(tmp_path / "b.SVG")).exists()
    with pytest.raises(StorageError, match="cannot be written"):
        drawn.save(tmp_path / "a.svg" / "c.svg")


@pytest.mark.parametrize("ending", [".png", ".pdf", ".gif"])
def test_without_matplotlib_it_says_how_to_get_it(ending, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match=r"pip install 'thalweg\[plots\]', or save as .svg"):
        plot(RACE).save(tmp_path / f"a{ending}")
    assert list(tmp_path.iterdir()) == []


def test_bad_input_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match=r"thing must be a run, .* got 3"):
        plot(3)
    with pytest.raises(InputError, match="thing must be a run"):
        plot([])
    with pytest.raises(InputError, match="kind must be a figure that it has, got 'raze'"):
        plot(RACE, "raze")
    with pytest.raises(InputError, match=r"got a \.gif: only a race moves"):
        plot(run_of()).save(tmp_path / "a.gif")
    with pytest.raises(InputError, match=r"file must end in .svg, .png, .pdf or .gif, got '.jpg'"):
        plot(run_of()).save("a.jpg")
