"""The page: head, verdict and sections as one document that asks for nothing else.

It is at most `LIMIT` bytes: where it would be more, it is drawn again with half of the points, as
often as it takes.
"""

from __future__ import annotations

from collections.abc import Callable

from thalweg.reports.certificate import certificate_section
from thalweg.reports.choice import choice_section
from thalweg.reports.convergence import convergence_section
from thalweg.reports.data import data_section
from thalweg.reports.document import document
from thalweg.reports.drawing import Detail
from thalweg.reports.errors import errors_section
from thalweg.reports.findings import findings_section
from thalweg.reports.heading import header, title_of
from thalweg.reports.layers import layers_section
from thalweg.reports.markup import Markup, element, joined
from thalweg.reports.matters import matters_section
from thalweg.reports.plan import plan_section
from thalweg.reports.reproduce import reproduce_section
from thalweg.reports.subject import Subject

LIMIT = 1_000_000  # bytes
Section = Callable[[Subject, Detail], Markup]
SECTIONS: dict[str, tuple[str, Section]] = {
    "matters": ("What matters", matters_section),
    "errors": ("Errors", errors_section),
    "choice": ("Choice", choice_section),
    "plan": ("Plan", plan_section),
    "convergence": ("Convergence", convergence_section),
    "certificate": ("Certificate", certificate_section),
    "findings": ("Findings", findings_section),
    "layers": ("Network", layers_section),
    "data": ("Data", data_section),
    "reproduce": ("Reproduce", reproduce_section),
}


def page(subject: Subject) -> str:
    """The whole document, as detailed as fits."""
    detail = Detail()
    while True:
        text = _document(subject, detail)
        if len(text.encode()) <= LIMIT or detail == detail.coarser():
            return text
        detail = detail.coarser()


def _document(subject: Subject, detail: Detail) -> str:
    sections = {name: make(subject, detail) for name, (_, make) in SECTIONS.items()}
    links = joined(
        element("a", label, href=f"#{name}")
        for name, (label, _) in SECTIONS.items()
        if sections[name]
    )
    title = f"{subject.ranked[0].verdict.word.capitalize()}: {title_of(subject)}"
    head = Markup(f"{header(subject)}{element('nav', links, aria_label='Sections')}")
    return document(title, joined([element("header", head), *sections.values()]))
