"""Rows of a table as a network takes them: dense float32 samples, in their shape, with labels.

    vectors          float32[n, p]
    images           float32[n, channels, height, width]; of [height, width] there is one channel
    classes          int64[n]; float32[n, 1] of 0 and 1 for binary cross-entropy
    numbers          float32[n, 1]

A table has images as flat rows. `Shape`, the first layer of a network for images, takes both: it
trains on images, which augmentation needs, and answers for rows as the table has them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import nn

from thalweg.core.errors import InputError
from thalweg.jobs.rows import Rows
from thalweg.tables.encoding import Encoding

MOST = 2e9  # bytes that sparse rows may grow to


class Shape(nn.Module):
    """[n, …] to [n, *shape], whatever the samples' shape was."""

    def __init__(self, shape: Sequence[int]) -> None:
        super().__init__()
        self.shape = tuple(shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The same numbers in another shape."""
        return x.reshape(len(x), *self.shape)

    def extra_repr(self) -> str:
        """How it prints."""
        return " × ".join(map(str, self.shape))


def input_shape(encoding: Encoding) -> tuple[int, ...]:
    """Of one sample."""
    shape = encoding.sample_shape
    if not shape:
        return (len(encoding.feature_names),)
    return (1, *shape) if len(shape) == 2 else tuple(shape)


def known(rows: Rows) -> Rows:
    """The held-out rows but those whose label is missing, or a class that no training row has."""
    kept = np.flatnonzero(rows.y >= 0 if rows.y.dtype.kind == "i" else np.isfinite(rows.y))
    if not len(kept):
        raise InputError(
            f"held-out rows must have labels as the training rows do, got none in {len(rows.y):,}: "
            "hold out others"
        )
    return rows if len(kept) == len(rows.y) else Rows(rows.X[kept], rows.y[kept])


def pair(rows: Rows, encoding: Encoding, loss: str) -> tuple[torch.Tensor, torch.Tensor]:
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


def samples(X: Any) -> torch.Tensor:
    """Rows of numbers, dense or CSR, as float32 in memory that is shared where it can be."""
    dense = X.toarray() if scipy.sparse.issparse(X) else X
    with np.errstate(over="ignore"):
        array = np.require(dense, np.float32, ["C", "W"])
    if not math.isfinite(float(array.sum(dtype=np.float64))):
        row = int(np.flatnonzero(~np.isfinite(array.reshape(len(array), -1)).all(1))[0])
        raise InputError(
            f"X must be finite in float32, which ends at 3.4e38, got a number beyond it in row "
            f"{row}: scale that column"
        )
    return torch.from_numpy(array)


def _labels(y: np.ndarray, loss: str) -> torch.Tensor:
    if loss == "cross-entropy":
        return torch.from_numpy(y.astype(np.int64))
    return torch.from_numpy(y.astype(np.float32)[:, None])
