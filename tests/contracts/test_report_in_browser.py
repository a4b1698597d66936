"""What a report looks like in a browser: nothing fetched, nothing clipped, nothing overlapping.

One session of the system's Chromium looks at pages of real runs, wide and narrow, light and dark
(`browsing`).
"""

import json
from pathlib import Path

import pytest

import browsing
import reports
import thalweg as tw
from browsing import LOOK, looked_at, opened
from drawings import parsed

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(browsing.FOUND is None, reason="no Chromium is here")

SUBJECTS = ("linear", "comparison", "diverged", "network", "explained")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    subjects = {name: getattr(reports, name)() for name in SUBJECTS if name != "explained"}
    subjects["explained"] = reports.explained(folder)
    return {
        name: tw.report(subject).save(folder / f"{name}.html") for name, subject in subjects.items()
    }


@pytest.fixture(scope="module")
def browser():
    with browsing.browser() as found:
        yield found


@pytest.mark.parametrize("name", SUBJECTS)
def test_nothing_is_fetched_clipped_overlapping_or_faint(browser, pages, name):
    wrong, texts = looked_at(browser, pages[name])
    assert wrong == []
    assert texts > 30


def test_the_check_itself_sees_what_is_wrong(browser, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text(
        "<body style='margin:0'><p style='color:#aaa'>faint</p>"
        "<p style='position:absolute;top:0'>one</p><p style='position:absolute;top:4px'>two</p>"
        "<p style='width:40px;overflow:hidden;white-space:nowrap'>far too long for it</p>"
        "<div style='width:3000px'>wide</div>"
        "<dt style='width:20px;overflow-wrap:anywhere'>broken</dt>"
    )
    tab = opened(browser, bad, viewport={"width": 800, "height": 600})
    told = " ".join(tab.evaluate(LOOK)["problems"])
    for word in ("page is", "faint has a contrast", '"one" meets "two"', "wide in 40", "broken is"):
        assert word in told, told
    tab.close()


def test_buttons_choose_the_figure_without_scripts(browser, pages):
    tab = opened(browser, pages["comparison"], java_script_enabled=False)
    assert tab.locator("button").count() == 0
    shown = tab.locator(".plot:visible figure")
    names = []
    for value in ("x0", "x2", "y1"):
        tab.locator(f"input[value={value}]").check(force=True)
        assert shown.count() == 1
        names.append(shown.get_attribute("data-name"))
    assert names == [
        "suboptimality-over-iterations", "suboptimality-over-seconds", "value-over-seconds",
    ]  # fmt: skip
    tab.close()


def test_code_is_copied_and_files_are_saved(browser, pages):
    tab = opened(browser, pages["linear"])
    assert tab.locator("button:visible", has_text="Copy").count() > 2
    tab.locator("#reproduce button", has_text="Copy").first.click()
    assert tab.evaluate("getSelection().toString()").startswith("thalweg train @cancer")
    tab.locator("button", has_text="Copied").wait_for()
    saved = {}
    for link in ("a[download='report.json']", "#convergence .plot:visible figcaption button"):
        with tab.expect_download() as download:
            tab.locator(link).click()
        saved[download.value.suggested_filename] = Path(download.value.path()).read_text("utf-8")
    assert json.loads(saved["report.json"])["runs"][0]["verdict"] == "CERTIFIED"
    assert parsed(saved["suboptimality-over-iterations.svg"]).get("role") == "img"
    assert tab.errors == []
    tab.close()


def test_print_is_light_and_shows_what_is_folded(browser, pages):
    tab = opened(
        browser, pages["linear"], color_scheme="dark", viewport={"width": 800, "height": 900}
    )
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate(LOOK)["problems"] == []
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.locator("details table").first.is_visible()
    assert not tab.locator("nav").is_visible()
    tab.close()


def test_a_notebook_cell_keeps_its_own_style(browser, pages, tmp_path):
    cell = tw.report(reports.diverged())._repr_html_()
    notebook = tmp_path / "notebook.html"
    notebook.write_text(
        "<!DOCTYPE html><meta charset='utf-8'><style>h1 {color: rgb(1, 2, 3)}</style>"
        f"<h1>Mine</h1><table><tr><td>a</td></tr></table>{cell}<p>after</p>",
        encoding="utf-8",
    )
    tab = opened(browser, notebook, viewport={"width": 900, "height": 900})
    assert tab.evaluate("getComputedStyle(document.querySelector('td')).padding") == "1px"
    inside = tab.frame_locator("iframe").locator("h1")
    assert "Rosenbrock" in inside.inner_text()
    assert inside.evaluate("e => getComputedStyle(e).color") != "rgb(1, 2, 3)"
    tab.frame_locator("iframe").locator("nav a").last.click()
    assert tab.frames[1].evaluate("scrollY") > 100
    assert tab.locator("p", has_text="after").is_visible()
    assert tab.errors == []
    tab.close()
