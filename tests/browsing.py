"""A browser that looks at pages: nothing fetched, clipped, overlapping or faint.

`LOOK` runs in the page: it compares the boxes of all text that is shown, HTML and SVG, and its
colour with that behind it. `python tests/browsing.py FOLDER` looks at all pages of a folder, wide
and narrow, light and dark, what is folded too, and says what is wrong with them.
"""

import shutil
import sys
from contextlib import contextmanager
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FOUND = next(filter(None, map(shutil.which, BROWSERS)), None)
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


@contextmanager
def browser():
    """The system's own, without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
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
    tab.goto(Path(file).resolve().as_uri())
    return tab


def looked_at(browser, file):
    """What is wrong with a page at every width and in every scheme, and the number of its texts."""
    tab = opened(browser, file)
    wrong, texts = [], []
    for scheme, ground in SCHEMES.items():
        tab.emulate_media(color_scheme=scheme)
        for width in WIDTHS:
            tab.set_viewport_size({"width": width, "height": 900})
            seen = tab.evaluate(LOOK)
            wrong += [f"{scheme}, {width}: {problem}" for problem in seen["problems"]]
            texts.append(seen["texts"])
        if tab.evaluate("getComputedStyle(document.body).backgroundColor") != ground:
            wrong.append(f"{scheme}: the ground is not {ground}")
        # What is folded is looked at in the second scheme.
        tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    wrong += [f"error: {text}" for text in tab.errors]
    wrong += [f"asked for {url}" for url in tab.asked if url != Path(file).resolve().as_uri()]
    tab.close()
    return wrong, min(texts)


def main(folder):
    """Look at every page of a folder."""
    files = sorted(Path(folder).glob("*.html"))
    bad = 0
    with browser() as found:
        for file in files:
            wrong, texts = looked_at(found, file)
            bad += bool(wrong)
            for each in wrong:
                print(f"{file.name}: {each}")
            if not texts:
                print(f"{file.name}: nothing is shown")
    print(f"{len(files) - bad} of {len(files)} pages have nothing clipped, overlapping or fetched")
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
