"""A linear model: coefficients in the units of X, intercepts, and what its scores stand for."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thalweg.core.errors import StorageError
from thalweg.core.storage import read_folder
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


def read_linear_model(folder: Path, loss: str, classes: tuple[str, ...]) -> LinearModel:
    """The model in a folder."""
    content = read_folder(folder, (FILE,))[FILE]
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            found = arrays["coefficients"], arrays["intercepts"], arrays["classes"]
    except (KeyError, ValueError, EOFError, OSError, zipfile.BadZipFile) as problem:
        raise StorageError(
            f"{folder}/{FILE} is damaged ({type(problem).__name__}: {problem}): "
            "restore it from a copy, or train again"
        ) from problem
    return LinearModel(*found, loss, classes)
