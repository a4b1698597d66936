"""What the documentation promises: examples print what it says, links lead somewhere."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
TOP = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
LINKING = PAGES + [ROOT / name for name in TOP if (ROOT / name).exists()]

EXAMPLE = re.compile(
    r"^```python\n(?P<code>.*?)^```\n\s*^```text\n(?P<output>.*?)^```$", re.M | re.S
)
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
ELSEWHERE = ("http://", "https://", "mailto:")


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def examples():
    for page in [*PAGES, ROOT / "README.md"]:
        text = page.read_text(encoding="utf-8")
        for found in EXAMPLE.finditer(text):
            line = text.count("\n", 0, found.start()) + 2
            # As many lines before the code as the page has: a traceback names the page's line.
            code = "\n" * (line - 1) + found["code"]
            yield pytest.param(page, code, found["output"], id=f"{name_of(page)}:{line}")


@pytest.mark.parametrize(("page", "code", "output"), list(examples()))
def test_example_prints_what_the_page_says(page, code, output, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples may write files
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(page), "exec"), {"__name__": "__main__"})
    assert printed.getvalue() == output


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.parent.name in ("concepts", "methods")],
    ids=name_of,
)
def test_every_page_has_an_example_and_stands_in_the_index(page):
    assert EXAMPLE.search(page.read_text(encoding="utf-8"))
    assert f"({page.parent.name}/{page.name})" in (ROOT / "docs" / "README.md").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("page", LINKING, ids=name_of)
def test_every_relative_link_leads_to_a_file(page):
    prose = FENCED.sub("", page.read_text(encoding="utf-8"))
    targets = [found["target"] for found in LINK.finditer(prose)]
    broken = [
        target
        for target in targets
        if not target.startswith((*ELSEWHERE, "#"))
        and not (page.parent / target.partition("#")[0]).exists()
    ]
    assert broken == []
