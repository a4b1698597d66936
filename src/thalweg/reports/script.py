"""The little that moves in a page: buttons that copy code and save drawings.

Buttons are made by the script itself, so that a page without scripts has none that do nothing. Its
hash stands in the page's policy: no other script can run there.
"""

from __future__ import annotations

import base64
import hashlib

SCRIPT = """
const button = (label, place, act) => {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.addEventListener("click", () => act(made));
  place.append(made);
};
for (const pre of document.querySelectorAll("pre.copy")) {
  const box = document.createElement("div");
  box.className = "copied";
  pre.replaceWith(box);
  box.append(pre);
  button("Copy", box, async (made) => {
    const range = document.createRange();
    range.selectNodeContents(pre);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    try {
      await navigator.clipboard.writeText(pre.textContent);
    } catch {
      document.execCommand("copy");
    }
    made.textContent = "Copied";
    setTimeout(() => (made.textContent = "Copy"), 1500);
  });
}
if (location.protocol === "about:")  // in a notebook's frame, # is its page and not this one
  for (const link of document.querySelectorAll("nav a"))
    link.addEventListener("click", (event) => {
      event.preventDefault();
      document.querySelector(link.hash).scrollIntoView();
    });
for (const figure of document.querySelectorAll("figure[data-name]")) {
  button("SVG", figure.querySelector("figcaption"), () => {
    const drawn = [...figure.querySelectorAll("svg")].find((svg) => svg.getClientRects().length);
    const text = new XMLSerializer().serializeToString(drawn);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    link.download = figure.dataset.name + ".svg";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}
"""


def script_hash() -> str:
    """What a content security policy allows this script by."""
    digest = hashlib.sha256(SCRIPT.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
