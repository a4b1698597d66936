"""The lab book: a page for each lab and an index with all verdicts, made from results on disk.

    folder/
      gd-rate.json, …                  what labs found
      gd-rate.html, gd-rate-1.svg, …   their pages and pictures, made from that
      index.html                       verdicts at a glance, by subject, and by lecture

Pages refer to each other and to nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from thalweg.core.errors import InputError, StorageError
from thalweg.core.plan import spelled_seconds
from thalweg.core.storage import write_together
from thalweg.labbook.catalogue import LECTURES, NAMES, READING, SECTIONS, lab
from thalweg.labbook.page import STYLE, page, tone_of, verdict_words
from thalweg.labbook.result import Result
from thalweg.labbook.setting import silent
from thalweg.reports.document import document
from thalweg.reports.markup import (
    BAD,
    GOOD,
    SIGNS,
    STACKS,
    Markup,
    badge,
    element,
    html,
    html_table,
    joined,
    section,
)

INDEX = "index.html"


def bind(folder: str | Path) -> Path:
    """Write pages and pictures of all results in `folder`, and return the index."""
    folder = Path(folder)
    results = read(folder)
    if not results:
        raise InputError(f"{folder} has no results of labs: thalweg lab --all makes them")
    names = list(results)
    pages = {
        f"{name}.html": page(lab(name), results[name], before=before, after=after).encode()
        for before, name, after in zip(["", *names], names, [*names[1:], ""], strict=False)
    }
    drawn = {name: file for each in results.values() for name, file in each.pictures().items()}
    write_together(folder, {**drawn, **pages, INDEX: index(results).encode()})
    return folder / INDEX


def keep(result: Result, folder: str | Path, note: Callable[[str], None] = silent) -> list[Path]:
    """Write a result, then its page and the index of those that are there; record and page.

    The record is kept also where the page cannot be written, of which a note tells.
    """
    folder, name = Path(folder), result.name
    made = [result.save(folder)]
    try:
        first = index(read(folder)).encode()
        pages = {f"{name}.html": page(lab(name), result).encode(), INDEX: first}
        write_together(folder, {**result.pictures(), **pages})
    except StorageError as problem:
        note(f"{problem}; its numbers are in {made[0]}, and thalweg lab {name} makes its page")
        return made
    return [*made, folder / f"{name}.html"]


def read(folder: str | Path) -> dict[str, Result]:
    """The results in a folder, by name."""
    files = {name: Path(folder) / f"{name}.json" for name in NAMES}
    return {name: Result.load(file) for name, file in files.items() if file.is_file()}


def index(results: dict[str, Result]) -> str:
    """The first page."""
    passed = sum(each.passed for each in results.values())
    is_good = passed == len(results)
    sign = element("span", SIGNS[GOOD if is_good else BAD], class_="sign", aria_hidden="true")
    word = Markup(f"{sign} {html(f'{passed} of {len(results)} labs pass')}")
    took = spelled_seconds(sum(each.seconds for each in results.values()))
    what = (
        "A lab tries one claim of the lectures and judges it by its numbers. It passes where the "
        "verdict is the expected one: that the claim holds, holds under a condition, or fails as "
        f"it is written and holds corrected. All of them took {took} of one core."
    )
    head = joined(
        [
            element("p", "The lab book", class_="eyebrow"),
            element("h1", "Every claim of the lectures, run and judged"),
            element("div", element("p", word, class_="word"),
                    class_=f"verdict {GOOD if is_good else BAD}"),
            element("p", what, class_="lead"),
            element("nav", joined([
                element("a", "At a glance", href="#glance"),
                *(element("a", title, href=f"#{_key(title)}") for title in SECTIONS),
                element("a", "By lecture", href="#lectures"),
            ]), aria_label="Sections"),
        ]
    )  # fmt: skip
    parts = [
        element("header", head),
        section("glance", "At a glance", [_glance(results)]),
        *(_subject(title, names, results) for title, names in SECTIONS.items()),
        section("lectures", "By lecture", [_reading(results)]),
    ]
    return document("The lab book", joined(parts), STYLE)


def _glance(results: dict[str, Result]) -> Markup:
    """All labs by verdict, in the order of the words that first come."""
    found: dict[str, list[Markup]] = {}
    for name, result in results.items():
        link = element("a", badge(name, tone_of(result)), href=f"{name}.html")
        found.setdefault(verdict_words(result), []).append(element("li", link))
    return joined(
        part
        for words, entries in found.items()
        for part in (
            element("h3", f"{words[0].upper()}{words[1:]}: {len(entries)}"),
            element("ul", joined(entries), class_="glance"),
        )
    )


def _subject(title: str, names: tuple[str, ...], results: dict[str, Result]) -> Markup:
    rows = [
        (
            element("a", name, href=f"{name}.html", class_="name"),
            element("span", results[name].claim, class_="claim"),
            badge(verdict_words(results[name]), tone_of(results[name])),
            spelled_seconds(results[name].seconds),
        )
        for name in names
        if name in results
    ]
    heads = ("lab", "claim", "verdict", "took")
    return section(_key(title), title, [html_table("", heads, rows, numbers=(3,), kind=STACKS)])


def _reading(results: dict[str, Result]) -> Markup:
    parts = []
    for letter, names in READING.items():
        parts.append(element("h3", f"{letter}: {LECTURES[letter]}"))
        entries = [
            element("li", element("a", name, href=f"{name}.html"))
            for name in names
            if name in results
        ]
        parts.append(element("ol", joined(entries), class_="reading"))
    return joined(parts)


def _key(title: str) -> str:
    return title.lower().replace(" ", "-")
