"""What is proved about the point: the certificate, or for a network the Hessian's spectrum.

Of one run every word of its certificate, and the gap over its iterations; of several a table. A
point that was looked at (`tw.classify`) is told with both ends of its spectrum, and a spectral
density is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.certificates.critical_point import CriticalPoint
from thalweg.core.run import Run
from thalweg.figures.convergence import MOST, convergence, names
from thalweg.figures.spectrum import spectrum
from thalweg.reports.drawing import FEWEST, Detail, drawing
from thalweg.reports.markup import (
    GOOD,
    STACKS,
    WARN,
    Markup,
    badge,
    element,
    facts,
    html_table,
    number,
    section,
)
from thalweg.reports.subject import Subject


def certificate_section(subject: Subject, detail: Detail) -> Markup:
    """Certificates, gap curve, point and spectrum, as far as there are any."""
    runs = [each.run for each in subject.ranked]
    certified = [run for run in runs if not run.is_training]
    parts = []
    if len(certified) == 1:
        parts.append(_whole(certified[0]))
    elif certified:
        parts.append(_several(certified))
    elif subject.point is not None or subject.spectrum is not None:
        parts.append(_whole(runs[0]))
    if subject.point is not None:
        parts += [element("h3", "The point where it ended"), _point(subject.point)]
    parts += _gap_curve(runs, detail)
    if subject.spectrum is not None:
        figure = spectrum(subject.spectrum)
        parts.append(drawing(figure, "spectrum", detail))
        parts.append(element("p", figure.summary, class_="note"))
    if not parts:
        return Markup()
    return section("certificate", "Certificate", parts)


def _whole(run: Run) -> Markup:
    certificate = run.certificate
    return facts(
        [
            (certificate.kind, "" if run.is_training else _held(run)),
            ("statement", certificate.statement),
            ("shows", certificate.shows),
            ("does not show", certificate.does_not_show),
            ("in expectation", certificate.in_expectation),
        ],
        "lines",
    )


def _several(runs: Sequence[Run]) -> Markup:
    rows = [
        (name, run.certificate.kind, _held(run), number(run.certificate.measured),
         number(run.certificate.limit))
        for run, name in zip(runs, names(runs), strict=True)
    ]  # fmt: skip
    best = runs[0].certificate
    heads = ("method", "certificate", "verdict", "measured", "limit")
    whole = html_table("What is proved of each run", heads, rows, numbers=(3, 4), kind=STACKS)
    told = facts([("shows", best.shows), ("does not show", best.does_not_show)], "lines")
    return Markup(whole + element("h3", f"Of {names(runs)[0]}") + told)


def _held(run: Run) -> Markup:
    return badge("holds", GOOD) if run.certificate.holds else badge("does not hold", WARN)


def _point(point: CriticalPoint) -> Markup:
    relation = "≤" if point.gradient_norm <= point.gradient_limit else ">"
    fall = f"f falls by {point.drop:.3g} along a direction that was found"
    return facts(
        [
            ("point", badge(point.kind, GOOD if point.kind == "minimum" else WARN)),
            ("because", point.explanation),
            (
                "gradient",
                f"‖∇f‖∞ = {point.gradient_norm:.3g} {relation} {point.gradient_limit:.3g}",
            ),
            ("λ_min", f"{point.smallest:.4g}"),
            ("λ_max", f"{point.largest:.4g}"),
            ("error", f"{point.error:.2g}: an eigenvalue within it counts as zero"),
            ("way out", "" if point.escape is None else fall),
        ],
        "lines",
    )


def _gap_curve(runs: Sequence[Run], detail: Detail) -> list[Markup]:
    """The gap over the iterations, of runs in which it was taken more than once."""
    measured = [run for run in runs if np.isfinite(run.trace["gap"]).sum() > 1][:MOST]
    if not measured:
        return []
    limit = max(FEWEST, detail.points // len(measured))
    figure = convergence(measured, y="gap", limit=limit)
    return [drawing(figure, "gap", detail, title="Gap over iterations")]
