"""The lab book: what a lab is, how it is run and judged, and the pages made of it.

    Lab ─► experiment(setting) ─► Findings ─► Result ─► text, JSON and SVG on disk ─► book

The labs themselves are in `thalweg.labs`, one file a claim. What they take from here:
"""

from thalweg.figures.spec import (
    Axis,
    Band,
    Bars,
    Contour,
    Curve,
    Figure,
    Guide,
    Heatmap,
    Histogram,
    Panel,
    Point,
)
from thalweg.labbook.drawing import band, curve, figure, panel
from thalweg.labbook.lab import Break, Lab
from thalweg.labbook.result import Findings, Sheet
from thalweg.labbook.ruling import (
    CLAIM,
    CONDITION,
    CORRECTED,
    NOTED,
    WRITTEN,
    Check,
    Ruling,
)
from thalweg.labbook.setting import Setting

__all__ = [
    "CLAIM",
    "CONDITION",
    "CORRECTED",
    "NOTED",
    "WRITTEN",
    "Axis",
    "Band",
    "Bars",
    "Break",
    "Check",
    "Contour",
    "Curve",
    "Figure",
    "Findings",
    "Guide",
    "Heatmap",
    "Histogram",
    "Lab",
    "Panel",
    "Point",
    "Ruling",
    "Setting",
    "Sheet",
    "band",
    "curve",
    "figure",
    "panel",
]
