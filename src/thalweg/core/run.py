"""A run: what was minimised, how, where it ended, why it ended there, and what that proves.

Everything to the right of a run (certificates, findings, reports) reads this record alone, and
works as well on a run that was saved last week. On disk a run is a folder of plain files:

    run.json     all but the arrays
    trace.csv    the history
    weights.npz  w and w0, and the dual point if there is one
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.core.card import BAD, GOOD, NEUTRAL, count_of, html_card, text_card
from thalweg.core.certificate import CERTIFICATE, NONE, Certificate
from thalweg.core.errors import StorageError
from thalweg.core.finding import FINDING, Finding, Severity
from thalweg.core.kinds import COUNT, NUMBER, check_kinds, damaged, one_of
from thalweg.core.outcome import Outcome
from thalweg.core.plan import PLAN, Plan, spelled_compiled
from thalweg.core.storage import (
    check_format,
    from_json,
    from_npz,
    read_folder,
    to_json,
    write_folder,
)
from thalweg.core.trace import Trace

FORMAT = 1  # raised when a change makes older folders unreadable
TOLD: dict[str, Any] = {  # what run.json holds
    "objective": str, "method": str, "outcome": one_of(*Outcome.__members__), "reason": str,
    "value": NUMBER, "tol": NUMBER, "seed": COUNT, "stride": COUNT, "options": dict,
    "counts": {str: NUMBER}, "certificate": CERTIFICATE, "findings": [FINDING],
    "environment": {str: str}, "compiled": (NUMBER, None), "plan": (PLAN, None),
}  # fmt: skip
FILES = ("run.json", "trace.csv", "weights.npz")


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """The record of one minimisation."""

    objective: str  # "Rosenbrock(a=1, b=100)"
    method: str  # "lbfgs"
    w: np.ndarray  # where it ended, float[dim]; the lowest point seen if it did not converge
    value: float  # f(w)
    outcome: Outcome
    reason: str  # the outcome with its numbers, its cause and what would help
    trace: Trace
    certificate: Certificate
    w0: np.ndarray  # where it began
    tol: float
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)  # of the method, all of them
    counts: Mapping[str, float] = field(default_factory=dict)  # values, gradients, hessian_vectors
    findings: tuple[Finding, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)  # versions, machine, date
    plan: Plan | None = None  # where the method was chosen by one
    compiled: float = 0.0  # seconds for kernels, once a machine; not in those of the trace
    dual: np.ndarray | None = None  # of a method that works in the dual: `tw.certify` takes it

    @property
    def converged(self) -> bool:
        """Whether the tolerance was reached."""
        return self.outcome.succeeded

    @property
    def is_training(self) -> bool:
        """Whether a network was trained, which proves nothing about its weights."""
        return self.certificate.kind == NONE

    @property
    def iterations(self) -> int:
        """Number of iterations done."""
        return int(self.trace.last["iteration"])

    @property
    def evaluations(self) -> int:
        """Gradients plus Hessian-vector products."""
        return int(self.trace.last["evaluations"])

    @property
    def seconds(self) -> float:
        """Time taken, that before a resume included and compiling not."""
        return self.trace.last["seconds"]

    @property
    def gradient_norm(self) -> float:
        """‖∇f‖∞ at the last iterate, or of its gradient mapping."""
        return self.trace.last["gradient_norm"]

    def __repr__(self) -> str:
        rows = self._rows()
        lines = [rows[0][1], *(f"{label}: {content}" for label, content in rows[1:] if content)]
        # The reason already holds the claims that explain the outcome.
        told = [f for f in self.findings if f.claim not in self.reason]
        lines += [f"{finding.severity.name} {finding.name}: {finding.claim}" for finding in told]
        return text_card(self.outcome.word, self._headline(), lines)

    def _repr_html_(self) -> str:
        rows = self._rows() + [(f.severity.name, f"{f.name}: {f.claim}") for f in self.findings]
        tone = GOOD if self.converged else NEUTRAL if self.outcome.is_planned else BAD
        return html_card(self.outcome.word, self._headline(), rows, tone=tone)

    def _headline(self) -> str:
        return f"{self.method} on {self.objective}, {count_of(self.w.size, 'variable')}"

    def _rows(self) -> list[tuple[str, str]]:
        gap = self.certificate.gap
        return [
            ("reason", self.reason),
            ("value", f"{self.value:.10g}" + ("" if gap is None else f", f − f* ≤ {gap:.3g}")),
            (
                "cost",
                f"{count_of(self.iterations, 'iteration')}, "
                f"{count_of(self.evaluations, 'gradient evaluation')}, {self.seconds:.3g} s"
                f"{spelled_compiled(self.compiled)}",
            ),
            ("plan", "" if self.plan is None else self.plan.summary(self.method)),
            ("certificate", self.certificate.statement),
            ("shows", self.certificate.shows),
            ("does not show", self.certificate.does_not_show),
            ("in expectation", self.certificate.in_expectation),
        ]

    def save(self, folder: str | Path) -> Path:
        """Write the run to `folder`, whole or not at all, and return the folder."""
        write_folder(Path(folder), self.files(), marker=FILES[0])
        return Path(folder)

    def files(self) -> dict[str, bytes]:
        """The files of a saved run, by their names."""
        record = {
            "format": FORMAT,
            "objective": self.objective,
            "method": self.method,
            "options": dict(self.options),
            "outcome": self.outcome.name,
            "reason": self.reason,
            "value": self.value,
            "tol": self.tol,
            "seed": self.seed,
            "counts": dict(self.counts),
            "stride": self.trace.stride,
            "certificate": asdict(self.certificate),
            "findings": [asdict(finding) for finding in self.findings],
            "environment": dict(self.environment),
            "compiled": self.compiled,
            "plan": None if self.plan is None else self.plan.as_record(),
        }
        arrays = io.BytesIO()
        points: dict[str, Any] = {"w": self.w, "w0": self.w0, "dual": self.dual}
        np.savez(arrays, **{name: point for name, point in points.items() if point is not None})
        contents = (to_json(record), self.trace.to_csv().encode(), arrays.getvalue())
        return dict(zip(FILES, contents, strict=True))

    @classmethod
    def load(cls, folder: str | Path) -> Run:
        """Read back what `save` wrote. Nothing in the folder is executed."""
        files = read_folder(Path(folder), FILES)
        record = from_json(files["run.json"], source=f"{folder}/run.json")
        check_format(record, FORMAT, source=str(folder))
        check_kinds(record, TOLD, source=f"{folder}/run.json")
        try:
            source = f"{folder}/weights.npz"
            arrays = from_npz(files["weights.npz"], {"w": 1, "w0": 1}, source=source)
            w, w0, dual = arrays["w"], arrays["w0"], arrays.get("dual")
            if w.shape != w0.shape:
                raise ValueError(f"w has shape {w.shape}, w0 {w0.shape}")
            return cls(
                objective=record["objective"],
                method=record["method"],
                w=w,
                value=record["value"],
                outcome=Outcome[record["outcome"]],
                reason=record["reason"],
                trace=_trace(files["trace.csv"], record["stride"], f"{folder}/trace.csv"),
                certificate=Certificate(**record["certificate"]),
                w0=w0,
                tol=record["tol"],
                seed=record["seed"],
                options=record["options"],
                counts=record["counts"],
                findings=tuple(
                    Finding(**{**finding, "severity": Severity(finding["severity"])})
                    for finding in record["findings"]
                ),
                environment=record["environment"],
                plan=Plan.from_record(record["plan"]) if record.get("plan") else None,
                compiled=record.get("compiled") or 0.0,
                dual=dual,
            )
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as problem:
            raise StorageError(
                f"{folder} is damaged ({type(problem).__name__}: {problem}): "
                "restore it from a copy, or run again"
            ) from problem


def _trace(content: bytes, stride: int, source: str) -> Trace:
    """The history in a file, if it has one."""
    try:
        trace = Trace.from_csv(content.decode(), stride=stride)
        if not len(trace) or not np.isfinite(trace.rows[:, :4]).all() or stride < 1:
            raise ValueError("it has no rows, or rows without their counts")
    except ValueError as problem:  # of text, of numbers, and what Trace says
        raise damaged(source, problem) from problem
    return trace
