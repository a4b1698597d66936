"""The coefficients of a saved linear model, the largest per standard deviation first.

A column of text has a feature for each category, and the model is the same where a number is added
to all of them and taken off the intercept: only differences say something. So each category is
measured against the most frequent one, which has no row of its own.
"""

from __future__ import annotations

import numpy as np

from thalweg.core.coefficient import Coefficient
from thalweg.runs.linear_model import LinearModel
from thalweg.tables.column import TEXT
from thalweg.tables.encoding import Encoding


def coefficients_of(
    model: LinearModel, encoding: Encoding, most: int | None = None
) -> list[Coefficient]:
    """All of them, or the `most` largest; the intercept is not among them."""
    w = np.reshape(model.coefficients, (len(model.coefficients), -1))
    per_unit, reference = _against_references(w, model.means, encoding)
    scaled = None if model.deviations is None else per_unit * model.deviations[:, None]
    sizes = np.abs(per_unit if scaled is None else scaled)
    sizes[reference == np.arange(len(w))] = -1.0  # a reference is what others are measured by
    order = np.argsort(-sizes, axis=None, kind="stable")
    order = order[: int((sizes >= 0.0).sum())][:most]
    names, outputs = encoding.feature_names, outputs_of(model)
    categories = [
        category
        for column in encoding.columns
        for category in (column.categories or ("",) * len(column.features))
    ]
    return [
        Coefficient(
            names[j],
            outputs[k],
            categories[reference[j]] if reference[j] >= 0 else "",
            float(per_unit[j, k]),
            None if scaled is None else float(scaled[j, k]),
        )
        for j, k in zip(*np.unravel_index(order, sizes.shape), strict=True)
    ]


def outputs_of(model: LinearModel) -> tuple[str, ...]:
    """The class that each score stands for; "" for the score of a regression."""
    known = [model.classes[code] for code in model.codes.tolist()]
    if not known:
        return ("",)
    return tuple(known) if model.coefficients.ndim == 2 else (known[1],)


def _against_references(
    w: np.ndarray, means: np.ndarray | None, encoding: Encoding
) -> tuple[np.ndarray, np.ndarray]:
    """w less that of the reference, and the feature that is the reference of each, or −1."""
    found, reference = np.array(w, dtype=np.float64), np.full(len(w), -1)
    start = 0
    for column in encoding.columns:
        stop = start + len(column.features)
        if column.kind == TEXT and stop > start and means is not None:
            first = start + int(means[start:stop].argmax())
            found[start:stop] -= w[first]
            reference[start:stop] = first
        start = stop
    return found, reference
