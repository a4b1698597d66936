"""The samples that count: one without weight has no say, and no corner to be placed by."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing


def counted(X: Any, y: np.ndarray, weights: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """Rows, targets and weights of the samples that have a weight; of all where none has."""
    seen = np.flatnonzero(weights)
    if 0 < seen.size < len(weights):
        return _safe_indexing(X, seen), y[seen], weights[seen]
    return X, y, weights
