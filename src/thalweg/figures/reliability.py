"""Where answers err, drawn: probabilities beside how often they came true, residuals, confusions.

Read from the bins of an `Explanation`; nothing is smoothed, and each bin stands at the mean of
what was predicted in it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.explanation import Bin
from thalweg.figures.spec import Axis, Band, Curve, Figure, Guide, Heatmap, Panel
from thalweg.figures.styles import BLUE, MUTED, SKY, THEORY, Style


def calibration(bins: Sequence[Bin], of: str) -> Figure:
    """The share that came true over the probability that was told."""
    told, low, middle, high = _columns(bins)
    ends = np.array([0.0, 1.0])
    marks = (
        Band("95 % interval", told, low, high, Style(SKY)),
        Curve("came true", told, middle, Style(BLUE, shape="circle")),
        Curve("as told", ends, ends, Style(MUTED, THEORY, 1.4)),
    )
    axes = Axis("probability that was told", low=0.0, high=1.0), Axis("share", low=0.0, high=1.0)
    worst = max(bins, key=lambda each: abs(each.told - each.middle))
    summary = f"Farthest apart: told {worst.told:.2f}, came true {worst.middle:.2f}."
    return Figure(
        f"Probability of {of}, and how often it came true", (Panel(*axes, marks),), summary
    )


def residuals(bins: Sequence[Bin]) -> Figure:
    """Truth less prediction over the prediction."""
    told, low, middle, high = _columns(bins)
    marks = (
        Band("middle 80 %", told, low, high, Style(SKY)),
        Curve("median", told, middle, Style(BLUE, shape="circle")),
        Guide("0", 0.0),
    )
    panel = Panel(Axis("prediction"), Axis("truth less prediction"), marks)
    summary = (
        f"Medians of {len(bins)} bins lie between {middle.min():.3g} and {middle.max():.3g}; "
        f"80 % of residuals span {(high - low).min():.3g} to {(high - low).max():.3g}."
    )
    return Figure("Residuals over predictions", (panel,), summary)


def confusions(counts: Sequence[Sequence[int]], classes: Sequence[str]) -> Figure:
    """The share of each true class by the class that was told."""
    table = np.asarray(counts, dtype=np.float64)
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1.0)
    names = tuple(classes)
    panel = Panel(
        Axis("told", categories=names), Axis("truth", categories=names),
        (Heatmap("share of the true class", shares),),
    )  # fmt: skip
    right = np.trace(table) / max(1.0, table.sum())
    return Figure("Confusions of classes", (panel,), f"{right:.1%} of all rows are told right.")


def _columns(bins: Sequence[Bin]) -> tuple[np.ndarray, ...]:
    return tuple(
        np.array([getattr(each, name) for each in bins])
        for name in ("told", "low", "middle", "high")
    )
