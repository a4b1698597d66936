"""What every lab keeps to: it passes, it fails when its subject is broken, and its page is whole.

Labs run at a glance here; `thalweg lab --all` and `make labs-seeds` run them quick.
"""

import contextlib
import io
import re
import warnings
from pathlib import Path

import pytest

from thalweg.labbook.catalogue import NAMES, lab
from thalweg.labbook.ruling import Ruling

# The first way of each; `thalweg lab NAME --break WAY` shows the others.
BREAKS = [(name, lab(name).breaks[0].name) for name in NAMES]


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """On what ships with scikit-learn, whatever there is on this machine."""
    monkeypatch.setenv("THALWEG_OFFLINE", "1")
    monkeypatch.delenv("THALWEG_DATA", raising=False)


@pytest.mark.parametrize("name", NAMES)
def test_the_verdict_is_the_expected_one(name, tmp_path):
    result = lab(name).run("glance", folder=tmp_path)
    assert result.passed, repr(result)
    assert result.figures
    assert result.tables
    assert result.checks


@pytest.mark.parametrize(("name", "way"), BREAKS, ids=lambda each: each)
def test_with_its_subject_broken_it_fails(name, way, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is broken may overflow
        result = lab(name).run("glance", broken=way, folder=tmp_path)
    assert not result.passed, repr(result)


@pytest.mark.parametrize("name", NAMES)
def test_its_lines_of_code_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = lab(name).code
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), {"__name__": "__main__"})
    assert printed.getvalue().strip()
    assert len([line for line in code.splitlines() if line.strip()]) <= 20
    assert "thalweg" in code
    assert not re.search(r"thalweg\.(labs|labbook)", code)


@pytest.mark.parametrize("name", NAMES)
def test_its_words_are_there(name):
    it = lab(name)
    assert it.name == name
    assert len(it.title) <= 80
    assert it.derivation
    assert it.breaks
    assert it.fails_if
    assert all(re.match(r"[ABC], \S", place) for place in it.places)
    assert bool(it.condition) == (it.expected is Ruling.HOLDS_IF)
    assert bool(it.correction) == (it.expected is Ruling.FAILS_AS_WRITTEN)


@pytest.mark.parametrize("name", NAMES)
def test_experiments_go_through_what_everybody_has(name):
    """A lab imports public names, lab book, other labs, rules and figures, and no more."""
    source = Path(__file__).parents[2] / "src/thalweg/labs" / f"{name.replace('-', '_')}.py"
    inside = re.findall(r"^\s*(?:from|import) (thalweg\.\S+)", source.read_text("utf-8"), re.M)
    assert [
        each
        for each in inside
        if not re.match(r"thalweg\.(core\.storage|figures|labbook|labs|rules|theory)(\.|$)", each)
    ] == []
