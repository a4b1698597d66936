"""A linear model: coefficients in the units of X, intercepts, and what its scores stand for."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thalweg.core.errors import StorageError
from thalweg.core.kinds import damaged
from thalweg.core.storage import from_npz, read_folder
from thalweg.kernels.scores import scores
from thalweg.runs.job import Job
from thalweg.runs.prediction import Answers, from_scores
from thalweg.tables.encoding import Encoding

FILE = "model.npz"


class LinearModel(NamedTuple):
    """What `predict` needs of a linear job."""

    coefficients: np.ndarray  # float64[p], or [p, K], in the units of X
    intercepts: np.ndarray  # float64[], or [K]
    codes: np.ndarray  # of the classes that it tells apart, int64[K]; empty for numbers
    loss: str
    classes: tuple[str, ...]  # names by code, those that no training row had included

    def scores(self, X: Any) -> np.ndarray:
        """Xw + b, float64[n] or [n, K]; of a row the same whatever stands beside it."""
        return scores(X, self.coefficients, self.intercepts)

    def answers(self, X: Any) -> Answers:
        """Numbers, or codes of classes with probabilities."""
        values, odds = from_scores(self.scores(X), self.loss)
        if not self.classes:
            return Answers(values)
        if odds is not None and len(self.codes) < len(self.classes):
            whole = np.zeros((len(odds), len(self.classes)))
            whole[:, self.codes] = odds
            odds = whole
        return Answers(self.codes[values], odds)

    def to_bytes(self) -> bytes:
        """The arrays as an .npz."""
        out = io.BytesIO()
        np.savez(
            out,
            coefficients=self.coefficients,
            intercepts=self.intercepts,
            classes=self.codes,
        )
        return out.getvalue()


def loss_of(job: Job, encoding: Encoding) -> str:
    """The loss that the job names, or that its target asks for."""
    if job.loss is not None:
        return job.loss
    classes = encoding.target.classes if encoding.target else ()
    return "squared" if not classes else "logistic" if len(classes) <= 2 else "multinomial"


def read_linear_model(
    folder: Path, loss: str, classes: tuple[str, ...], features: int
) -> LinearModel:
    """The model in a folder, for rows of so many features."""
    content, source = read_folder(folder, (FILE,))[FILE], f"{folder}/{FILE}"
    several = int(loss == "multinomial")
    shapes = {"coefficients": 1 + several, "intercepts": several, "classes": 1}
    arrays = from_npz(content, shapes, source=source)
    w, b, codes = (arrays[name] for name in shapes)
    for name, numbers in (("coefficients", w), ("intercepts", b)):
        if not np.isfinite(numbers).all():
            raise StorageError(
                f"{source} has {name} that are not finite, which predict nothing: restore it from "
                "a copy, or train again"
            )
    if w.shape != (features, *b.shape) or b.shape != codes.shape[: b.ndim]:
        raise damaged(source, ValueError(f"shape {w.shape} for {features} features"))
    is_two = loss not in ("logistic", "squared-hinge") or len(codes) == 2
    if not is_two or codes.dtype.kind != "i" or not set(codes.tolist()) <= set(range(len(classes))):
        raise damaged(source, ValueError(f"classes are {codes.tolist()}"))
    return LinearModel(w, b, codes, loss, classes)
