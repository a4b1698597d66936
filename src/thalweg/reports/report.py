"""`tw.report`: one HTML file of a run, of several, or of anything that is known of them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from thalweg.core.card import text_card
from thalweg.core.checks import describe
from thalweg.core.errors import InputError, suggest
from thalweg.core.plan import spelled_seconds
from thalweg.core.run import Run
from thalweg.core.storage import write_out
from thalweg.reports.heading import sentence_of, title_of, why, winner
from thalweg.reports.page import page
from thalweg.reports.subject import Subject

HEIGHT = 720  # pixels of the page in a notebook


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A page to look at, in a notebook or a file."""

    subject: Subject

    @cached_property
    def html(self) -> str:
        """The page: one document that needs nothing else."""
        return page(self.subject)

    def save(self, file: str | Path) -> Path:
        """Write the page, whole or not at all, and return the file."""
        file = Path(file)
        if file.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"file must end in .html, got {str(file)!r}")
        write_out(file, self.html.encode())
        return file

    def _repr_html_(self) -> str:
        """The page in a frame, so that neither its style nor the notebook's meets the other."""
        source = self.html.replace("&", "&amp;").replace("'", "&#39;")
        return (
            f"<iframe srcdoc='{source}' title='{_attribute(title_of(self.subject))}' "
            "sandbox='allow-scripts allow-downloads' loading='lazy' "
            f"style='width:100%;height:{HEIGHT}px;border:0'></iframe>"
        )

    def __repr__(self) -> str:
        best, *others = self.subject.ranked
        lines = [sentence_of(best)]
        if others:
            lines.insert(0, winner(self.subject.ranked))
        else:
            lines.append(why(best.run))
        took = spelled_seconds(best.run.seconds)
        lines.append(f"took {took}; .save('report.html') writes the page")
        return text_card(best.verdict.word, title_of(self.subject), lines)


def report(thing: Any, **more: Any) -> Report:
    """The report of `thing`: a run, a list of runs, or a `Subject`.

    Parameters
    ----------
    more
        What else is known, field by field of `thalweg.reports.subject.Subject`: title, objective,
        record, findings, point, spectrum, data, scaling, scores, command, script, settings, notes,
        coefficients, explanation; of several runs points and scores_of_runs, in their order.

    >>> import thalweg as tw
    >>> run = tw.minimize(tw.surfaces.Quadratic(), "gd", tol=1e-8)
    >>> tw.report(run, title="A bowl").html[:15]
    '<!DOCTYPE html>'
    """
    known = [each.name for each in fields(Subject)]
    for name in more:
        if name not in known or name == "runs":
            raise InputError(f"a report has no {name!r}: {suggest(name, known[1:])}")
    for name in ("findings", "data", "scaling", "notes", "points", "scores_of_runs"):
        if name in more:
            more[name] = tuple(more[name])
    if isinstance(thing, Subject):
        subject = replace(thing, **more)
    else:
        runs = [thing] if isinstance(thing, Run) else thing
        if not isinstance(runs, list | tuple):
            raise InputError(
                f"thing must be a run, a list of runs or a Subject, got {describe(thing)}"
            )
        subject = Subject(tuple(runs), **more)
    if not subject.runs:
        raise InputError("thing must have a run at least, got none: pass what tw.minimize returned")
    for run in subject.runs:
        if not isinstance(run, Run):
            raise InputError(f"thing must hold runs of tw.minimize, got {describe(run)}")
        if not len(run.trace):
            raise InputError(
                f"thing must hold runs with a history, got one of {run.method} without"
            )
    return Report(subject)


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace("'", "&#39;").replace("<", "&lt;")
