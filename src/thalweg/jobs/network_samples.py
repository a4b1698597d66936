"""Rows of a table as a network takes them: dense float32 samples, in their shape, with labels.

vectors          float32[n, p]
images           float32[n, channels, height, width]
classes          int64[n]; float32[n, 1] of 0 and 1 for binary cross-entropy
numbers          float32[n, 1]
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
import torch

from thalweg.core.errors import InputError
from thalweg.jobs.rows import Rows
from thalweg.nets.training.batches import Pair
from thalweg.runs.network_input import input_shape, samples
from thalweg.tables.encoding import Encoding

MOST = 2e9  # bytes that sparse rows may grow to


def known(rows: Rows) -> Rows:
    """The held-out rows but those whose label is missing, or a class that no training row has."""
    kept = np.flatnonzero(rows.y >= 0 if rows.y.dtype.kind == "i" else np.isfinite(rows.y))
    if not len(kept):
        raise InputError(
            f"held-out rows must have labels as the training rows do, got none in {len(rows.y):,}: "
            "hold out others"
        )
    return rows if len(kept) == len(rows.y) else Rows(rows.X[kept], rows.y[kept])


def pair(rows: Rows, encoding: Encoding, loss: str) -> Pair:
    """Samples and labels of some rows."""
    n, p = rows.X.shape
    if scipy.sparse.issparse(rows.X) and 4.0 * n * p > MOST:
        raise InputError(
            f"a network takes dense rows, got {n:,} × {p:,} sparse ones, which would take "
            f"{4e-9 * n * p:.1f} GB: use a linear model, fewer rows, or fewer columns by --drop or "
            "--max-categories"
        )
    x = samples(rows.X).reshape(n, *input_shape(encoding))
    return x, _labels(rows.y, loss)


def _labels(y: np.ndarray, loss: str) -> torch.Tensor:
    if loss == "cross-entropy":
        return torch.from_numpy(y.astype(np.int64))
    return torch.from_numpy(y.astype(np.float32)[:, None])
