"""The table, its summary and its JSON."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
import sklearn

from .pair import FLAGS, SIDES, Fit, Row

HEADS = (
    f"{'case':<46}{'shape':<22}{'sklearn ms':>11}{'thalweg ms':>11}{'ratio':>9}"
    f"{'suboptimality':>18}{'error':>18}  {'warned':<7}"
)


def line(row: Row) -> str:
    """Two lines of the table: with the defaults, and with one tolerance."""
    shape = row.shape + (f" → {row.outputs}" if row.outputs > 1 else "")
    head = f"{row.case.name:<46}{shape:<22}"
    notes = "".join(f"  {flag}" for flag in row.flags)
    if not row.verdict.is_sure:
        notes += "  (no sure optimum)"
    for side in SIDES:
        failure = row.default[side].failure
        notes += f"  {side}: {failure}" if failure else ""
    first = head + _cells(row.default, row.verdict.is_identified) + notes
    second = f"{'    at one tol':<68}" + _cells(row.equal, row.verdict.is_identified)
    return f"{first.rstrip()}\n{second.rstrip()}"


def _cells(fits: dict[str, Fit], is_identified: bool) -> str:
    theirs, ours = (fits[side] for side in SIDES)
    kind = "" if is_identified else "z"
    return (
        f"{1e3 * theirs.seconds:>11.2f}{1e3 * ours.seconds:>11.2f}"
        f"{ours.seconds / theirs.seconds:>9.2f}"
        f"{_two(theirs.suboptimality, ours.suboptimality):>18}"
        f"{kind + _two(theirs.error, ours.error):>18}  {f'{theirs.warnings} {ours.warnings}':<7}"
    )


def _two(theirs: float, ours: float) -> str:
    return f"{theirs:.0e} {ours:.0e}"


def summary(rows: Sequence[Row]) -> str:
    """Counts of flags, and how the ratios lie."""
    flags = Counter(flag for row in rows for flag in row.flags)
    counted = ", ".join(f"{flag} {flags[flag]}" for flag in FLAGS)
    warned = {side: sum(row.default[side].warnings > 0 for row in rows) for side in SIDES}
    lines = [
        f"{len(rows)} cases: {counted}, none of these {sum(not row.flags for row in rows)}",
        _ratios("time, thalweg / scikit-learn, defaults", [row.ratio for row in rows]),
        _ratios(
            "the same at one tol",
            [row.equal[SIDES[1]].seconds / row.equal[SIDES[0]].seconds for row in rows],
        ),
        f"cases with a ConvergenceWarning: scikit-learn {warned[SIDES[0]]}, "
        f"thalweg {warned[SIDES[1]]}",
    ]
    unsure = [row.case.name for row in rows if not row.verdict.is_sure]
    if unsure:
        lines.append(f"without a sure optimum, not judged by error: {', '.join(unsure)}")
    return "\n".join(lines)


def _ratios(what: str, ratios: list[float]) -> str:
    known = [ratio for ratio in ratios if np.isfinite(ratio)]
    if not known:
        return f"{what}: none"
    mean = float(np.exp(np.mean(np.log(known))))
    low, q1, q2, q3, high = np.quantile(known, [0, 0.25, 0.5, 0.75, 1])
    return (
        f"{what}: geometric mean {mean:.2f}, quartiles {q1:.2f} {q2:.2f} {q3:.2f}, "
        f"from {low:.2f} to {high:.2f}"
    )


def as_json(rows: Sequence[Row], tolerance: float) -> dict[str, Any]:
    """Everything, with what it was measured on."""
    return {
        "machine": {"processor": platform.machine(), "cpus": os.cpu_count()},
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "tolerance": tolerance,
        "cases": [_row(row) for row in rows],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "name": row.case.name,
        "model": row.case.model,
        "params": {key: _plain(value) for key, value in row.case.params.items()},
        "shape": row.shape,
        "outputs": row.outputs,
        "error_of": "coefficients" if row.verdict.is_identified else "scores",
        "optimum": {"slack": _plain(row.verdict.slack), "is_sure": row.verdict.is_sure},
        "ratio": _plain(row.ratio),
        "flags": row.flags,
        "default": {side: _fit(row.default[side]) for side in SIDES},
        "equal": {side: _fit(row.equal[side]) for side in SIDES},
    }


def _fit(fit: Fit) -> dict[str, Any]:
    names = ("seconds", "suboptimality", "of_null", "error", "warnings", "other_warnings")
    return {name: _plain(getattr(fit, name)) for name in (*names, "failure", "method")}


def _plain(value: Any) -> Any:
    """JSON has no infinity: a string in its place."""
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else str(float(value))
    return value
