"""Encoded rows as a network takes them in: dense float32, in the shape of a sample.

A table has images as flat rows. `Shape`, the first layer of a network for images, takes both: it
trains on images, which augmentation needs, and answers for rows as the table has them. Of
[height, width] there is one channel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import nn

from thalweg.core.errors import InputError
from thalweg.core.finiteness import first_not_finite
from thalweg.tables.encoding import Encoding


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


def samples(X: Any) -> torch.Tensor:
    """Rows of numbers, dense or CSR, as float32 in memory that is shared where it can be."""
    dense = X.toarray() if scipy.sparse.issparse(X) else X
    with np.errstate(over="ignore"):
        array = np.require(dense, np.float32, ["C", "W"])
    if (bad := first_not_finite(array)) is not None:
        raise InputError(
            f"X must be finite in float32, which ends at 3.4e38, got a number beyond it in row "
            f"{bad[0]}: scale that column"
        )
    return torch.from_numpy(array)
