"""A linear model as JSON: what a page, or any program, needs to answer for a row.

    {"format": "thalweg linear model", "version": 1, "target": …, "link": …, "classes": […],
     "columns": [{"name": …, "kind": "number", "fill": …, "coefficients": [w, …]},
                 {"name": …, "kind": "flag", …},
                 {"name": …, "kind": "text", "fill": …, "categories": […],
                  "coefficients": [[w, …], …]},
                 {"name": …, "kind": "date", "order": "dmy", "fill": [x, …],
                  "parts": ["year", "month", "weekday sin", …], "coefficients": [[w, …], …]}],
     "intercepts": [b, …]}

`exports.portable` has the formula. A coefficient is a list of K numbers, one a score; a text has
such a list a category, a date one a part. `tables.dates` says what the parts are; an order "" is
that of a source whose dates were no text, and is written year first.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from thalweg.exports.portable import Portable
from thalweg.tables.column import DATE, TEXT, Column

FORMAT, VERSION = "thalweg linear model", 1


def json_bytes(model: Portable) -> bytes:
    """The file."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "target": model.target,
        "link": model.link,
        "classes": list(model.classes),
        "columns": [_column(*each) for each in model.of_columns],
        "intercepts": model.intercepts.tolist(),
    }
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False).encode() + b"\n"


def _column(column: Column, coefficients: np.ndarray) -> dict[str, Any]:
    told: dict[str, Any] = {"name": column.name, "kind": column.kind, "fill": column.fill}
    if column.kind == DATE:
        told |= {"order": column.order or "ymd", "parts": column.parts}
        return told | {"coefficients": coefficients.tolist()}
    if column.kind != TEXT:
        return told | {"coefficients": coefficients[0].tolist()}
    return told | {"categories": column.categories, "coefficients": coefficients.tolist()}
