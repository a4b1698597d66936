"""A linear model: coefficients in the units of X, intercepts, and what its scores stand for.

model.npz holds its arrays, the names of the features, where columns have names, and the means and
deviations that the features had in the rows it was trained on.
"""

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
from thalweg.tables.column import has_names
from thalweg.tables.encoding import Encoding

FILE = "model.npz"
FEATURES, MEANS, DEVIATIONS = "features", "means", "deviations"  # not in files of first versions


class LinearModel(NamedTuple):
    """What `predict` needs of a linear job."""

    coefficients: np.ndarray  # float64[p], or [p, K], in the units of X
    intercepts: np.ndarray  # float64[], or [K]
    codes: np.ndarray  # of the classes that it tells apart, int64[K]; empty for numbers
    loss: str
    classes: tuple[str, ...]  # names by code, those that no training row had included
    features: tuple[str, ...] = ()  # names; none of a matrix, whose columns have none
    means: np.ndarray | None = None  # of the training rows, float64[p]; not in older files
    deviations: np.ndarray | None = None  # likewise

    def scores(self, X: Any) -> np.ndarray:
        """Xw + b, float64[n] or [n, K]; of a row the same whatever stands beside it."""
        return scores(X, self.coefficients, self.intercepts)

    def answers(self, X: Any) -> Answers:
        """Numbers, or codes of classes with probabilities."""
        return self.answers_of(self.scores(X))

    def answers_of(self, z: np.ndarray) -> Answers:
        """The same from scores."""
        values, odds = from_scores(z, self.loss)
        if not self.classes:
            return Answers(values)
        if odds is not None and len(self.codes) < len(self.classes):
            whole = np.zeros((len(odds), len(self.classes)))
            whole[:, self.codes] = odds
            odds = whole
        return Answers(self.codes[values], odds)

    def to_bytes(self) -> bytes:
        """The arrays as an .npz."""
        known: dict[str, Any] = {
            "coefficients": self.coefficients,
            "intercepts": self.intercepts,
            "classes": self.codes,
            MEANS: self.means,
            DEVIATIONS: self.deviations,
            FEATURES: np.array(self.features) if self.features else None,
        }
        out = io.BytesIO()
        np.savez(out, **{name: each for name, each in known.items() if each is not None})
        return out.getvalue()


def classes_of(encoding: Encoding) -> tuple[str, ...]:
    """Names of the classes by code, none of a regression."""
    return encoding.target.classes if encoding.target else ()


def loss_of(job: Job, encoding: Encoding) -> str:
    """The loss that the job names, or that its target asks for."""
    if job.loss is not None:
        return job.loss
    classes = classes_of(encoding)
    return "squared" if not classes else "logistic" if len(classes) <= 2 else "multinomial"


def names_of(encoding: Encoding) -> tuple[str, ...]:
    """Of the features, where columns have names of their own; those of a matrix have none."""
    return tuple(encoding.feature_names) if has_names(encoding.columns) else ()


def read_linear_model(folder: Path, loss: str, encoding: Encoding) -> LinearModel:
    """The model in a folder, for rows as `encoding` gives them."""
    features, classes = len(encoding.feature_names), classes_of(encoding)
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
    means, deviations = (_measured(arrays, name, features, source) for name in (MEANS, DEVIATIONS))
    names = names_of(encoding)
    if FEATURES in arrays and not np.array_equal(arrays[FEATURES], np.array(names)):
        raise damaged(source, ValueError("its features are not those of encoding.json"))
    return LinearModel(w, b, codes, loss, classes, names, means, deviations)


def _measured(
    arrays: dict[str, np.ndarray], name: str, features: int, source: str
) -> np.ndarray | None:
    """A number of each feature, where the file has them."""
    found = arrays.get(name)
    if found is None:
        return None
    if found.shape != (features,) or found.dtype.kind != "f" or not np.isfinite(found).all():
        raise damaged(source, ValueError(f"{name} are no number for each of {features} features"))
    return found
