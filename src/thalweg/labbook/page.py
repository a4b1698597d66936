"""The page of a lab: claim, verdict, what was measured, figures, derivation, and code to copy.

Made from the result on disk and the lab's own words. It is read without scripts, on paper, on a
narrow screen and in the dark, as reports are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from thalweg.labbook.catalogue import LECTURES
from thalweg.labbook.lab import Lab
from thalweg.labbook.result import Cell, Drawn, Result, Sheet, written
from thalweg.labbook.ruling import CLAIM, CONDITION, CORRECTED, NOTED, WRITTEN, Check
from thalweg.reports.document import document
from thalweg.reports.markup import (
    BAD,
    DENSE,
    GOOD,
    INFO,
    SIGNS,
    STACKS,
    Markup,
    badge,
    element,
    facts,
    html_table,
    joined,
    section,
    to_copy,
)

ROLES = {
    CLAIM: "",
    WRITTEN: "as the lecture has it",
    CONDITION: "under the condition",
    CORRECTED: "corrected",
    NOTED: "noted",
}
EXPONENT = re.compile(r"(?<=\de)-(?=\d)")  # a line may break at a hyphen, and not at a minus
UNBROKEN = "/\N{WORD JOINER}"  # nor at such a fraction bar
ROOM = 40  # letters of a dense table's row on a narrow screen, a column's margin being one


def page(tried: Lab, result: Result, *, before: str = "", after: str = "") -> str:
    """The whole document; `before` and `after` are the names of its neighbours."""
    parts = [
        element("header", _header(tried, result)),
        _measured(result),
        _derivation(tried),
        _failing(tried),
        _code(tried, result),
        _way(before, after),
    ]
    return document(f"{result.word}: {result.title}", joined(parts), STYLE)


def tone_of(result: Result) -> str:
    """Good where the verdict is the expected one."""
    return GOOD if result.passed else BAD


def verdict_words(result: Result) -> str:
    """The verdict as a reader knows it: "holds", "holds if", "fails as written"."""
    if result.passed:
        return str(result.verdict)
    return f"{result.verdict}, expected: {result.expected}"


def _header(tried: Lab, result: Result) -> Markup:
    lectures = ", ".join(f"{letter} {LECTURES[letter]}" for letter in tried.lectures)
    sign = element("span", SIGNS[tone_of(result)], class_="sign", aria_hidden="true")
    word = Markup(f"{sign} {element('span', f'{result.word}: {verdict_words(result)}')}")
    lines = [element("p", word, class_="word")]
    if result.broken:
        lines.append(element("p", f"Broken on purpose: {result.broken}."))
    if tried.condition:
        lines.append(element("p", f"It holds if {_lower(tried.condition)}"))
    if tried.correction:
        lines.append(element("p", f"Corrected: {tried.correction}"))
    links = joined([element("a", "All labs", href="index.html")])
    return joined(
        [
            element("p", f"{tried.name} · {lectures}", class_="eyebrow"),
            element("h1", tried.title),
            element("div", joined(lines), class_=f"verdict {tone_of(result)}"),
            element("p", tried.claim, class_="lead"),
            element("pre", tried.formula, class_="formula"),
            facts(
                [("in the lectures", "; ".join(tried.places)), ("remark", tried.remark)], "lines"
            ),
            element("nav", links, aria_label="Labs"),
        ]
    )


def _measured(result: Result) -> Markup:
    checks = joined(_check(each) for each in result.checks)
    parts = [element("ul", checks, class_="checks")]
    parts += [_figure(drawn, f"{result.name}-{k}") for k, drawn in enumerate(result.figures, 1)]
    parts += [_table(each) for each in result.tables]
    parts += [element("p", note, class_="note") for note in result.notes]
    return section("measured", "Measured", parts)


def _check(check: Check) -> Markup:
    said = ROLES[check.role]
    # What the lecture has wrong is not to hold: that is no failure of the lab.
    tone = INFO if check.role in (WRITTEN, NOTED) else GOOD if check.holds else BAD
    word = badge("holds" if check.holds else "does not hold", tone)
    about = element("span", said, class_="small") if said else Markup()
    statement = element("span", check.statement, class_="statement")
    measured = element("span", check.measured, class_="small")
    return element("li", joined([statement, word, about, measured], " "))


def _figure(drawn: Drawn, name: str) -> Markup:
    return Markup(
        f'<figure class="thalweg-both" data-name="{name}">'
        f'<div class="tw-wide">{drawn.wide}</div><div class="tw-narrow">{drawn.narrow}</div>'
        '<figcaption class="save"></figcaption></figure>'
    )


def _table(each: Sheet) -> Markup:
    numbers = [k for k in range(1, len(each.heads)) if all(_is_number(row[k]) for row in each.rows)]
    rows = [tuple(EXPONENT.sub("−", written(cell)) for cell in row) for row in each.rows]
    kind = DENSE if _width(each.heads, rows, numbers) <= ROOM else STACKS
    heads = [EXPONENT.sub("−", head).replace("/", UNBROKEN) for head in each.heads]
    return html_table(each.caption, heads, rows, numbers=numbers, kind=kind)


def _width(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> int:
    """Letters that a row takes at least: whole numbers, the longest words of texts, margins."""
    columns = [
        [head.split(), *([cell] if k in numbers else cell.split() for cell in cells)]
        for k, (head, *cells) in enumerate(zip(heads, *rows, strict=True))
    ]
    return sum(
        1 + max(len(word) for words in column for word in words or [""]) for column in columns
    )


def _derivation(tried: Lab) -> Markup:
    blocks = []
    for block in tried.derivation.split("\n\n"):
        if not block.strip():
            continue
        if all(line.startswith("    ") for line in block.splitlines()):
            lines = "\n".join(line[4:] for line in block.splitlines())
            blocks.append(element("pre", lines, class_="formula"))
        else:
            blocks.append(element("p", " ".join(block.split())))
    return section("why", "Why", blocks) if blocks else Markup()


def _failing(tried: Lab) -> Markup:
    command = "\n".join(f"thalweg lab {tried.name} --break {each.name}" for each in tried.breaks)
    ways = joined(element("li", f"{each.name}: {each.what}") for each in tried.breaks)
    return section(
        "failing",
        "What it takes to fail",
        [
            element("p", f"{tried.fails_if[0].upper()}{tried.fails_if[1:].rstrip('.')}."),
            element("p", "Broken on purpose, the lab must fail, and does:"),
            element("ul", ways),
            to_copy(command),
        ],
    )


def _code(tried: Lab, result: Result) -> Markup:
    seed = f" --seed {result.seed}" if result.seed else ""
    budget = " --full" if result.budget == "full" else ""
    known = result.environment
    versions = ", ".join(f"{name} {known[name]}" for name in ("thalweg", "numpy") if name in known)
    return section(
        "again",
        "Try it",
        [
            to_copy(tried.code.strip(), "In ten lines"),
            to_copy(f"thalweg lab {tried.name}{budget}{seed}", "This page"),
            facts(
                [
                    ("budget", result.budget),
                    ("seed", str(result.seed)),
                    ("took", f"{result.seconds:.1f} s"),
                    ("versions", versions),
                    ("date", known.get("date", "").replace("T", " ")[:16]),
                ]
            ),
        ],
    )


def _way(before: str, after: str) -> Markup:
    links = [
        element("a", label, href=f"{name}.html")
        for name, label in ((before, f"← {before}"), (after, f"{after} →"))
        if name
    ]
    return element("nav", joined(links), aria_label="Neighbours") if links else Markup()


def _is_number(cell: Cell) -> bool:
    """Numbers and texts that begin with one, but no lists of them."""
    if not isinstance(cell, str) or not cell:
        return True
    return cell[0] in "+-−0123456789∞—" and ", " not in cell


def _lower(sentence: str) -> str:
    """A sentence as a clause: its first letter small, unless it is a symbol or a name."""
    first, *rest = sentence.split(" ", 1)
    return " ".join([first.lower() if first[1:].islower() else first, *rest])


STYLE = """
.checks{list-style:none;padding:0}
.checks li{margin:0 0 .875rem}
.checks .statement{display:block}
.checks .small{margin-left:.25rem}
pre.formula{background:none;padding:0 0 0 1.25rem;border-left:3px solid var(--line);
border-radius:0;font-size:.9375rem}
.glance{display:flex;flex-wrap:wrap;gap:.5rem;margin:0 0 1.75rem;padding:0;list-style:none}
.glance li{margin:0}
.glance a{text-decoration:none}
ol.reading{columns:2;padding-left:1.5rem}
a.name{white-space:nowrap}
thead .n{white-space:normal}
.dense tbody th,.dense td{overflow-wrap:normal}
@media (max-width:560px){
ol.reading{columns:1}
pre.formula{padding-left:.75rem;font-size:.75rem;white-space:break-spaces}
.stacks tr{grid-template-columns:minmax(0,1fr)}
.stacks td::before{max-width:60%;flex:none;white-space:normal;overflow-wrap:normal}
.stacks td:has(.claim){justify-content:start;text-align:left}
.stacks td:has(.claim)::before{content:none}
}
"""
