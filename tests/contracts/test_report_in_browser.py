"""What a report looks like in a browser: nothing fetched, nothing clipped, nothing overlapping.

One session of the system's Chromium looks at pages of real runs, wide and narrow, light and dark.
The check (`LOOK`) runs in the page: it compares the boxes of all text that is shown, HTML and SVG,
and its colour with that behind it.
"""

import json
import shutil
from pathlib import Path

import pytest

import reports
import thalweg as tw
from drawings import parsed

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FOUND = next(filter(None, map(shutil.which, BROWSERS)), None)
pytestmark = pytest.mark.skipif(FOUND is None, reason=f"none of {', '.join(BROWSERS)} is here")

SUBJECTS = ("linear", "comparison", "diverged", "network")
WIDTHS = (1280, 400)
SCHEMES = {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 28)"}  # and their grounds

LOOK = """
() => {
  const problems = [];
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) problems.push(`page is ${page.scrollWidth} wide`);

  const forReadersOnly = (e) => {  // one pixel, for those who hear a page
    for (; e; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.clipPath !== "none" || style.opacity === "0") return true;
    }
    return false;
  };
  const channels = (colour) => {
    if (colour.startsWith("#")) return [1, 3, 5].map((k) => parseInt(colour.substr(k, 2), 16));
    return colour.match(/[\\d.]+/g).map(Number);
  };
  const luminance = (colour) => {
    const [r, g, b] = channels(colour).slice(0, 3)
      .map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((p, q) => p - q);
    return (high + 0.05) / (low + 0.05);
  };
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      const parts = channels(colour);
      if (parts.length === 3 || parts[3] === 1) return colour;
    }
    return "rgb(255, 255, 255)";
  };

  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!node.data.trim() || parent.closest("title,desc,style,script")) continue;
    if (!parent.checkVisibility() || forReadersOnly(parent)) continue;
    const svg = parent.closest("svg"), style = getComputedStyle(parent);
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of svg ? [parent.getBoundingClientRect()] : range.getClientRects()) {
      if (!rect.width) continue;
      const inset = 0.14 * rect.height;  // a line box is taller than its letters
      boxes.push({ node, text: node.data.trim().slice(0, 40), left: rect.left + 0.5,
        right: rect.right - 0.5, top: rect.top + inset, bottom: rect.bottom - inset });
      const frame = svg ? svg.getBoundingClientRect() : { left: 0, right: innerWidth };
      if (rect.left < frame.left - 1 || rect.right > frame.right + 1)
        problems.push(`${node.data.trim()} is cut`);
    }
    if (parent.closest("th:not(tbody th),td.n,dt,nav,label,button,.badge"))
      for (const word of node.data.matchAll(/\\S+/g)) {
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        if (range.getClientRects().length > 1) problems.push(`${word[0]} is broken`);
      }
    const ground = svg ? getComputedStyle(svg).getPropertyValue("--tw-paper").trim()
      : behind(parent);
    const ratio = contrast(svg ? style.fill : style.color, ground);
    if (ratio < 4.5) problems.push(`${node.data.trim()} has a contrast of ${ratio.toFixed(2)}`);
  }
  for (const e of document.querySelectorAll("body *:not(svg *)")) {
    if (!e.checkVisibility() || forReadersOnly(e) || !e.clientWidth) continue;
    if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline")
      problems.push(`<${e.tagName} class="${e.className}"> is ${e.scrollWidth} wide in ` +
        `${e.clientWidth}`);
  }
  boxes.sort((a, b) => a.top - b.top);
  for (let i = 0; i < boxes.length; i++)
    for (let j = i + 1; j < boxes.length && boxes[j].top < boxes[i].bottom; j++) {
      const a = boxes[i], b = boxes[j];
      if (a.node !== b.node && a.left < b.right && b.left < a.right)
        problems.push(`"${a.text}" meets "${b.text}"`);
    }
  return { problems, texts: boxes.length };
}
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    return {
        name: tw.report(getattr(reports, name)()).save(folder / f"{name}.html") for name in SUBJECTS
    }


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=FOUND, args=["--no-sandbox"])
        yield found
        found.close()


def opened(browser, file, **options):
    """The page, with what it asked for and what it complained of."""
    tab = browser.new_page(**options)
    tab.asked, tab.errors = [], []
    tab.on("request", lambda request: tab.asked.append(request.url))
    tab.on("console", lambda said: tab.errors.append(said.text) if said.type == "error" else None)
    tab.on("pageerror", lambda error: tab.errors.append(str(error)))
    tab.goto(Path(file).as_uri())
    return tab


@pytest.mark.parametrize("name", SUBJECTS)
def test_nothing_is_fetched_clipped_overlapping_or_faint(browser, pages, name):
    tab = opened(browser, pages[name])
    for scheme, ground in SCHEMES.items():
        tab.emulate_media(color_scheme=scheme)
        for width in WIDTHS:
            tab.set_viewport_size({"width": width, "height": 900})
            seen = tab.evaluate(LOOK)
            assert (scheme, width, seen["problems"]) == (scheme, width, [])
            assert seen["texts"] > 30
        painted = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        assert painted == ground
        # What is folded is looked at in the second scheme.
        tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert tab.errors == []
    assert tab.asked == [pages[name].as_uri()]
    tab.close()


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
