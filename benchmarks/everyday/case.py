"""A case: data, a model by scikit-learn's name for it, and that model's own parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

MODELS = ("Ridge", "Lasso", "ElasticNet", "LogisticRegression", "LinearSVC")
CLASSIFIERS = ("LogisticRegression", "LinearSVC")


class Data(NamedTuple):
    """What goes into `fit`."""

    X: Any  # dense by rows or by columns, or CSR
    y: np.ndarray  # numbers, float[n] or float[n, targets]; or labels, integers or strings
    weights: np.ndarray | None = None  # of the samples, float[n]


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    name: str
    model: str  # one of MODELS
    params: Mapping[str, Any]
    make: Callable[[], Data]
    is_quick: bool = False  # part of the smoke test


def lay_out(X: np.ndarray, layout: str = "C", dtype: str = "float64") -> Any:
    """X by rows ("C"), by columns ("F") or as CSR ("csr"), in the type wanted."""
    if layout == "csr":
        return scipy.sparse.csr_matrix(X.astype(dtype))
    return np.array(X, dtype=dtype, order=layout)


def describe(X: Any) -> str:
    """Shape, and type and layout where they are not float64 by rows."""
    parts = [f"{X.shape[0]:,}×{X.shape[1]:,}"]
    if X.dtype != np.float64:
        parts.append({"float32": "f32"}.get(X.dtype.name, X.dtype.name))
    if scipy.sparse.issparse(X):
        parts.append("csr")
    elif not X.flags.c_contiguous:
        parts.append("F")
    return " ".join(parts)
